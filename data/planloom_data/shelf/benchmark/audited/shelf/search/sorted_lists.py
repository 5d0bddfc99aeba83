"""Questions to sorted lists, answered by halving: where, how many, nearest."""

from collections.abc import Callable, Sequence
from itertools import pairwise


def first_at_least(values: Sequence[float], wanted: float) -> int:
    """The place of the first value that is not below `wanted`; the length when there is none."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def first_above(values: Sequence[float], wanted: float) -> int:
    """The place of the first value that is larger than `wanted`; the length when there is none."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if wanted < values[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def find(values: Sequence[float], wanted: float) -> int | None:
    """The place of the first value that equals `wanted`, or None."""
    place = first_at_least(values, wanted)
    if place == len(values) or values[place] == wanted:
        return None
    return place


def count_between(values: Sequence[float], low: float, high: float) -> int:
    """How many values lie from `low` to `high`, both included."""
    return first_above(values, high) - first_at_least(values, low)


def nearest(values: Sequence[float], wanted: float) -> float:
    """The value closest to `wanted`; of two equally close ones, the smaller."""
    if not values:
        raise ValueError("the nearest of no values is not defined")
    place = first_at_least(values, wanted)
    around = values[max(place - 1, 0) : place + 1]
    return min(around, key=lambda value: (abs(value - wanted), value))


def smallest_true(test: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number in ``low..high`` that passes a test which, once passed, all larger numbers pass.

    The answer is `high` when no smaller number passes; `high` itself is never tried.
    """
    while low < high:
        middle = (low + high) // 2
        if test(middle):
            high = middle
        else:
            low = middle + 1
    return low


def is_sorted(values: Sequence[float], *, strictly: bool = False) -> bool:
    """Whether no value is below the one before it; strictly: whether each is above it."""
    neighbours = pairwise(values)
    if strictly:
        return all(earlier < later for earlier, later in neighbours)
    return all(earlier <= later for earlier, later in neighbours)
