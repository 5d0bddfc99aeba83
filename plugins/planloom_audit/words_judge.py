"""Words that judge: skeptics check findings, votes are counted, the rest is reported."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planlang import Call, Word
from planloom.runtime import host_of
from planloom.tokens import estimate_text_tokens
from planloom.words import PlanMistake, signature_of
from planloom.workers import Conversation, WorkerRequest
from planloom_code import Finding

from .lenses import Skeptic
from .schemas import VERDICTS
from .words_find import findings_of
from .words_source import audit_run
from .work import AuditWork

__all__ = ["judge_words"]

MOST_IN_A_BLOCK = 8
_REASON_LENGTH = 200
_REPORT_NUMBER = re.compile(r"([0-9]{1,6})(?:\.0+)?")
# A numbered function of sixty lines at most.
_BLOCK_TOKENS = 600


def judge_words(skeptics: Mapping[str, Skeptic], roles: tuple[str, ...]) -> list[Word]:
    """Return the words ``check`` and ``vote``."""

    async def check(call: Call, batch: Any, sample: int = 0, model: str = "judge", skeptic: str = "doubter") -> Any:
        if skeptic not in skeptics:
            known = ", ".join(sorted(skeptics))
            raise ValueError(f"no skeptic is named `{skeptic}`; there are: {known}") from PlanMistake()
        findings = findings_of(call, batch, "check")
        host_of(call).if_task_fails(call, lambda: audit_run(call).verdicts_lost(findings))
        verdicts: list[dict[str, Any]] = []
        for start in range(0, len(findings), MOST_IN_A_BLOCK):
            part = findings[start : start + MOST_IN_A_BLOCK]
            verdicts += await _check(call, part, skeptics[skeptic], sample, model)
        return verdicts

    return [
        Word(
            "check",
            check,
            signature=signature_of(_check_shape),
            doc="a skeptic judges findings, at most 8 a worker; a verdict each: key, real (None if it failed), reason",
            spends=True,
            suspends=True,
            choices={"model": roles, "skeptic": tuple(sorted(skeptics))},
            choice_nouns={"model": "model role", "skeptic": "skeptic"},
            aliases={"role": "model"},
        ),
        Word(
            "vote",
            _vote,
            signature=signature_of(_vote_shape),
            doc="the findings that at least `need` skeptics called real, with votes, no, answers, asked",
        ),
    ]


def _check_shape(batch: list, sample: int = 0, model: str = "judge", skeptic: str = "doubter") -> None: ...  # type: ignore[type-arg]  # as a plan may write it


def _vote_shape(candidates: list, verdicts: list, need: int = 2) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


async def _check(call: Call, findings: list[Finding], skeptic: Skeptic, sample: int, role: str) -> list[dict[str, Any]]:
    run = audit_run(call)
    work = run.work

    def build() -> Conversation:
        with run.noting():
            return Conversation(system=(skeptic.prompt,), data=(_blocks(work, findings),))

    request = WorkerRequest(
        word="check",
        identity=(skeptic.name, skeptic.prompt, [[f.place.key, f.line, f.claim, f.failing_call] for f in findings]),
        role=role,
        label=f"check:{skeptic.name}:{findings[0].file}#{sample}",
        build=build,
        input_tokens=estimate_text_tokens(len(skeptic.prompt)) + _BLOCK_TOKENS * len(findings),
        schema=VERDICTS,
        sample=sample,
    )
    answer = await host_of(call).work(call, request)
    said = _verdicts_by_number(answer["verdicts"]) if answer is not None else {}
    missing = (None, "the skeptic failed" if answer is None else "the skeptic left this report out")
    rows = ((finding, said.get(number, missing)) for number, finding in enumerate(findings, start=1))
    return [{"key": finding.place.key, "real": real, "reason": reason} for finding, (real, reason) in rows]


def _blocks(work: AuditWork, findings: Sequence[Finding]) -> str:
    return "\n\n".join(_block(work, number, finding) for number, finding in enumerate(findings, start=1))


def _block(work: AuditWork, number: int, finding: Finding) -> str:
    code = work.tree.code_around(finding.file, finding.line) or "(no such file)"
    return "\n".join(
        (
            f"--- report {number} ---",
            f"file: {finding.file}",
            f"function: {finding.function or '(none)'}",
            f"line: {finding.line}",
            f"claim: {_one_line(finding.claim)}",
            f"failing call: {_one_line(finding.failing_call) or '(none given)'}",
            f"expected: {_one_line(finding.expected) or '(not given)'}",
            "code:",
            code.rstrip("\n"),
        )
    )


def _one_line(text: str) -> str:
    """A worker's words must not be able to begin a block of their own."""
    return " ".join(text.split())


def _verdicts_by_number(items: Sequence[Any]) -> dict[int, tuple[bool, str]]:
    said: dict[int, tuple[bool, str]] = {}
    for item in items:
        if not isinstance(item, Mapping):
            continue
        number, real = _number(item.get("report")), _truth(item.get("real"))
        if number is not None and real is not None:
            said.setdefault(number, (real, str(item.get("reason") or "")[:_REASON_LENGTH]))
    return said


def _number(value: Any) -> int | None:
    if type(value) is int:
        return value
    match = _REPORT_NUMBER.fullmatch(str(value).strip()) if isinstance(value, str | float) else None
    return int(match[1]) if match else None


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "yes": True, "false": False, "no": False}.get(str(value).strip().lower())


def _vote(call: Call, candidates: Any, verdicts: Any, need: int = 2) -> list[dict[str, Any]]:
    """Silence refutes nothing: where ``need`` could still have been reached, the candidate is undecided."""
    if type(need) is not int or need < 1:
        raise ValueError(f"vote() needs at least 1 skeptic, got need={need!r}")
    by_key: dict[str, list[bool | None]] = {}
    for verdict in _verdicts(verdicts):
        by_key.setdefault(str(verdict.get("key")), []).append(_truth(verdict.get("real")))
    run = audit_run(call)
    confirmed = []
    for finding in findings_of(call, candidates, "vote"):
        tally = _tally(by_key.get(finding.place.key, []), run.lost_verdicts[finding.place.key])
        data = run.rows.given(finding) | tally | {"decided": True}
        if tally["votes"] >= need:
            confirmed.append(data)
        elif not tally["asked"] or tally["asked"] - tally["no"] >= need:
            _leave_undecided(call, finding, data, need)
    return confirmed


def _tally(said: Sequence[bool | None], lost: int) -> dict[str, int]:
    """Return how many skeptics were asked, answered, said yes and no; ``lost`` are those whose task failed."""
    yes, no = said.count(True), said.count(False)
    return {"votes": yes, "no": no, "answers": yes + no, "asked": len(said) + lost}


def _verdicts(verdicts: Any) -> list[Mapping[str, Any]]:
    if not isinstance(verdicts, list | tuple):
        raise TypeError(f"vote() takes a list of verdicts, got {type(verdicts).__name__}")
    if any(isinstance(row, list) for row in verdicts):
        raise TypeError("vote() takes a list of verdicts, got a list of lists; flatten() it first")
    return [row for row in verdicts if isinstance(row, Mapping)]


def _leave_undecided(call: Call, finding: Finding, data: dict[str, Any], need: int) -> None:
    run, key = audit_run(call), finding.place.key
    reason = f"{data['votes']} of {need} needed skeptics said yes and {data['answers']} of {data['asked']} answered"
    if key not in run.undecided:
        host_of(call).left_undecided(call, key, reason, {"finding": key})
    run.undecided[key] = data | {"decided": False, "reason": reason}
