"""Two reports on one key, bug by bug: whether what they found can be told apart.

The exact form of McNemar's test (1947): bugs that both found, or neither, say nothing of a difference; were the two
alike, each bug that one alone found would be either's with the same chance.
"""

from __future__ import annotations

from math import comb

import attrs

from ._tally import Tally

__all__ = ["Paired", "mcnemar", "paired"]

_SIGNIFICANT = 0.05


@attrs.frozen(kw_only=True)
class Paired:
    """How many bugs each of two reports found.

    :ivar p_value: the chance of a difference at least as large, were the two alike.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    p_value: float

    @property
    def told_apart(self) -> bool:
        """Whether the difference is more than luck, at 5 %."""
        return self.p_value <= _SIGNIFICANT

    def sentence(self, first: str, second: str) -> str:
        """The result in words; what it would have taken, where there is none."""
        bugs = self.both + self.first_only + self.second_only + self.neither
        counts = f"{self.first_only} found by {first} alone, {self.second_only} by {second} alone"
        test = f"exact McNemar test, p = {self.p_value:.2g}"
        if self.told_apart:
            better = first if self.first_only > self.second_only else second
            return f"{better} finds more of these {bugs} bugs: {counts} ({test})."
        return f"The two cannot be told apart on these {bugs} bugs: {counts} ({test}). {self._needed()}"

    def _needed(self) -> str:
        alone = self.first_only + self.second_only
        enough = next((count for count in range(alone + 1) if _tells(count, alone)), None)
        if enough is None:
            return "With fewer than 6 bugs that one alone found, no outcome could tell them apart."
        return f"Of {alone} bugs that one alone found, {enough} would have to be of the same one."


def paired(first: Tally, second: Tally) -> Paired:
    """Compare two tallies of one benchmark."""
    one, other = first.hits.keys(), second.hits.keys()
    return Paired(
        both=len(one & other),
        first_only=len(one - other),
        second_only=len(other - one),
        neither=first.bugs - len(one | other),
        p_value=mcnemar(len(one - other), len(other - one)),
    )


def mcnemar(first_only: int, second_only: int) -> float:
    """The two-sided p-value of the exact test: twice a binomial tail at one half, at most 1."""
    alone = first_only + second_only
    tail = sum(comb(alone, count) for count in range(min(first_only, second_only) + 1))
    return float(min(1.0, 2 * tail / 2**alone))


def _tells(count: int, alone: int) -> bool:
    return 2 * count > alone and mcnemar(count, alone - count) <= _SIGNIFICANT
