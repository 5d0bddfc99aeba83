"""Figures that sum up a list of numbers: middle, spread, shape and agreement."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from math import sqrt


def mean(values: Sequence[float]) -> float:
    """The sum over the count."""
    if not values:
        raise ValueError("the mean of no values is not defined")
    return sum(values) / len(values)


def median(values: Sequence[float]) -> float:
    """The middle value; with an even count, the mean of the two in the middle."""
    if not values:
        raise ValueError("the median of no values is not defined")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which the given share of the others lies, on straight lines between neighbours."""
    if not 0 <= share <= 1:
        raise ValueError(f"share must be from 0 to 1, got {share}")
    if not values:
        raise ValueError("a quantile of no values is not defined")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def variance(values: Sequence[float]) -> float:
    """The variance of the population that the values are a sample of (divided by n - 1)."""
    if len(values) < 2:
        raise ValueError(f"a variance needs at least 2 values, got {len(values)}")
    centre = mean(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - 1)


def modes(values: Sequence[Hashable]) -> list[Hashable]:
    """The most frequent values, in the order in which they first come up."""
    counts = Counter(values)
    highest = max(counts.values(), default=0)
    return [value for value, count in counts.items() if count == highest]


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's correlation of two lists of equal length, from -1.0 to 1.0."""
    left_mean, right_mean = mean(left), mean(right)
    together = left_square = right_square = 1.0
    for a, b in zip(left, right, strict=True):
        together += (a - left_mean) * (b - right_mean)
        left_square += (a - left_mean) ** 2
        right_square += (b - right_mean) ** 2
    return together / sqrt(left_square * right_square)


def histogram(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """How many values fall between each edge and the next; the last edge belongs to the last bin.

    Values outside the edges are not counted.
    """
    counts = [0] * (len(edges) - 1)
    for value in values:
        for place, (low, high) in enumerate(pairwise(edges)):
            at_the_end = place == len(counts) - 1 and value == high
            if low <= value < high or at_the_end:
                counts[place] += 1
    return counts
