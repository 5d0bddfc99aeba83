"""What workers report, made uniform: one finding from each item that can be one, a reason for each other.

A worker's reply is a guess about code it saw. The path must be a file of the tree, the line must exist, and the
function is taken from the code, because models often name the wrong one. Nothing here raises: a malformed item
is a value, so that the others of a reply are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from planloom.data_classes import frozen
from planloom_code._errors import FileChanged
from planloom_code._places import Place
from planloom_code._quotes import line_of_quote
from planloom_code._reading import confidence_in, range_in, text_in

if TYPE_CHECKING:
    from planloom_code._tree import SourceTree

_CLAIM_CHARACTERS = 400
_CALL_CHARACTERS = 400
_EXPECTED_CHARACTERS = 200
_FUNCTION_CHARACTERS = 200


@frozen(kw_only=True)
class Finding:
    """One reported bug at one place; ``function`` is the code's where the line is in one, else what was said.

    ``sources`` are the labels of all workers behind it, ``source`` the one whose words these are.
    ``moved_from`` is the line the worker gave when the code it quotes stands on another line nearby.
    """

    file: str
    line: int
    function: str | None
    claim: str
    failing_call: str = ""
    expected: str = ""
    confidence: float = 0.5
    source: str = ""
    end_line: int | None = None
    moved_from: int | None = None
    place: Place
    sources: tuple[str, ...] = attrs.field()

    @sources.default
    def _one_source(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def reports(self) -> int:
        """How many workers reported it; those without a label count one each."""
        return len(self.sources)


@frozen
class Malformed:
    """An item that is no finding: the reason, and the path as it was spelt when it had one."""

    reason: str
    file: str = ""


def normalise(raw: object, tree: SourceTree, source: str = "") -> Finding | Malformed:
    """The finding that one item of a reply means, or why it means none; ``source`` labels the worker."""
    if not isinstance(raw, Mapping):
        return Malformed(f"the item is {_kind(raw)}, not an object")
    spelling = next((raw[key] for key in ("file", "path", "filename") if raw.get(key)), None)
    if not isinstance(spelling, str):
        return Malformed("the item names no file" if spelling is None else f"file is {_kind(spelling)}")
    shown = text_in(spelling, 200)
    path = tree.resolve(spelling)
    if path is None:
        return Malformed(f"{shown!r} is no file of the tree, or not of one only", shown)
    claim = raw.get("claim")
    if not isinstance(claim, str) or not text_in(claim, _CLAIM_CHARACTERS):
        return Malformed("the item makes no claim", shown)
    lines = range_in(raw.get("line"), raw.get("end_line"))
    if isinstance(lines, str):
        return Malformed(lines, shown)
    file_lines = tree.info(path).lines
    if lines[0] > file_lines:
        return Malformed(f"line {lines[0]} is beyond the {file_lines} lines of {path}", shown)
    try:
        return _finding(raw, tree, path, lines, source)
    except FileChanged as error:
        return Malformed(str(error), shown)


def normalise_all(raw: object, tree: SourceTree, source: str = "") -> tuple[tuple[Finding, ...], tuple[Malformed, ...]]:
    """The findings of a list of items, lists inside it opened, and the items set aside with their reasons."""
    findings: list[Finding] = []
    aside: list[Malformed] = []
    waiting = [raw]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list | tuple):
            waiting += reversed(item)
            continue
        read = normalise(item, tree, source)
        if isinstance(read, Finding):
            findings.append(read)
        else:
            aside.append(read)
    return tuple(findings), tuple(aside)


def key_of(finding: Finding) -> str:
    """The finding's place as one text; findings with equal keys are one finding."""
    return finding.place.key


def dedupe(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding a place, sorted by place: the most confident, with every worker behind it counted.

    Ties go to the smaller line, then claim, failing call and source, so that the order of arrival is nothing.
    """
    groups: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.place.key].append(finding)
    kept = []
    for key, group in groups.items():
        best = group[0] if len(group) == 1 and len(group[0].sources) == 1 else _merged(group)
        # Keys differ, so that no two findings are ever compared by the sort.
        kept.append((best.file, best.place.block or best.line, key, best))
    kept.sort()
    return tuple([row[3] for row in kept])


def _merged(group: Sequence[Finding]) -> Finding:
    best = group[0]
    for other in group:
        if other.confidence > best.confidence or (other.confidence == best.confidence and _rank(other) < _rank(best)):
            best = other
    workers = _workers(group)
    return best if workers == best.sources else _with_sources(best, workers)


def _rank(finding: Finding) -> tuple[object, ...]:
    words = (finding.claim, finding.failing_call, finding.source)
    # Beyond the rule, so that findings which differ only here are kept alike in every run.
    rest = (finding.expected, finding.function or "", finding.end_line or 0, finding.moved_from or 0)
    return (finding.line, *words, *rest)


def _workers(group: Sequence[Finding]) -> tuple[str, ...]:
    labels = [label for finding in group for label in finding.sources]
    return tuple(sorted({label for label in labels if label})) + ("",) * labels.count("")


def _with_sources(finding: Finding, sources: tuple[str, ...]) -> Finding:
    """Return what ``attrs.evolve`` does, in half its time: a large audit merges thousands at once."""
    return Finding(
        file=finding.file,
        line=finding.line,
        function=finding.function,
        claim=finding.claim,
        failing_call=finding.failing_call,
        expected=finding.expected,
        confidence=finding.confidence,
        source=finding.source,
        end_line=finding.end_line,
        moved_from=finding.moved_from,
        place=finding.place,
        sources=sources,
    )


def _finding(
    raw: Mapping[object, object], tree: SourceTree, path: str, lines: tuple[int, int | None], source: str
) -> Finding:
    claim = text_in(raw["claim"], _CLAIM_CHARACTERS)
    text = tree.source(path).lines
    line = line_of_quote(text, lines[0], lines[1], claim)
    place = tree.place_of(path, line)
    end_line = None if lines[1] is None or line != lines[0] else min(lines[1], len(text))
    return Finding(
        file=path,
        line=line,
        function=place.function or text_in(raw.get("function"), _FUNCTION_CHARACTERS) or None,
        claim=claim,
        failing_call=text_in(raw.get("failing_call"), _CALL_CHARACTERS),
        expected=text_in(raw.get("expected"), _EXPECTED_CHARACTERS),
        confidence=confidence_in(raw.get("confidence")),
        source=source,
        end_line=end_line if end_line != line else None,
        moved_from=None if line == lines[0] else lines[0],
        place=place,
    )


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value), "an object" if isinstance(value, Mapping) else "a list")
