"""The one thread that writes: it commits whatever waits, all of it in one transaction, and then tells who waits.

While one commit is on its way to the disk the next batch gathers by itself, so batches grow as the disk is slow. There
is no timer, and no upper bound but for the rows of threads and events, which nobody waits for. When an operation fails
by its own fault its batch is undone and each operation gets a transaction of its own. When the store fails (full,
locked) every waiter is told, and the thread lives on.

SQLite writes on into a file that somebody deleted or replaced, and what it writes ends with the process. So the file is
looked at before each commit.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from asyncio import get_running_loop
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from planloom import StoreError, StoreFull, StoreGone
from planloom.stores import Granted

from ._asked import Asked
from ._connections import MEMORY, Readers
from ._faults import concerns_the_store, store_fault
from ._operations import (
    FREES,
    End,
    Flush,
    MarkUncertain,
    Operation,
    Release,
    Reserve,
    Settle,
    Transaction,
    is_call_id,
    likely_granted,
)
from ._owners import Owner
from ._rows import Rows
from ._run_operations import AppendEvents, SaveRun, SaveThreads, WriteJournal
from ._shelf import PartShelf, Questions
from ._till import Till

__all__ = ["Writer"]

LOT = 128
"""Operations of one turn of the loop that need not wait for its end."""
MOST_ROWS = 256
"""Rows of threads and events in a commit that calls wait for, unless a single operation has more."""
ROWS_A_CALL = 2
"""The same for each question and each answer in it, where they are many: a worker leaves one of both and three rows. If
fewer were written at a time they would pile up in memory: 25 MB of 50,000 workers whose model answers at once."""
MOST_ROWS_ALONE = 1_024
"""The same in a commit that none waits for, though one may come meanwhile."""


_Waiter = tuple[Operation, asyncio.Future[Any] | None]
"""An operation and who awaits it; nobody, when the store itself asked."""


class _Failure:
    """An exception on its way to a waiter."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Writer:
    """Commits operations in batches, on a thread of its own.

    :param readers: whose guard is held during a transaction.
    :param clock: seconds of the wall clock.
    :ivar asked: which questions are stored.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        readers: Readers,
        *,
        where: str,
        lease_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._connection = connection
        self._guard = readers.guard
        self._where = where
        self._clock = clock
        self._owner = Owner(lease_s)
        self._rows = Rows(connection)
        self._shelf = PartShelf(connection, self._rows)
        self._till = Till(connection, self._rows, where)
        self.asked = Asked(connection)
        self._seen: int | None = None
        self._gathered: list[_Waiter] = []
        self._gathers: asyncio.AbstractEventLoop | None = None
        self._queue: queue.SimpleQueue[list[_Waiter]] = queue.SimpleQueue()
        self._later: list[_Waiter] = []
        self._ended = False
        # A daemon: a program that ends without closing its store must not hang.
        self._thread = threading.Thread(target=self._run, name="planloom-store", daemon=True)

    def start(self) -> None:
        """Take a lease, give up what owners before left open, and begin.

        Without room for a lease it begins too: who only reads needs none, and the next write takes one or fails.

        :raises StoreError: the store cannot be written for another reason.
        """
        try:
            self._transact([])
        except sqlite3.Error as error:
            fault = store_fault(error, self._where)
            if not isinstance(fault, StoreFull):
                raise fault from error
        self._file = _file_at(self._where)
        self._thread.start()

    @property
    def owner_id(self) -> int:
        """The owner that the store writes as."""
        return self._owner.id

    def submit(self, operation: Operation) -> asyncio.Future[Any]:
        """Queue an operation; the future is done when the transaction that holds it is committed.

        What is asked for in one turn of the loop is handed over together when that turn is over, or is a lot: a turn in
        which thousands of workers start is long.
        """
        loop = get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        if self._gathers is not loop:
            self._hand_over()
            self._gathers = loop
            loop.call_soon(self._hand_over)
        gathered = self._gathered
        gathered.append((operation, future))
        # The loop of who ends the store may have no further turn.
        if len(gathered) >= LOT or self._ended or isinstance(operation, End):
            self._hand_over()
        return future

    def _hand_over(self) -> None:
        gathered, self._gathered, self._gathers = self._gathered, [], None
        if gathered:
            self._queue.put(gathered)
        if self._ended:
            self._refuse_rest()

    def abandon(self, granted: Granted) -> None:
        """Release a call that was granted to somebody who no longer waits for it."""
        self._queue.put([(Release(granted.call_id), None)])

    # --- on the writer thread

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            self._ended = True
            self._queue.put(self._later)
            self._refuse_rest()

    def _refuse_rest(self) -> None:
        """Tell whoever came after the end, so that nobody waits for ever."""
        with suppress(queue.Empty):
            while True:
                lot = self._queue.get_nowait()
                closed = StoreError(f"the store {self._where} is closed; open it again")
                self._tell(lot, [_Failure(closed)] * len(lot))

    def _serve(self) -> None:
        going_on = True
        while going_on:
            batch = self._take()
            outcomes = self._outcomes([operation for operation, _ in batch])
            going_on = not (batch and isinstance(batch[-1][0], End))  # whose rank is the last
            if not going_on:
                self._connection.close()
            self._tell(batch, outcomes)

    def _take(self) -> list[_Waiter]:
        """Wait for something to write, or for the time to renew the lease; take all there is, in order of rank, but of
        threads and events only so many rows: who has an answer or a question must not wait for hundreds of them."""
        batch, self._later = self._later, []
        with suppress(queue.Empty):
            batch += self._queue.get(timeout=0 if batch else self._owner.renew_every_s)
            while True:
                batch += self._queue.get_nowait()
        frees, takes, records, ends = _by_rank(batch)
        if records and not ends and not any(isinstance(operation, Flush) for operation, _ in records):
            calls = len(frees) + len(takes)
            records, self._later = _shortened(
                records, max(MOST_ROWS, ROWS_A_CALL * calls) if calls else MOST_ROWS_ALONE
            )
        return [*frees, *takes, *records, *ends]

    def _outcomes(self, operations: Sequence[Operation]) -> list[Any]:
        if _file_at(self._where) != self._file:
            return [_Failure(self._gone()) for _ in operations]
        try:
            self._pack_ahead(operations)
            return self._transact(operations)
        except Exception as error:
            if isinstance(error, sqlite3.Error) and concerns_the_store(error):
                fault = store_fault(error, self._where)
                return (
                    self._as_fits(operations) if isinstance(fault, StoreFull) else [_Failure(fault) for _ in operations]
                )
            return [self._alone(operation) for operation in operations]

    def _as_fits(self, operations: Sequence[Operation]) -> list[Any]:
        """Write on a full disk what still fits, and take no new calls when an earlier one's outcome did not."""
        outcomes: list[Any] = []
        full: _Failure | None = None
        for operation in operations:
            held_back = full is not None and isinstance(operation, Reserve)
            outcome = full if held_back else self._alone(operation)
            if isinstance(outcome, _Failure) and isinstance(outcome.error, StoreFull):
                full = outcome
            outcomes.append(outcome)
        return outcomes

    def _gone(self) -> StoreGone:
        return StoreGone(
            f"the store {self._where} was deleted or replaced while this process had it open, and what would be "
            "written now would be lost with it; put it back where it was, or begin again with the one that is there"
        )

    def _alone(self, operation: Operation) -> Any:
        try:
            return self._transact([operation])[0]
        except sqlite3.Error as error:
            return _Failure(store_fault(error, self._where))
        except Exception as error:
            # Whatever it is, it belongs to the caller of this operation; the thread serves the others.
            return _Failure(error)

    def _pack_ahead(self, operations: Sequence[Operation]) -> None:
        """Pack texts before the lock is taken: of replies, records, and the questions that will likely be sent."""
        for operation in operations:
            if isinstance(operation, (Settle, SaveRun, SaveThreads, WriteJournal)):
                operation.prepare()
        large = [operation for operation in operations if isinstance(operation, Reserve) and operation.question.large]
        if large:
            with self._guard:
                parts = self._shelf.missing([reserve.question for reserve in likely_granted(self._till, large)])
            self._shelf.pack_ahead(parts)

    def _transact(self, operations: Sequence[Operation]) -> list[Any]:
        with self._guard:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                outcomes = self._apply_all(operations)
                self._connection.execute("COMMIT")
            except BaseException:
                self._undo()
                raise
        self._till.committed()
        self._shelf.committed()
        self.asked.committed()
        self._owner.committed()
        return outcomes

    def _apply_all(self, operations: Sequence[Operation]) -> list[Any]:
        self._heed_others()
        rows, till = self._rows, self._till
        self.asked.catch_up()
        questions = Questions(self._connection, self._shelf, rows, self.asked)
        now = self._clock()
        self._owner.keep(self._connection, till, now)
        till.look_up(_calls_of(operations))
        questions.look_up([op.question for op in operations if isinstance(op, Reserve)])
        transaction = Transaction(
            connection=self._connection,
            rows=rows,
            where=self._where,
            till=till,
            questions=questions,
            owner=self._owner,
            now=now,
        )
        first = next((place for place, operation in enumerate(operations) if operation.rank != FREES), len(operations))
        outcomes = [_outcome(operation, transaction) for operation in operations[:first]]
        rows.flush()  # what is settled is an answer to those who reserve
        outcomes += [_outcome(operation, transaction) for operation in operations[first:]]
        till.write()
        return outcomes

    def _heed_others(self) -> None:
        """Read anew what is known of the file, if another connection wrote since the last transaction."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._seen:
            self._seen = version
            self._forget()
            self._shelf.keep_up()
            self.asked.others_wrote()

    def _forget(self) -> None:
        self._rows.forget()
        self._till.forget()
        self._owner.seen_driving.clear()

    def _undo(self) -> None:
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):  # the failure that led here is the one to report
                self._connection.execute("ROLLBACK")
        self._forget()
        self._shelf.rolled_back()
        self.asked.rolled_back()
        self._owner.rolled_back()

    # --- back to the loops

    def _tell(self, batch: Sequence[_Waiter], outcomes: Sequence[Any]) -> None:
        """Hand the outcomes of a batch over, with one call a loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future is not None:
                by_loop.setdefault(future.get_loop(), []).append((future, outcome))
        for loop, pairs in by_loop.items():
            try:
                loop.call_soon_threadsafe(self._resolve, pairs)
            except RuntimeError:  # the loop is closed: nobody waits there any more
                for _, outcome in pairs:
                    self._take_back(outcome)

    def _resolve(self, pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
        for future, outcome in pairs:
            if future.done():
                self._take_back(outcome)
            elif type(outcome) is _Failure:
                future.set_exception(outcome.error)
            else:
                future.set_result(outcome)

    def _take_back(self, outcome: Any) -> None:
        if isinstance(outcome, Granted):
            self.abandon(outcome)


def _by_rank(batch: Sequence[_Waiter]) -> tuple[list[_Waiter], ...]:
    """Return what is to be written, by rank, each in the order in which it was asked for; a question whose asker was
    cancelled is left out."""
    ranks: tuple[list[_Waiter], ...] = ([], [], [], [])
    for waiter in batch:
        operation, future = waiter
        if future is not None and future.cancelled() and isinstance(operation, Reserve):
            continue
        ranks[operation.rank].append(waiter)
    return ranks


def _shortened(records: Sequence[_Waiter], most: int) -> tuple[list[_Waiter], list[_Waiter]]:
    """Return what to write now and what later, each in the order in which it was asked for.

    :param most: how many rows of threads and events to write, unless a single operation has more.
    """
    now: list[_Waiter] = []
    later: list[_Waiter] = []
    rows = 0
    for waiter in records:
        operation = waiter[0]
        if isinstance(operation, (SaveThreads, AppendEvents)):
            rows += operation.rows
            if later or (rows > most and rows > operation.rows):
                later.append(waiter)
                continue
        now.append(waiter)
    return now, later


def _file_at(where: str) -> tuple[int, int] | None:
    """Return what tells the file at a path from any other, or ``None`` when there is none."""
    if where == MEMORY:
        return None
    try:
        found = os.stat(where)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _calls_of(operations: Sequence[Operation]) -> list[int]:
    settled = [op.number for op in operations if isinstance(op, Settle) and op.number is not None]
    others = [op.call_id for op in operations if isinstance(op, (Release, MarkUncertain))]
    return [*settled, *[int(call_id) for call_id in others if is_call_id(call_id)]]


def _outcome(operation: Operation, transaction: Transaction) -> Any:
    try:
        return operation.apply(transaction)
    except StoreError as error:
        return _Failure(error)
