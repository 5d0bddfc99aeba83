"""What a SARIF run says about itself: its basis, its coverage, and everything that it could not look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from planloom.wording import counted
from planloom_audit.report import AuditReport, Bug, Unread

from . import _sentences
from ._uris import uri_of

__all__ = ["MOST_FILES_NAMED", "NOTICE_KINDS", "notices"]

MOST_FILES_NAMED = 1_000
"""Notices of one kind; the rest is counted, and named in findings.json."""

_KINDS = {
    "basis": "Who looked at the code.",
    "coverage": "How much of the code was seen.",
    "cost": "What the run cost.",
    "incomplete": "Something the run should have done is missing.",
    "results-cut": "More was found than one SARIF run may hold.",
    "undecided": "A report that too few skeptics answered to decide.",
    "unseen-file": "A file that no scan that answered has seen.",
    "skipped-file": "A file that was not read.",
    "unparsable-file": "A file that was read as text because it does not parse.",
}
NOTICE_KINDS = [{"id": kind, "shortDescription": {"text": text}} for kind, text in _KINDS.items()]
_POSITIONS = {kind: index for index, kind in enumerate(_KINDS)}


def notices(report: AuditReport, left_out: int) -> list[dict[str, Any]]:
    """The run's notifications; ``left_out`` results did not fit."""
    said = [
        _notice("basis", "note", _sentences.basis(report)),
        _notice("coverage", "note", _sentences.coverage(report)),
        _notice("cost", "note", _sentences.cost(report.cost)),
    ]
    said += [_notice("incomplete", "warning", text) for text in _sentences.caveats(report)]
    if left_out:
        text = f"{counted(left_out, 'finding')}, the least severe, did not fit; they are in findings.json."
        said.append(_notice("results-cut", "warning", text))
    return [*said, *_about_files(report)]


def _about_files(report: AuditReport) -> Iterator[dict[str, Any]]:
    unseen = (Unread(path, "No scan that answered has seen this file.") for path in report.coverage.unseen)
    yield from _named(report, "unseen-file", list(unseen))
    yield from _named(report, "skipped-file", report.skipped)
    yield from _named(report, "unparsable-file", report.unparsable)
    yield from _named(report, "undecided", [_as_unread(bug) for bug in report.undecided])


def _as_unread(bug: Bug) -> Unread:
    return Unread(
        bug.file, f"Undecided at {_sentences.place(bug)}: {bug.claim} ({bug.reason or _sentences.votes(bug)})"
    )


def _named(report: AuditReport, kind: str, files: Iterable[Unread]) -> Iterator[dict[str, Any]]:
    files = list(files)
    for file in files[:MOST_FILES_NAMED]:
        where = {"uri": uri_of(file.path, below=report.below), "uriBaseId": "%SRCROOT%"}
        notice = _notice(kind, "warning", file.reason or _KINDS[kind])
        yield notice | {"locations": [{"physicalLocation": {"artifactLocation": where}}]}
    if len(files) > MOST_FILES_NAMED:
        rest = counted(len(files) - MOST_FILES_NAMED, "more notice")
        yield _notice(kind, "warning", f"{rest} of this kind; findings.json names them all.")


def _notice(kind: str, level: str, text: str) -> dict[str, Any]:
    return {"descriptor": {"id": kind, "index": _POSITIONS[kind]}, "level": level, "message": {"text": text}}
