"""What luck would score: as many lines as were reported, drawn at random from the code of the same files.

Exact, by counting: of ``lines`` places to point at, ``drawn`` are drawn without putting back, and a bug is found when
one of the lines that count for it is among them. Precision is the ratio of the expected numbers.
"""

from __future__ import annotations

from collections import Counter

import attrs

from ._bench import AuditedFile, Bench
from ._key import KeyEntry
from ._reports import Reported
from .scorers import Scorer


@attrs.frozen(kw_only=True)
class Chance:
    """What random lines would score on average.

    :ivar drawn: how many lines are drawn: as many as were reported, at most all there are.
    :ivar lines: how many lines of code there are to draw from.
    :ivar precision: None when nothing is drawn.
    """

    drawn: int
    lines: int
    recall: float
    precision: float | None


def chance_line(reported: int, bench: Bench, scorer: Scorer) -> Chance:
    """The expected score of ``reported`` random lines."""
    bug_lines: Counter[str] = Counter()
    vain_lines: Counter[str] = Counter()
    for file in bench.files.values():
        bugs = bench.key.in_file(file.path)
        for line in file.code_lines:
            bug = _nearest(line, file, bugs, scorer)
            if bug is None:
                vain_lines[file.place_key(line)] += 1
            else:
                bug_lines[bug] += 1
    lines = bug_lines.total() + vain_lines.total()
    drawn = min(reported, lines)
    found = sum(_hit(count, drawn, lines) for count in bug_lines.values())
    vain = sum(_hit(count, drawn, lines) for count in vain_lines.values())
    precision = found / (found + vain) if drawn else None
    return Chance(drawn=drawn, lines=lines, recall=found / len(bench.key), precision=precision)


def _nearest(line: int, file: AuditedFile, bugs: tuple[KeyEntry, ...], scorer: Scorer) -> str | None:
    """The bug that a finding on the line would count for."""
    finding = Reported(file.path, line)
    reach = [(distance, bug.id) for bug in bugs if (distance := scorer.reach(finding, bug, file)) is not None]
    return min(reach)[1] if reach else None


def _hit(count: int, drawn: int, lines: int) -> float:
    """The chance that of ``drawn`` out of ``lines`` at least one is among ``count`` (hypergeometric)."""
    missed = 1.0
    for taken in range(count):
        missed *= max(lines - drawn - taken, 0) / (lines - taken)
    return 1 - missed
