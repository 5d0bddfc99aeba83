"""Second looks at reports, with no model: does the rule still hold on the code that the skeptic is shown?

What "real" means here, honestly. A rule is a fixed function of the code, so a second look brings no second opinion:
three skeptics with three sample numbers say the same, and each says so. What a look can do is refuse: a report
whose rule does not fire on the code shown (the code changed, the place was wrong, too little of it was shown to
read), whose rule was no better than chance when it was measured, or that no rule supports. So a report is real when

- its claim names a rule, the rule fires again at its line, and measurement did not find it at or below chance; or
- its claim names no rule (a model wrote it) and some rule fires within five lines of its place.

Everything else is false, as the prompt asks of a skeptic who is unsure. Real means no more than that: the reason says
how many reports of the rule were planted bugs when it was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planloom.data_classes import frozen

from ._analysis import hits_of
from ._numbered import Piece, read_lines
from .parsed import ParsedFile, parse_pieces
from .rules import Rule

_HEADING = re.compile(r"^--- report (\d{1,9}) ---[ \t\r]*$", re.MULTILINE)
_FIELD = re.compile(r"(file|line|claim): ?(.*)")
_RULE = re.compile(r"\[([a-z0-9-]+)\] ")

CHANCE = 1 / 28
"""How often a random line of code lay at a planted bug where the rules were measured."""
ENOUGH_REPORTS = 20
"""From here on a share of right reports is held against a rule; fewer may be bad luck."""
NEAR_LINES = 5
"""The distance at which a report counts as right."""
REASON_CHARS = 200


@frozen(kw_only=True)
class Report:
    """One block of a skeptic's message: what was reported, and the code shown with it."""

    number: int
    file: str
    line: int
    claim: str
    pieces: tuple[Piece, ...]


def verdicts(text: str, rules: Sequence[Rule]) -> dict[str, Any]:
    """Return one verdict a report block, in order."""
    by_name = {rule.name: rule for rule in rules}
    return {"verdicts": [_verdict(report, by_name) for report in read_reports(text)]}


def read_reports(text: str) -> Iterator[Report]:
    """Return the report blocks of a skeptic's message; fields that are missing are empty."""
    parts = _HEADING.split(text)
    for number, block in zip(parts[1::2], parts[2::2], strict=True):
        head, _, code = block.partition("\ncode:")
        matches = (_FIELD.fullmatch(line.strip()) for line in head.split("\n"))
        fields = {match[1]: match[2] for match in matches if match is not None}
        line = re.match(r"\d{1,9}", fields.get("line", ""))
        yield Report(
            number=int(number),
            file=fields.get("file", ""),
            line=int(line[0]) if line else 0,
            claim=fields.get("claim", ""),
            pieces=tuple(read_lines(fields.get("file", ""), code.split("\n"))),
        )


def _verdict(report: Report, rules: Mapping[str, Rule]) -> dict[str, Any]:
    real, reason = _judge(report, rules)
    return {"report": report.number, "real": real, "reason": reason[:REASON_CHARS]}


def _judge(report: Report, rules: Mapping[str, Rule]) -> tuple[bool, str]:
    file = _readable(report)
    if file is None:
        return False, "the code shown cannot be read as Python by itself, so no offline rule can confirm it"
    named = _RULE.match(report.claim)
    rule = rules.get(named[1]) if named else None
    if rule is None:
        return _by_agreement(report, file, rules)
    if rule.reports >= ENOUGH_REPORTS and rule.bugs / rule.reports <= CHANCE:
        return False, f"{rule.record}, no better than chance"
    if not _holds(rule, report, file):
        return False, f"offline rule {rule.name} does not fire on the code shown"
    return True, f"fires again on the code shown, whatever the sample; {rule.record}"


def _holds(rule: Rule, report: Report, file: ParsedFile) -> bool:
    if rule.confirm is not None:
        return rule.confirm(file, _RULE.sub("", report.claim, count=1), report.line)
    return any(file.first_line + hit.line - 1 == report.line for hit in hits_of(rule, file))


def _by_agreement(report: Report, file: ParsedFile, rules: Mapping[str, Rule]) -> tuple[bool, str]:
    for rule in (rule for rule in rules.values() if rule.slow is None):
        for hit in hits_of(rule, file):
            line = file.first_line + hit.line - 1
            if abs(line - report.line) <= NEAR_LINES:
                return True, f"an offline rule fires at line {line} too; {rule.record}"
    return False, "no offline rule fires within five lines of it on the code shown"


def _readable(report: Report) -> ParsedFile | None:
    """Parse the code shown, or the largest block around the reported line that parses by itself."""
    for piece in report.pieces:
        last = piece.first_line + len(piece.lines) - 1
        if len(report.pieces) > 1 and not piece.first_line <= report.line <= last:
            continue
        for part in (piece, *_blocks(piece, report.line)):
            files = parse_pieces([part]).files
            if files:
                return files[0]
    return None


def _blocks(piece: Piece, line: int) -> Iterator[Piece]:
    """The blocks of a cut-out that hold a line: from each line above as far as the indentation goes, then less."""
    at = line - piece.first_line
    for start in range(max(0, at - 30), min(at, len(piece.lines) - 1) + 1):
        lines = piece.lines[start:]
        if not lines[0].strip():
            continue
        depth = _indentation(lines[0])
        end = next((i for i, text in enumerate(lines) if text.strip() and _indentation(text) < depth), len(lines))
        for stop in range(end, max(at - start, end - 7), -1):
            yield Piece(path=piece.path, first_line=piece.first_line + start, lines=lines[:stop])


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())
