"""What a run has used and may still use.

Steps are handed out in slices through one two-item list that every closure captures: ``slice[0]`` counts down and
whoever takes it below zero calls :meth:`Meter.refill`, which looks at the clock. So a step costs one subtraction and
the clock is read once in ten thousand. ``slice[1]`` becomes true when the program has held the event loop for
longer than :data:`YIELD_AFTER_S`; code that may wait looks at it and yields. The clock is the thread's own: a plan
must not fail because other programs kept the machine busy.

Whether the loop has had its turn since is told by the loop itself: a callback is scheduled when a stretch of
computing is first seen, and when it has run the stretch is over.
"""

from __future__ import annotations

import asyncio
from math import ceil
from time import thread_time
from typing import Any, Final

from planlang._errors import PlanError
from planlang._limits import Limits

__all__ = ["COPIED_DICT_BYTES", "SLICE_STEPS", "YIELD_AFTER_S", "LimitHitError", "Meter"]

SLICE_STEPS: Final = 10_000
YIELD_AFTER_S: Final = 0.05
_SLOWEST_STEP_S: Final = 5e-6
_SMALL: Final = (1 << 30) - 1

# What values cost in bytes, measured with tracemalloc on CPython 3.11: over-allocation and boxes included.
LIST_BYTES: Final = 88
LIST_ITEM_BYTES: Final = 48
TUPLE_BYTES: Final = 56
TUPLE_ITEM_BYTES: Final = 40
DICT_BYTES: Final = 250
DICT_ENTRY_BYTES: Final = 200
COPIED_BOX_BYTES: Final = 48
TEXT_BYTES: Final = 50
FUNCTION_BYTES: Final = 420
CAPTURE_BYTES: Final = 72
ITERATOR_BYTES: Final = 600


