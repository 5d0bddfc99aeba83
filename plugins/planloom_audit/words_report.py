"""The word that reports: a writer groups and ranks what was confirmed; it can lose nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planlang import Call, Word
from planloom.kits import Prompt
from planloom.runtime import host_of
from planloom.tokens import estimate_text_tokens
from planloom.words import signature_of
from planloom.workers import Conversation, WorkerRequest

from .schemas import REPORT, SEVERITIES
from .words_find import findings_with_items
from .words_source import audit_run

__all__ = ["report_words"]

_CLAIM_LENGTH = 160
_TITLE_LENGTH = 160
_SUMMARY_LENGTH = 600


def report_words(prompt: Prompt, roles: tuple[str, ...]) -> list[Word]:
    """Return the word ``report``."""

    async def report(call: Call, confirmed: Any, model: str = "lead") -> dict[str, Any]:
        return await _report(call, prompt, confirmed, model)

    return [
        Word(
            "report",
            report,
            signature=signature_of(_report_shape),
            doc="a writer groups and ranks confirmed findings; {bugs, summary, left_out}, bugs being all of them",
            spends=True,
            suspends=True,
            choices={"model": roles},
            choice_nouns={"model": "model role"},
            aliases={"role": "model"},
        )
    ]


def _report_shape(confirmed: list, model: str = "lead") -> None: ...  # type: ignore[type-arg]  # as a plan may write it


async def _report(call: Call, prompt: Prompt, confirmed: Any, role: str) -> dict[str, Any]:
    read = findings_with_items(call, confirmed, "report")
    if not read:
        return {"bugs": [], "summary": "", "left_out": 0}
    rows_of = audit_run(call).rows
    bugs = [rows_of.given(finding) | _votes(item) for finding, item in read]
    rows = "\n".join(_row(number, bug) for number, bug in enumerate(bugs, start=1))
    request = WorkerRequest(
        word="report",
        identity=(prompt.digest, rows),
        role=role,
        label="report",
        build=lambda: Conversation(system=(prompt.text,), data=(rows,)),
        input_tokens=estimate_text_tokens(len(prompt.text) + len(rows)),
        schema=REPORT,
    )
    answer = await host_of(call).work(call, request)
    groups = answer["bugs"] if answer is not None else []
    left_out = _rank(bugs, groups)
    summary = str((answer or {}).get("summary") or "")[:_SUMMARY_LENGTH]
    return {"bugs": bugs, "summary": summary, "left_out": left_out}


def _votes(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        return {}
    return {key: raw[key] for key in ("votes", "answers", "decided") if key in raw}


def _row(number: int, bug: Mapping[str, Any]) -> str:
    claim = " ".join(str(bug["claim"]).split())[:_CLAIM_LENGTH]
    where = f"{bug['file']}:{bug['line']}"
    return f"C{number} | {where} | {bug['function'] or '-'} | {bug.get('votes', 0)} votes | {claim}"


def _rank(bugs: list[dict[str, Any]], groups: list[Any]) -> int:
    """Give each bug its group, severity and title; return how many the writer forgot. An id's first group holds."""
    for bug in bugs:
        bug |= {"severity": "unranked", "group": 0, "title": ""}
    number = 0
    for group in groups:
        ids = group.get("ids") if isinstance(group, Mapping) else None
        mine = [bugs[index] for index in _indexes(ids, len(bugs)) if not bugs[index]["group"]]
        if not mine:
            continue
        number += 1
        severity = str(group.get("severity", "")).lower()
        for bug in mine:
            bug["group"] = number
            bug["severity"] = severity if severity in SEVERITIES else "unranked"
            bug["title"] = " ".join(str(group.get("title") or "").split())[:_TITLE_LENGTH]
    forgotten = [bug for bug in bugs if not bug["group"]]
    for extra, bug in enumerate(forgotten, start=number + 1):
        bug["group"] = extra
    return len(forgotten)


def _indexes(ids: Any, count: int) -> list[int]:
    """Return the rows that ids like ``C3`` name; unknown ones are ignored."""
    if not isinstance(ids, list):
        return []
    digits = (str(item).strip().lstrip("Cc") for item in ids)
    numbers = (int(text) for text in digits if text.isascii() and text.isdigit() and len(text) < 7)
    return [number - 1 for number in dict.fromkeys(numbers) if 1 <= number <= count]
