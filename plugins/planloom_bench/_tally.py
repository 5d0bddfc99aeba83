"""Counting: which bugs were found, and how many places were named in vain.

Findings and bugs are paired so that as many bugs as can be are found, each by a line of its own. Where not all can be,
the bug that a finding is nearest to goes first, then the one that comes first in the key. A further finding in reach of
a bug says again what was said, and counts neither for nor against; one out of reach of every bug is wrong, and wrong
findings count once a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from ._bench import Bench
from ._matching import matched
from ._reports import Reported
from .scorers import Scorer

__all__ = ["Reaches", "Tally", "reaches_of", "tally"]

Reaches = Mapping[Reported, Mapping[str, int]]


@attrs.frozen(kw_only=True)
class Tally:
    """What one rule makes of one report.

    :ivar hits: the findings that count, by the id of the bug that each found.
    :ivar wrong: the places named in vain, sorted.
    :ivar repeats: how many findings said again what another had said.
    :ivar bugs: how many bugs there are to find.
    """

    hits: Mapping[str, Reported]
    wrong: tuple[str, ...]
    repeats: int
    bugs: int

    @property
    def found(self) -> int:
        """How many bugs were found."""
        return len(self.hits)

    @property
    def recall(self) -> float:
        """The share of the bugs that were found."""
        return self.found / self.bugs

    @property
    def precision(self) -> float | None:
        """The share of the places named that hold a bug of the key: a lower bound. None when nothing was named."""
        named = self.found + len(self.wrong)
        return self.found / named if named else None


def tally(findings: Sequence[Reported], bench: Bench, scorer: Scorer, reaches: Reaches | None = None) -> Tally:
    """Count a report by one rule; the order of the findings makes no difference.

    :param reaches: what ``reaches_of`` gave for these findings, or for more.
    """
    known = reaches_of(findings, bench, scorer) if reaches is None else reaches
    near = {finding: known[finding] for finding in findings if known[finding]}
    hits = matched(near, [bug.id for bug in bench.key.entries])
    vain = [finding for finding in findings if not known[finding]]
    return Tally(
        hits=dict(sorted(hits.items())),
        wrong=tuple(sorted({_place(finding, bench) for finding in vain})),
        repeats=len(findings) - len(hits) - len(vain),
        bugs=len(bench.key),
    )


def reaches_of(findings: Iterable[Reported], bench: Bench, scorer: Scorer) -> Reaches:
    """The bugs that each finding may count for, with the distances."""
    return {finding: _in_reach(finding, bench, scorer) for finding in set(findings)}


def _in_reach(finding: Reported, bench: Bench, scorer: Scorer) -> Mapping[str, int]:
    file = bench.files.get(finding.file)
    if file is None:
        return {}
    distances = {bug.id: scorer.reach(finding, bug, file) for bug in bench.key.in_file(finding.file)}
    return {bug: distance for bug, distance in distances.items() if distance is not None}


def _place(finding: Reported, bench: Bench) -> str:
    file = bench.files.get(finding.file)
    return file.place_key(finding.line) if file else finding.file