def _copied_dict(count: int) -> int:
    """Return what a dict of so many entries takes when it is copied: its hash table is made at once, in its size."""
    slots = 1 << max(4, ((3 * count + 1) // 2).bit_length())
    return 100 + 18 * slots


# By entries: enough for a table of keys of all kinds, which one of texts fills to two thirds (3.11 to 3.13). Tables of
# more slots have wider indices: larger dicts are charged as ones that grow.
COPIED_DICT_BYTES: Final = tuple(_copied_dict(count) for count in range(171))


class LimitHitError(Exception):
    """A limit was hit; whoever knows the place turns it into a :class:`planlang.PlanLimitError`."""

    def __init__(self, limit: str, value: float, allowed: float) -> None:
        super().__init__(limit)
        self.limit, self.value, self.allowed = limit, value, allowed


class Meter:
    """Counts one run; changed by every part of the interpreter that works for the run."""

    def __init__(self, limits: Limits, loop: asyncio.AbstractEventLoop) -> None:
        self.limits = limits
        self.slice: list[Any] = [min(SLICE_STEPS, limits.steps), False]
        self.handed_out = self.slice[0]
        self.bytes = [limits.memory_bytes]
        self.calls = [limits.host_calls]
        self.key_width = 0
        self._most_passing = 0
        self._most_copied = min(len(COPIED_DICT_BYTES) - 1, limits.collection_length)
        self.bytes_to_host = 0
        self.bytes_from_host = 0
        self.stopped: PlanError | None = None
        self.high = 2 ** (limits.integer_bits - 1) - 1
        self.low = -self.high - 1
        # CPython compares such small numbers in half the time, and nearly all are: they are tried first.
        self.few, self.many = max(self.low, -_SMALL), min(self.high, _SMALL)
        self._loop = loop
        self._started_at, self._started_steps = thread_time(), 0
        self._watching = False
        self._watch()

    @property
    def steps(self) -> int:
        """Steps used so far."""
        return int(self.handed_out - self.slice[0])

    @property
    def peak_memory(self) -> int:
        """Bytes allocated so far, an upper bound of what is live."""
        return self.limits.memory_bytes - self.bytes[0]

    def work(self, steps: int) -> None:
        """Charge steps before the work they stand for."""
        left = self.slice[0] = self.slice[0] - steps
        if left < 0:
            self.refill()

    def store(self, size_bytes: int) -> None:
        """Charge memory before it is allocated."""
        left = self.bytes[0] = self.bytes[0] - size_bytes
        if left < 0:
            raise self.memory_error()

    def charge(self, steps: int, size_bytes: int) -> None:
        """Charge steps and memory in one call."""
        left = self.slice[0] = self.slice[0] - steps
        if left < 0:
            self.refill()
        left = self.bytes[0] = self.bytes[0] - size_bytes
        if left < 0:
            raise self.memory_error()

    def passing(self, size_bytes: int) -> None:
        """Charge what is freed again before any other call of this: only what exceeds the most so far."""
        more = size_bytes - self._most_passing
        if more > 0:
            self._most_passing = size_bytes
            self.store(more)

    def memory_error(self) -> LimitHitError:
        """Return the report that memory has run out."""
        return LimitHitError("memory_bytes", self.peak_memory, self.limits.memory_bytes)

    def calls_error(self) -> Exception:
        """Return the report that no more words may be called."""
        if self.stopped is not None:
            return self.stopped
        allowed = self.limits.host_calls
        return LimitHitError("host_calls", allowed - self.calls[0], allowed)

    def refill(self) -> None:
        """Hand out the next slice of steps, unless the run is over or has computed for too long."""
        if self.stopped is not None:
            raise self.stopped
        used = self.steps
        if used > self.limits.steps:
            raise LimitHitError("steps", used, self.limits.steps)
        grant = min(SLICE_STEPS, self.limits.steps - used)
        self.handed_out = used + grant
        self.slice[0] = grant
        self._look_at_clock()

    def stop(self, error: PlanError) -> None:
        """Make every further step raise this error; the first call decides."""
        if self.stopped is None:
            self.stopped = error
            self.handed_out -= self.slice[0] + 1
            self.slice[0] = -1
            self.calls[0] = -1

    def _look_at_clock(self) -> None:
        now, used = thread_time(), self.steps
        if not self._watching:
            self._started_at, self._started_steps = now, used
            self._watch()
            return
        # Sync words may be slow, and that is not the plan's doing: no step of ours takes longer than this.
        stretch_s = min(now - self._started_at, (used - self._started_steps) * _SLOWEST_STEP_S)
        if stretch_s > YIELD_AFTER_S:
            self.slice[1] = True
        if stretch_s > self.limits.compute_s:
            raise LimitHitError("compute_s", ceil(stretch_s * 1_000) / 1_000, self.limits.compute_s)

    def _watch(self) -> None:
        self._watching = True
        self._loop.call_soon(self._turned)

    def _turned(self) -> None:
        self._watching = False
        self.slice[1] = False

    def list_of(self, count: int) -> None:
        """Charge a new list of so many items: its copying and its memory."""
        if count > self.limits.collection_length:
            raise self._too_long(count)
        self.charge(count >> 4, LIST_BYTES + LIST_ITEM_BYTES * count)

    def tuple_of(self, count: int) -> None:
        """Charge a new tuple of so many items."""
        if count > self.limits.collection_length:
            raise self._too_long(count)
        self.charge(count >> 4, TUPLE_BYTES + TUPLE_ITEM_BYTES * count)

    def dict_of(self, count: int) -> None:
        """Charge a new dict or set of so many entries."""
        if count > self.limits.collection_length:
            raise self._too_long(count)
        self.charge(count >> 3, DICT_BYTES + DICT_ENTRY_BYTES * count)

    def copied_dict(self, count: int, steps: int, size_bytes: int) -> None:
        """Charge a copy of a dict of so many entries, and what its texts and boxes add."""
        if count > self._most_copied:
            self.dict_of(count)
            self.charge(steps, size_bytes)
            return
        left = self.slice[0] = self.slice[0] - (steps + (count >> 3))
        if left < 0:
            self.refill()
        left = self.bytes[0] = self.bytes[0] - (size_bytes + COPIED_DICT_BYTES[count])
        if left < 0:
            raise self.memory_error()

    def grow_list(self, length: int, more: int) -> None:
        """Charge items that join a list of this length."""
        if length + more > self.limits.collection_length:
            raise self._too_long(length + more)
        self.work(more >> 4)
        self.store(LIST_ITEM_BYTES * more)

    def grow_dict(self, length: int, more: int) -> None:
        """Charge entries that join a dict or set of this length."""
        if length + more > self.limits.collection_length:
            raise self._too_long(length + more)
        self.work(more >> 3)
        self.store(DICT_ENTRY_BYTES * more)

    def text_of(self, length: int, wide: bool = True) -> None:
        """Charge a new text of at most so many characters; ``wide`` unless all of them are known to be ASCII.

        An ASCII character takes one byte and is charged three eighths more: long texts alone have nothing but their
        characters, and a process that holds as many as it may stays below 250 MB all the same.
        """
        if length > self.limits.text_length:
            raise LimitHitError("text_length", length, self.limits.text_length)
        left = self.slice[0] = self.slice[0] - (length >> 7)
        if left < 0:
            self.refill()
        left = self.bytes[0] = self.bytes[0] - (TEXT_BYTES + (length * 4 if wide else length + (length * 3 >> 3)))
        if left < 0:
            raise self.memory_error()

    def key_text(self, length: int) -> None:
        """Charge a text as a key: it is hashed, and read to its end where an equal key is there already."""
        width = length >> 7
        self.work(width)
        self.key_width = max(self.key_width, width)

    def match_keys(self, pairs: int) -> None:
        """Charge so many lookups of one container's keys in another; they cost when the run has long keys."""
        if self.key_width:
            self.work(pairs * self.key_width)

    def scan(self, length: int) -> None:
        """Charge a native pass over so many items or characters."""
        self.work(length >> 5)

    def integer(self, value: int) -> int:
        """Return the value when it fits the limit on integers."""
        if self.low <= value <= self.high:
            return value
        raise LimitHitError("integer_bits", value.bit_length() + 1, self.limits.integer_bits)

    def _too_long(self, count: int) -> LimitHitError:
        return LimitHitError("collection_length", count, self.limits.collection_length)
