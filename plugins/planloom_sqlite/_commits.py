"""One batch of operations, one transaction: what holds while it is open, and what is undone when it fails.

When an operation fails by its own fault its batch is undone and each operation gets a transaction of its own. When the
store fails (full, locked) every operation's outcome is that failure.

SQLite writes on into a file that somebody deleted or replaced, and what it writes ends with the process. So the file is
looked at before each commit.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from planloom import StoreError, StoreFull, StoreGone

from ._asked import Asked
from ._connections import MEMORY, WAL_KEPT_BYTES, Readers
from ._faults import concerns_the_store, store_fault
from ._operations import (
    FREES,
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
from ._run_operations import SaveRun, SaveThreads, WriteJournal
from ._shelf import PartShelf, Questions
from ._till import Till

__all__ = ["Commits", "Failure"]

_LONG_LOG_BYTES = 2 * WAL_KEPT_BYTES
"""Of which 150 MB take 60 ms to move into a file on a quick disk."""


class Failure:
    """An exception as an outcome, on its way to who waits."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Commits:
    """The transactions of one store's writer; used by one thread at a time.

    :param readers: whose guard is held during a transaction.
    :param busy_timeout_s: how long other processes' lock is waited for, but in :meth:`at_once`.
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
        busy_timeout_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._connection = connection
        self._guard = readers.guard
        self._where = where
        self._log = f"{os.path.realpath(where)}-wal"
        self._patience_ms = round(busy_timeout_s * 1_000)
        self._waits_ms: int | None = self._patience_ms
        self._clock = clock
        self._owner = Owner(lease_s)
        self._rows = Rows(connection)
        self._shelf = PartShelf(connection, self._rows)
        self._till = Till(connection, self._rows, where)
        self.asked = Asked(connection)
        self._seen: int | None = None

    def start(self) -> None:
        """Take a lease and give up what owners before left open.

        Without room for a lease it begins too: who only reads needs none, and the next write takes one or fails.

        :raises StoreError: the store cannot be written for another reason.
        """
        try:
            self._transact([], [])
        except sqlite3.Error as error:
            fault = store_fault(error, self._where)
            if not isinstance(fault, StoreFull):
                raise fault from error
        self._file = _file_at(self._where)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def owner_id(self) -> int:
        """The owner that the store writes as."""
        return self._owner.id

    @property
    def renew_every_s(self) -> float:
        """How often to commit, be it nothing, so that the lease does not run out."""
        return self._owner.renew_every_s

    def at_once(self, operations: Sequence[Operation], came_to: list[Any]) -> None:
        """Commit operations where that goes without waiting for a lock, without emptying a long log, and without any
        failure.

        :param came_to: an empty list, which has their outcomes from the moment at which they are committed, also where
            an interrupt follows. It stays empty when nothing of them was written, and :meth:`outcomes` is to do it.
        """
        if _file_at(self._where) != self._file or self._log_is_long():
            return
        with suppress(Exception):
            self._wait_for_others(0)
            self._transact(operations, came_to)

    def outcomes(self, operations: Sequence[Operation]) -> list[Any]:
        """Commit operations and return what came of each: what its ``apply`` returned, or a :class:`Failure`."""
        if _file_at(self._where) != self._file:
            return [Failure(self._gone()) for _ in operations]
        try:
            self._wait_for_others(self._patience_ms)
            self._pack_ahead(operations)
            return self._transact(operations, [])
        except Exception as error:
            if isinstance(error, sqlite3.Error) and concerns_the_store(error):
                fault = store_fault(error, self._where)
                return (
                    self._as_fits(operations) if isinstance(fault, StoreFull) else [Failure(fault) for _ in operations]
                )
            return [self._alone(operation) for operation in operations]

    def _wait_for_others(self, most_ms: int) -> None:
        if most_ms != self._waits_ms:
            self._waits_ms = None  # until this is back without an interrupt
            self._connection.execute(f"PRAGMA busy_timeout = {most_ms}")
            self._waits_ms = most_ms

    def _log_is_long(self) -> bool:
        """Whether a reader kept the log from being emptied: who commits when it lets go moves all of it."""
        try:
            return os.stat(self._log).st_size > _LONG_LOG_BYTES
        except OSError:
            return False

    def _as_fits(self, operations: Sequence[Operation]) -> list[Any]:
        """Write on a full disk what still fits, and take no new calls when an earlier one's outcome did not."""
        outcomes: list[Any] = []
        full: Failure | None = None
        for operation in operations:
            held_back = full is not None and isinstance(operation, Reserve)
            outcome = full if held_back else self._alone(operation)
            if isinstance(outcome, Failure) and isinstance(outcome.error, StoreFull):
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
            return self._transact([operation], [])[0]
        except sqlite3.Error as error:
            return Failure(store_fault(error, self._where))
        except Exception as error:
            # Whatever it is, it belongs to the caller of this operation; the others are served.
            return Failure(error)

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

    def _transact(self, operations: Sequence[Operation], came_to: list[Any]) -> list[Any]:
        """Commit operations and return their outcomes in the list that is given."""
        outcomes: list[Any] | None = None
        with self._guard:
            try:
                if self._connection.in_transaction:  # an interrupt kept it from being undone
                    self._undo()
                self._connection.execute("BEGIN IMMEDIATE")
                outcomes = self._apply_all(operations)
                self._connection.execute("COMMIT")
                came_to += outcomes
            except BaseException as error:
                # An interrupt that came meanwhile is raised when the commit is back.
                if outcomes is not None and not self._connection.in_transaction and not isinstance(error, Exception):
                    came_to += outcomes
                    self._remember()
                else:
                    self._undo()
                raise
            try:
                self._remember()
            except BaseException:
                self._remember()
                raise
        return came_to

    def _remember(self) -> None:
        """Keep what stands in the file now; may be done twice."""
        self._till.committed()
        self._shelf.committed()
        self.asked.committed()
        self._owner.committed()

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
        return Failure(error)
