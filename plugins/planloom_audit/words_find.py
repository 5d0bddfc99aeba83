"""Words that find: scan a shard through a lens, and keep one finding a place."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planlang import Call, Word
from planloom.kits import Prompt
from planloom.runtime import host_of
from planloom.words import PlanMistake, signature_of
from planloom.workers import Conversation, WorkerRequest
from planloom_code import Finding, dedupe

from .lenses import Lens
from .schemas import FINDINGS
from .words_source import audit_run, names_of
from .work import AuditRun

__all__ = ["find_words", "findings_of", "findings_with_items"]

# Ten times what the most eager worker reports on a shard of 100,000 tokens.
_MOST_FINDINGS = 500

# A file is parsed when the first finding points into it, 4 ms for each 12 KB: a reply can point into twenty of them,
# and 32 replies can come in one turn of the event loop, which stood still for a second then.
_TURN_S = 0.005


def find_words(prompt: Prompt, lenses: Mapping[str, Lens], roles: tuple[str, ...], *, wide: bool = False) -> list[Word]:
    """Return the words ``scan``, ``dedupe`` and ``key_of``.

    :param wide: scans ask for the offline rules with more false alarms, as they do where the work says so.
    """

    async def scan(call: Call, shard: Any, lens: str = "general", sample: int = 0, model: str = "worker") -> Any:
        if lens not in lenses:
            raise ValueError(f"no lens is named `{lens}`; there are: {', '.join(sorted(lenses))}") from PlanMistake()
        return await _scan(call, prompt, lenses[lens], names_of(shard, "scan"), sample, model, wide=wide)

    return [
        Word(
            "scan",
            scan,
            signature=signature_of(_scan_shape),
            doc="a worker reads a shard through a lens; findings, a list of dicts with file, line, function, claim, "
            "failing_call, expected, confidence; None when it failed",
            spends=True,
            suspends=True,
            choices={"lens": tuple(sorted(lenses)), "model": roles},
            choice_nouns={"lens": "lens", "model": "model role"},
            aliases={"role": "model"},
        ),
        Word("dedupe", _dedupe, signature=signature_of(_findings_shape), doc="one finding a place, sorted by place"),
        Word("key_of", _key_of, signature=signature_of(_finding_shape), doc="a finding's place, as text"),
    ]


def _scan_shape(shard: list, lens: str = "general", sample: int = 0, model: str = "worker") -> None: ...  # type: ignore[type-arg]  # as a plan may write it


def _findings_shape(findings: list) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


def _finding_shape(finding: dict) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


async def _scan(call: Call, prompt: Prompt, lens: Lens, names: list[str], sample: int, role: str, *, wide: bool) -> Any:
    run = audit_run(call)
    work = run.work
    wide = wide or work.wide
    label = " ".join(f"scan:{lens.name}:{_folder(names)}#{sample}".split())

    def build() -> Conversation:
        with run.noting():
            return Conversation(system=(prompt.text, _instruction(lens, wide=wide)), data=(work.text(names),))

    request = WorkerRequest(
        word="scan",
        identity=(work.shard_digest(names), lens.name, lens.paragraph, prompt.digest, *(["wide"] if wide else [])),
        role=role,
        label=label,
        build=build,
        input_tokens=work.tokens(names) + len(prompt.text) // 4,
        schema=FINDINGS,
        sample=sample,
    )
    answer = await host_of(call).work(call, request)
    if answer is None:
        return None
    run.scanned(names, lens.name)
    items = _bounded(call, run, answer["findings"], label)
    findings = await _in_turns(call, run, items, label)
    run.report(findings)
    return findings


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    """Lists inside a reply's list are opened: some models group their findings by file."""
    for item in items:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


def _bounded(call: Call, run: AuditRun, items: Iterable[Any], source: str) -> list[Any]:
    """A worker that reports without end must not use up the memory that all of the plan shares."""
    flat = list(_flat(items))
    if len(flat) > _MOST_FINDINGS:
        _set_aside(call, run, source, f"{len(flat):,} findings in one reply; those after {_MOST_FINDINGS} are left out")
    return flat[:_MOST_FINDINGS]


async def _in_turns(call: Call, run: AuditRun, items: Iterable[Any], source: str) -> list[dict[str, Any]]:
    """Return rows of what is kept of a reply; one reply of the run is read at a time, a few milliseconds a turn."""
    from asyncio import sleep  # a plan that is only checked does without

    read = []
    async with run.reading:
        began_s = time.perf_counter()
        for item in items:
            found = _kept(call, run, item, source)
            if found is not None:
                read.append(run.rows.given(found))
            if time.perf_counter() - began_s > _TURN_S:
                await sleep(0)
                began_s = time.perf_counter()
    return read


def _set_aside(call: Call, run: AuditRun, source: str, reason: str) -> None:
    run.set_aside.append(f"{source}: {reason}")
    host_of(call).malformed(call, source, reason)


def _kept(call: Call, run: AuditRun, item: Any, source: str) -> Finding | None:
    read = run.finding(item, source)
    if isinstance(read, Finding):
        return read
    _set_aside(call, run, source, read.reason)
    return None


def _instruction(lens: Lens, *, wide: bool) -> str:
    """What points a worker; the offline analyst reads the line about rules, which no model is ever sent."""
    return "\n".join(filter(None, (f"Lens: {lens.name}", "Rules: wide" if wide else "", lens.paragraph)))


def _folder(names: list[str]) -> str:
    first, slash, _ = names[0].partition("/") if names else ("", "", "")
    return first if slash else "."


def findings_of(call: Call, items: Any, word: str) -> list[Finding]:
    """Return the findings that a plan hands to a word; what is none is set aside with an event.

    :raises TypeError: it is not a list.
    """
    return [finding for finding, _ in findings_with_items(call, items, word)]


def findings_with_items(call: Call, items: Any, word: str) -> list[tuple[Finding, Any]]:
    """Return the findings as :func:`findings_of` does, each with the plan's own item."""
    if isinstance(items, Mapping):
        items = [items]
    if not isinstance(items, list | tuple):
        raise TypeError(f"{word}() takes a list of findings, got {type(items).__name__}; a failed worker gives None")
    if any(isinstance(item, list) for item in items):
        raise TypeError(f"{word}() takes a list of findings, got a list of lists; flatten() it first")
    run = audit_run(call)
    known = run.rows.found
    return [(found, item) for item in items if (found := known(item) or _kept(call, run, item, word)) is not None]


def _dedupe(call: Call, findings: Any) -> list[dict[str, Any]]:
    rows = audit_run(call).rows
    return [rows.given(finding) for finding in dedupe(findings_of(call, findings, "dedupe"))]


def _key_of(call: Call, finding: Any) -> str:
    found = findings_of(call, finding, "key_of")
    if not found:
        raise ValueError("key_of() takes a finding as scan() gives it")
    return found[0].place.key
