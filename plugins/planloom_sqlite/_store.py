"""A store in one SQLite file, safe for several processes at once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from planloom import StoreError
from planloom.questions import Question, Reply
from planloom.stores import (
    Books,
    Event,
    Granted,
    Request,
    ReserveResult,
    RunHolder,
    RunProgress,
    RunRow,
    ThreadRow,
    ThreadTrace,
    UncertainCall,
)

from . import _drivers, _events, _records
from ._caps import CONFIGURED_CAP, CapStore, ConfigureCap, OpenBudget, SetCap
from ._commits import Commits
from ._connections import MEMORY, Place, Readers, open_writer
from ._faults import why_unwritable
from ._hedges import Hedge
from ._ledger import ANSWER, VERSION, read_own_versions, read_question, read_replies, reply_from
from ._operations import (
    End,
    Flush,
    MarkUncertain,
    Operation,
    Release,
    Reserve,
    Settle,
    check_amount,
)
from ._packing import clean
from ._reading import NoWriter, place_to_read, refuse_others
from ._run_operations import AppendEvents, ClaimRun, PostRequest, ReleaseRun, SaveRun, SaveThreads, WriteJournal
from ._shelf import key_of
from ._till import ALL_BUDGETS, STORE_CAP
from ._waits import MarkSent, MarkWaiting
from ._writer import Writer

__all__ = ["BUSY_TIMEOUT_S", "LEASE_S", "SqliteStore", "open_store", "read_store"]

LEASE_S = 60.0
BUSY_TIMEOUT_S = 5.0

_STORE_BOOKS = f"SELECT ({STORE_CAP}), * FROM ({ALL_BUDGETS})"  # noqa: S608  texts of this package

_PAID = "SELECT coalesce(sum(spent), 0) FROM budget WHERE name = ? OR name IN (SELECT budget FROM run WHERE job = ?)"


def open_store(
    location: str | Path,
    *,
    lease_s: float = LEASE_S,
    busy_timeout_s: float = BUSY_TIMEOUT_S,
    clock: Callable[[], float] = time.time,
) -> SqliteStore:
    """Open the store at a path, made and migrated where needed; ``:memory:`` ends with the process.

    :param lease_s: how long after its last sign of life a process's open calls count as of unknown outcome.
    :param busy_timeout_s: how long a write waits for other processes before :class:`planloom.StoreLocked`.
    :raises StoreError: it cannot be opened; the text says what to do.
    """
    name = str(location)
    place = Place(MEMORY if name == MEMORY else os.path.expanduser(name), busy_timeout_s)
    connection = open_writer(place)
    readers = Readers(place, connection if place.in_memory else None)
    commits = Commits(
        connection, readers, where=place.location, lease_s=lease_s, busy_timeout_s=busy_timeout_s, clock=clock
    )
    writer = Writer(commits, place.location)
    try:
        writer.start()
    except StoreError:
        readers.close()
        connection.close()
        raise
    return SqliteStore(place.location, writer, readers, clock)


def read_store(
    location: str | Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S, clock: Callable[[], float] = time.time
) -> SqliteStore:
    """Open the store at a path to read it, also where it cannot be written; elsewhere as :func:`open_store` does. Where
    there is none an empty one is read, and none is made.

    :raises StoreError: it cannot be opened; the text says what to do.
    """
    file = Path(os.path.expanduser(location))
    if str(location) != MEMORY and _is_missing(file):
        return _nothing(file, clock)
    if str(location) == MEMORY or not os.path.isfile(file) or not why_unwritable(file.resolve()):
        return open_store(location, busy_timeout_s=busy_timeout_s, clock=clock)
    place = place_to_read(file, busy_timeout_s)
    with closing(place.connect()) as connection:
        refuse_others(connection, file)
    return SqliteStore(place.location, NoWriter(place.location), Readers(place, None), clock)


def _is_missing(file: Path) -> bool:
    """Whether a file is certainly not there; in a folder that this user may not enter nobody knows."""
    try:
        os.lstat(file)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _nothing(file: Path, clock: Callable[[], float]) -> SqliteStore:
    """Return what is read where there is no file yet."""
    place = Place(MEMORY, BUSY_TIMEOUT_S)
    empty = open_writer(place)
    where = f"{file} (not there yet: `planloom run FILE.plan` makes it)"
    return SqliteStore(where, NoWriter(str(file), ends_with=empty), Readers(place, empty), clock)


class SqliteStore:
    """See :class:`planloom.stores.Store`; made by :func:`open_store` and :func:`read_store`."""

    def __init__(self, where: str, writer: Writer | NoWriter, readers: Readers, clock: Callable[[], float]) -> None:
        self._where = where
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._asked = writer.asked
        self._closed = False

    @property
    def where(self) -> str:
        """Its path."""
        return self._where

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self._where} is closed; open it again")

    async def _write(self, operation: Operation) -> Any:
        self._refuse_when_closed()
        return await self._writer.submit(operation)

    # --- ledger and books

    def reply(self, fingerprint: str, version: int | None = None) -> Reply | None:
        """Return the answer to a question, or the reply of that version; ``None`` when there is none."""
        key = key_of(fingerprint)
        row = self._readers.row(ANSWER, (key,)) if version is None else self._readers.row(VERSION, (key, version))
        if row is not None:
            return reply_from(row)
        if self._asked is not None:
            self._asked.looked_for_nothing()
        return None

    def lacks(self, fingerprint: str) -> bool:
        """Whether a question certainly had no answer when this store last wrote; costs no look at the file."""
        return self._asked is not None and self._asked.lacks(fingerprint)

    def replies(self, versions: Mapping[str, int]) -> dict[str, Reply]:
        """Return stored replies of these versions, by fingerprint."""
        return read_replies(self._readers, versions)

    def own_versions(self, run_id: str) -> dict[str, int]:
        """Return the versions of the last replies to a run's own calls, by fingerprint."""
        return read_own_versions(self._readers, run_id)

    def question(self, fingerprint: str) -> Question | None:
        """Return a question that was asked, or ``None``."""
        return read_question(self._readers, key_of(fingerprint), self._where)

    async def reserve(
        self, question: Question, *, budget: str, run: str, thread: str, worst: int, look: bool = True
    ) -> ReserveResult:
        """Reserve the worst price of a call and record it as sent; a caller cancelled meanwhile leaves no trace."""
        self._refuse_when_closed()
        check_amount("the worst price of a call", worst)
        operation = Reserve(question, budget=budget, run=run, thread=thread, worst=worst, look=look)
        future = self._writer.submit(operation)
        try:
            result: ReserveResult = await future
        except asyncio.CancelledError:
            self._give_back(future)
            raise
        return result

    async def hedge(self, call_id: str) -> str | None:
        """Charge a call's worst price once more; a caller cancelled meanwhile leaves no trace."""
        future = self._writer.submit(Hedge(call_id))
        try:
            granted: Granted | None = await future
        except asyncio.CancelledError:
            self._give_back(future)
            raise
        return None if granted is None else granted.call_id

    def _give_back(self, future: asyncio.Future[Any]) -> None:
        """Release what was granted in the very moment its caller was cancelled."""
        if future.done() and not future.cancelled() and future.exception() is None:
            result = future.result()
            if isinstance(result, Granted):
                self._writer.abandon(result)

    async def settle(self, call_id: str, reply: Reply) -> int:
        """Store the reply, bill its price, free the reservation; return the reply's version."""
        self._refuse_when_closed()
        check_amount("the price of a reply", reply.price)
        version: int = await self._writer.submit(Settle(call_id, reply))
        return version

    async def release(self, call_id: str) -> None:
        """Free the reservation of a call that was not billed."""
        await self._write(Release(call_id))

    async def mark_uncertain(self, call_id: str) -> None:
        """Keep a call's worst price charged."""
        await self._write(MarkUncertain(call_id))

    async def mark_waiting(self, call_id: str) -> None:
        """Note that nothing of a call is out."""
        await self._write(MarkWaiting(call_id))

    async def mark_sent(self, call_id: str) -> bool:
        """Note that a call's next request goes out; return whether it may."""
        may: bool = await self._write(MarkSent(call_id))
        return may

    def uncertain_calls(self, budget: str) -> tuple[UncertainCall, ...]:
        """Return the calls of unknown outcome, oldest first."""
        return _records.read_uncertain(self._readers, budget)

    async def open_budget(self, budget: str, cap: int) -> Books:
        """Make a budget, or raise its cap; return its books."""
        books: Books = await self._write(OpenBudget(budget, check_amount("a cap", cap)))
        return books

    async def set_cap(self, budget: str, cap: int) -> Books:
        """Change a budget's cap; return its books."""
        books: Books = await self._write(SetCap(budget, check_amount("a cap", cap)))
        return books

    def books(self, budget: str) -> Books:
        """Return the books of a budget."""
        row = self._readers.row("SELECT cap, spent, reserved, uncertain FROM budget WHERE name = ?", (clean(budget),))
        cap, spent, reserved, uncertain = row or (0, 0, 0, 0)
        return Books(cap=cap, spent=spent, reserved=reserved, uncertain=uncertain)

    def store_books(self, configured: int | None = None) -> Books | None:
        """Return the books of all budgets together, under the store's own cap or the one it is about to have; ``None``
        when there is none."""
        ((cap, spent, reserved, uncertain),) = self._readers.rows(_STORE_BOOKS)
        if configured is not None and self._readers.row(CONFIGURED_CAP) != (configured,):
            cap = configured
        return None if cap is None else Books(cap=cap, spent=spent, reserved=reserved, uncertain=uncertain)

    def paid(self, job: str, budget: str) -> int:
        """Return what the runs of a job, and this budget, have paid together."""
        row = self._readers.row(_PAID, (clean(budget), clean(job)))
        assert row is not None
        return int(row[0])

    async def cap_store(self, cap: int | None) -> None:
        """Give the whole store a cap beside those of its budgets, or none."""
        await self._write(CapStore(cap if cap is None else check_amount("a cap", cap)))

    async def configure_cap(self, cap: int) -> None:
        """Give the whole store the cap that a configuration says, unless it said that before."""
        if self._readers.row(CONFIGURED_CAP) != (cap,):
            await self._write(ConfigureCap(check_amount("a cap", cap)))

    def version(self) -> int:
        """Return a number that changes with every commit that may have freed money or closed a question."""
        row = self._readers.row("SELECT value FROM meta WHERE key = 'freed'")
        assert row is not None
        return int(row[0])

    # --- runs

    async def save_run(self, row: RunRow) -> None:
        """Insert or replace a run."""
        await self._write(SaveRun(row))

    async def save_threads(self, rows: Sequence[ThreadRow]) -> None:
        """Insert or replace threads."""
        await self._write(SaveThreads(tuple(rows)))

    async def append_events(self, run: str, events: Sequence[Event]) -> None:
        """Append to a run's event stream."""
        await self._write(AppendEvents(run, tuple(events)))

    async def write_journal(self, run: str, place: str, value: Any) -> None:
        """Record what a word that is not pure returned."""
        await self._write(WriteJournal(run=run, place=place, value=value))

    def run(self, run_id: str) -> RunRow | None:
        """Return a run, or ``None``."""
        return _records.read_run(self._readers, run_id)

    def runs(self, limit: int = 50, job: str | None = None) -> list[RunRow]:
        """Return the newest runs, of one job where it is named, newest first."""
        return _records.read_runs(self._readers, limit, job)

    def run_ids(self, beginning: str, limit: int) -> list[str]:
        """Return the ids of the newest runs whose ids begin so, newest first."""
        return _records.read_run_ids(self._readers, beginning, limit)

    def threads(
        self, run_id: str, *, status: str | None = None, after: str | None = None, limit: int | None = None
    ) -> list[ThreadRow]:
        """Return a run's threads, in the order they started."""
        return _records.read_threads(self._readers, run_id, status, after, limit)

    def traces(self, run_id: str) -> Iterator[ThreadTrace]:
        """Yield what a later start needs of a run's threads."""
        return _records.read_traces(self._readers, run_id)

    def newest_thread(self, run_id: str) -> int:
        """Return the highest number of a thread of a run."""
        return _records.read_newest_thread(self._readers, run_id)

    def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return a run's events with a higher ``seq``, in order."""
        return _events.read_events(self._readers, run_id, after, limit)

    def progress(self, run_id: str) -> RunProgress:
        """Return how far a run is."""
        return _events.read_progress(self._readers, run_id)

    def journal(self, run_id: str) -> dict[str, Any]:
        """Return a run's journal by place."""
        return _records.read_journal(self._readers, run_id)

    def money(self, run_id: str) -> Mapping[str, int]:
        """Return what a run's calls cost."""
        return _records.read_money(self._readers, run_id)

    # --- who drives a run

    async def claim_run(self, run_id: str) -> RunHolder | None:
        """Make this store the driver of a run, or return who is."""
        holder: RunHolder | None = await self._write(ClaimRun(run_id))
        return holder

    async def release_run(self, run_id: str) -> None:
        """Give a run up that this store drives."""
        await self._write(ReleaseRun(run_id))

    def driver(self, run_id: str) -> RunHolder | None:
        """Return who drives a run, or ``None``."""
        return _drivers.read_driver(self._readers, run_id, self._writer.owner_id, self._clock())

    async def post_request(self, run_id: str, what: str, data: Any = None) -> int:
        """Ask something of a run's driver; return the request's number."""
        number: int = await self._write(PostRequest(run_id, what, data))
        return number

    def requests(self, run_id: str, after: int = 0) -> list[Request]:
        """Return what was asked of a run's driver with a higher number, in order."""
        return _drivers.read_requests(self._readers, run_id, after)

    async def close(self) -> None:
        """Commit what waits, end the lease and let go; a second call does nothing."""
        if self._closed:
            return
        self._closed, self._asked = True, None
        # Who waited was told if these fail: the lease then runs out by itself.
        try:
            with suppress(StoreError):
                # The releases of what cancelled callers were granted are queued when this is back.
                await self._writer.submit(Flush())
        finally:
            self._readers.close()
            ended = self._writer.submit(End())
        with suppress(StoreError):
            await ended
