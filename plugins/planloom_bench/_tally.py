"""Counting: which bugs were found, and how many places were named in vain.

Pairs of a finding and a bug in its reach are taken nearest first, each finding and each bug once. A further finding in
reach of a bug says again what was said, and counts neither for nor against; one out of reach of every bug is wrong, and
wrong findings count once a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from ._bench import Bench
from ._reports import Reported
from .scorers import Scorer


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


def tally(findings: Sequence[Reported], bench: Bench, scorer: Scorer) -> Tally:
    """Count a report by one rule; the order of the findings makes no difference."""
    distinct = sorted(set(findings), key=lambda f: (f.file, f.line, f.function or "", -f.confidence))
    reaches = {finding: _in_reach(finding, bench, scorer) for finding in distinct}
    pairs = sorted(
        (distance, bug, finding.line, at)
        for at, finding in enumerate(distinct)
        for bug, distance in reaches[finding].items()
    )
    hits: dict[str, Reported] = {}
    for _, bug, _, at in pairs:
        if bug not in hits and not _says_again(distinct[at], hits.values()):
            hits[bug] = distinct[at]
    wrong = {_place(finding, bench) for finding in distinct if not reaches[finding]}
    vain = sum(1 for finding in findings if not reaches[finding])
    return Tally(
        hits=dict(sorted(hits.items())),
        wrong=tuple(sorted(wrong)),
        repeats=len(findings) - len(hits) - vain,
        bugs=len(bench.key),
    )


def _says_again(finding: Reported, counted: Iterable[Reported]) -> bool:
    """Whether a finding that counts already names the same line."""
    return any(other.file == finding.file and other.line == finding.line for other in counted)


def _in_reach(finding: Reported, bench: Bench, scorer: Scorer) -> dict[str, int]:
    """The bugs that the finding may count for, with their distances."""
    file = bench.files.get(finding.file)
    if file is None:
        return {}
    distances = {bug.id: scorer.reach(finding, bug, file) for bug in bench.key.in_file(finding.file)}
    return {bug: distance for bug, distance in distances.items() if distance is not None}


def _place(finding: Reported, bench: Bench) -> str:
    file = bench.files.get(finding.file)
    return file.place_key(finding.line) if file else finding.file
