"""Pairs of bugs and lines: as many as there can be, each bug and each line in one pair at most.

Bugs are taken one after the other, the one with the nearest line first. Each takes its nearest line that is free, or
one whose bug can do with another line (H. W. Kuhn's augmenting paths). A bug that is in a pair stays in one, so those
that are left without are the ones with the farthest lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ._reports import Reported

__all__ = ["matched"]

_Line: TypeAlias = tuple[str, int]


def matched(reaches: Mapping[Reported, Mapping[str, int]], bugs: Sequence[str]) -> dict[str, Reported]:
    """The finding that counts for each bug that is found.

    :param reaches: for each finding the bugs in its reach, with their distances.
    :param bugs: all bugs, those first that go first where distances are equal.
    """
    candidates = _candidates(reaches)
    order = sorted((bug for bug in bugs if bug in candidates), key=lambda bug: candidates[bug][0][0])
    owners: dict[_Line, str] = {}
    for bug in order:
        _take(bug, candidates, owners, set())
    lines = {bug: line for line, bug in owners.items()}
    return {bug: _finding(lines[bug], candidates[bug]) for bug in order if bug in lines}


_Candidate: TypeAlias = tuple[int, int, str, float, Reported]


def _candidates(reaches: Mapping[Reported, Mapping[str, int]]) -> dict[str, list[_Candidate]]:
    """For each bug the findings in whose reach it is, the nearest first."""
    found: dict[str, list[_Candidate]] = {}
    for finding, distances in reaches.items():
        for bug, distance in distances.items():
            found.setdefault(bug, []).append(
                (distance, finding.line, finding.function or "", -finding.confidence, finding)
            )
    for rows in found.values():
        rows.sort(key=lambda row: (*row[:4], row[4].rule or ""))
    return found


def _take(
    bug: str, candidates: Mapping[str, Sequence[_Candidate]], owners: dict[_Line, str], tried: set[_Line]
) -> bool:
    for *_, finding in candidates[bug]:
        line = (finding.file, finding.line)
        if line in tried:
            continue
        tried.add(line)
        if line not in owners or _take(owners[line], candidates, owners, tried):
            owners[line] = bug
            return True
    return False


def _finding(line: _Line, rows: Sequence[_Candidate]) -> Reported:
    return next(row[4] for row in rows if (row[4].file, row[4].line) == line)
