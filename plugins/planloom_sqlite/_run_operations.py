"""What the writer can be asked to do about runs: their rows, threads, events and journals, and who drives them.

What belongs to a run's record is written by its driver alone, which each operation makes sure of.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

from planloom.data_classes import frozen
from planloom.stores import Event, RunHolder, RunRow, ThreadRow

from . import _drivers, _records
from ._events import add_events
from ._operations import RECORDS, Transaction
from ._packing import clean, encode, pack

__all__ = ["AppendEvents", "ClaimRun", "PostRequest", "ReleaseRun", "SaveRun", "SaveThreads", "WriteJournal"]


class SaveRun:
    """Insert or replace a run."""

    rank: ClassVar[int] = RECORDS
    __slots__ = ("_values", "row")

    def __init__(self, row: RunRow) -> None:
        self.row = row
        self._values: tuple[Any, ...] | None = None

    def prepare(self) -> None:
        """Pack its arguments and its result before the lock is taken."""
        self._values = self._values or _records.run_values(self.row)

    def apply(self, to: Transaction) -> None:
        """Write the row."""
        to.check_driver(self.row.id)
        self.prepare()
        assert self._values is not None
        _records.save_run(to.connection, self._values)


class SaveThreads:
    """Insert or replace threads."""

    rank: ClassVar[int] = RECORDS
    __slots__ = ("_packed", "_results", "threads")

    def __init__(self, threads: Sequence[ThreadRow]) -> None:
        self.threads = threads
        self._results: list[str] = []
        self._packed: list[tuple[bytearray | int | str, ...]] | None = None

    @property
    def rows(self) -> int:
        """How many rows it writes."""
        return len(self.threads)

    def size_up_to(self, most: int) -> int:
        """Return how long the texts to pack are, in characters; where that is more than this, anything more."""
        size, results = 0, self._results
        for place, row in enumerate(self.threads):
            if place == len(results):
                results.append(encode(row.result))
            size += len(results[place]) + len(row.raw or "")
            if size > most:
                break
        return size

    def prepare(self) -> None:
        """Pack what they came to before the lock is taken."""
        if self._packed is None:
            self.size_up_to(sys.maxsize)
            self._packed = [_records.packed_texts(*each) for each in zip(self.threads, self._results, strict=True)]

    def apply(self, to: Transaction) -> None:
        """Write the rows."""
        for run in {row.run for row in self.threads}:
            to.check_driver(run)
        self.prepare()
        assert self._packed is not None
        for row, packed in zip(self.threads, self._packed, strict=True):
            _records.save_thread(to.rows, row, packed)


@frozen
class AppendEvents:
    """Append to a run's event stream."""

    rank: ClassVar[int] = RECORDS
    run: str
    events: Sequence[Event]

    @property
    def rows(self) -> int:
        """How many rows it writes."""
        return len(self.events)

    def apply(self, to: Transaction) -> None:
        """Write one row an event."""
        to.check_driver(self.run)
        if self.events:
            add_events(to.connection, to.rows, clean(self.run), self.events)


class WriteJournal:
    """Record what an impure word returned."""

    rank: ClassVar[int] = RECORDS
    __slots__ = ("_packed", "place", "run", "value")

    def __init__(self, *, run: str, place: str, value: Any) -> None:
        self.run = run
        self.place = place
        self.value = value
        self._packed: tuple[bytes, int] | None = None

    def prepare(self) -> None:
        """Pack the value before the lock is taken."""
        self._packed = self._packed or pack(encode(self.value))

    def apply(self, to: Transaction) -> None:
        """Write the value."""
        to.check_driver(self.run)
        self.prepare()
        assert self._packed is not None
        _records.write_journal(to.connection, to.rows, clean(self.run), clean(self.place), self._packed)


@frozen
class ClaimRun:
    """Make this store the driver of a run."""

    rank: ClassVar[int] = RECORDS
    run: str

    def apply(self, to: Transaction) -> RunHolder | None:
        """Return ``None``, or who drives it."""
        run = clean(self.run)
        holder = _drivers.claim_run(to.connection, run, to.owner.id, to.now)
        if holder is None:
            to.owner.drives |= {run}
        return holder


@frozen
class ReleaseRun:
    """Give a run up that this store drives."""

    rank: ClassVar[int] = RECORDS
    run: str

    def apply(self, to: Transaction) -> None:
        """Give it up."""
        run = clean(self.run)
        _drivers.release_run(to.connection, run, to.owner.id)
        to.owner.drives -= {run}
        to.owner.seen_driving.discard(run)


@frozen
class PostRequest:
    """Ask something of a run's driver."""

    rank: ClassVar[int] = RECORDS
    run: str
    what: str
    data: Any

    def apply(self, to: Transaction) -> int:
        """Return the request's number."""
        return _drivers.add_request(to.connection, clean(self.run), clean(self.what), self.data)
