"""Figures that are kept up to date while values come in, without keeping the values."""

from collections.abc import Iterable, Iterator
from math import inf, sqrt


class Running:
    """Count, mean, spread and extremes of the values seen so far (Welford, 1962)."""

    def __init__(self, values: Iterable[float] = ()) -> None:
        self.count = 0
        self.mean = 0.0
        self.lowest = inf
        self.highest = -inf
        self._squares = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Take one more value in."""
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self._squares += step * (value - self.mean)
        self.lowest = min(self.lowest, value)
        self.highest = max(self.highest, value)

    @property
    def deviation(self) -> float:
        """The standard deviation (divided by n - 1), 0.0 with fewer than two values."""
        if self.count < 2:
            return 0.0
        return sqrt(self._squares / (self.count - 1))


def running_total(values: Iterable[float]) -> Iterator[float]:
    """The sum so far, after each value."""
    total: float = 0
    for value in values:
        total += value
        yield total


def smoothed(values: Iterable[float], weight: float) -> Iterator[float]:
    """Each value drawn towards the past: `weight` is the share of the new value, from 0 to 1."""
    level: float | None = None
    for value in values:
        level = value if level is None else weight * value + (1 - weight) * level
        yield level


def longest_streak(values: Iterable[bool]) -> int:
    """The length of the longest unbroken run of true values."""
    best = current = 0
    for value in values:
        current = current + 1 if value else 0
        best = max(best, current)
    return best


def best_stretch(gains: Iterable[float]) -> float:
    """The largest sum of a stretch of neighbours, at least one of them (Kadane, 1984)."""
    best = -inf
    ending_here: float = 0
    for gain in gains:
        ending_here = max(ending_here + gain, gain)
        best = max(best, ending_here)
    return best


def largest_drop(prices: Iterable[float]) -> float:
    """How far a price fell at most from an earlier high; 0 when it never fell."""
    highest = -inf
    worst: float = 0
    for price in prices:
        highest = max(highest, price)
        worst = max(worst, highest - price)
    return worst


def crossings(values: Iterable[float], level: float) -> int:
    """How often neighbours lie on different sides of a level; a value on the level counts as above."""
    count = 0
    was_above: bool | None = None
    for value in values:
        above = value >= level
        if was_above is not None and above != was_above:
            count += 1
        was_above = above
    return count
