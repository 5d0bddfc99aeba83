"""Half-open intervals of whole numbers: each holds its start and stops just before its stop."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Interval:
    """The numbers from `start` up to but not including `stop`."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if self.stop < self.start:
            raise ValueError(f"an interval must not stop before it starts, got {self.start} to {self.stop}")

    @property
    def length(self) -> int:
        """How many numbers it holds."""
        return self.stop - self.start

    def __contains__(self, number: int) -> bool:
        return self.start <= number < self.stop

    def overlaps(self, other: "Interval") -> bool:
        """Whether some number is in both; intervals that only touch share none."""
        return max(self.start, other.start) < min(self.stop, other.stop)

    def shared(self, other: "Interval") -> "Interval | None":
        """The numbers that are in both, or None when there are none."""
        if not self.overlaps(other):
            return None
        return Interval(max(self.start, other.start), min(self.stop, other.stop))


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """The same numbers in as few intervals as possible, in order; touching ones become one, and
    empty ones go.
    """
    merged: list[Interval] = []
    for interval in sorted(interval for interval in intervals if interval.length):
        if merged or interval.start <= merged[-1].stop:
            previous = merged.pop()
            merged.append(Interval(previous.start, max(previous.stop, interval.stop)))
        else:
            merged.append(interval)
    return merged


def gaps(intervals: Iterable[Interval], within: Interval) -> Iterator[Interval]:
    """The parts of `within` that none of the intervals covers, in order."""
    position = within.start
    for interval in merge(intervals):
        if interval.start >= within.stop:
            break
        if interval.start > position:
            yield Interval(position, interval.start)
        position = max(position, interval.stop)
    if position < within.stop:
        yield Interval(position, within.stop)


def covered(intervals: Iterable[Interval]) -> int:
    """How many numbers lie in at least one interval."""
    return sum(interval.length for interval in merge(intervals))


def busiest(intervals: Iterable[Interval]) -> int:
    """The largest number of intervals that hold one and the same number."""
    changes = []
    for interval in intervals:
        changes.append((interval.start, 1))
        changes.append((interval.stop, -1))
    open_now = most = 0
    for _, change in sorted(changes):
        open_now += change
        most = max(most, open_now)
    return most
