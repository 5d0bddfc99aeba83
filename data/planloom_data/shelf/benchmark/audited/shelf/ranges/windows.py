"""Cutting sequences into pieces: chunks, sliding windows, pages and runs."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in pieces of `size`; the last piece holds what is left."""
    if size < 1:
        raise ValueError(f"a chunk must hold at least 1 item, got {size}")
    return [items[start : start + size] for start in range(0, len(items), size)]


def sliding(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Every run of `size` neighbours, from the first to the last; none when there are too few items."""
    return [items[start : start + size] for start in range(len(items) - size + 1)]


def in_parts(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """The items in `count` pieces whose sizes differ by at most one, the larger ones first."""
    size, larger = divmod(len(items), count)
    parts = []
    start = 0
    for number in range(count):
        stop = start + size + (1 if number < larger else 0)
        parts.append(items[start:stop])
        start = stop
    return parts


def page(items: Sequence[T], number: int, size: int) -> Sequence[T]:
    """The items on a page; pages count from 1, and a page past the end is empty."""
    first = (number - 1) * size
    return items[first : first + size]


def runs(items: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[list[T]]:
    """Neighbours that share a key, together."""
    run: list[T] = []
    for item in items:
        if run and key(run[-1]) != key(item):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def moving_average(values: Sequence[float], size: int) -> list[float]:
    """The mean of every run of `size` neighbours."""
    return [sum(window) / size for window in sliding(values, size)]


def differences(values: Sequence[float]) -> list[float]:
    """How much each value is above the one before it."""
    return [later - earlier for earlier, later in pairwise(values)]


def interleave(*sequences: Sequence[T]) -> list[T]:
    """The first items of all, then the second ones, and so on; shorter sequences drop out."""
    longest = min((len(sequence) for sequence in sequences), default=0)
    return [sequence[place] for place in range(longest) for sequence in sequences if place < len(sequence)]
