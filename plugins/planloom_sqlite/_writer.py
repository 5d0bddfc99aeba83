"""Who commits: the event loop itself what is small, where the disk is quick and nobody else writes, and else a thread.

What one turn of the loop asks for is one transaction. On the loop it costs no change of threads, and no statement waits
until a busy loop gives Python's lock back. The thread takes what may be long, so that the loop waits neither for the
file's lock, nor for a slow disk, nor while large texts are packed; it also renews the lease. They take turns: what is
asked for while the thread is at work is committed when its work is over, in the order in which it was asked for.

On the thread batches grow as the disk is slow: while one commit is on its way to the disk the next gathers by itself.
There is no timer, and no upper bound but for the rows of threads and events, which nobody waits for. Whatever fails,
every waiter is told, and the thread lives on.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from asyncio import get_running_loop
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from planloom import StoreError
from planloom.stores import Granted

from ._commits import Commits, Failure
from ._connections import Readers
from ._lots import LOT, MOST_ROWS, Waiter, in_order, is_small
from ._operations import End, Operation, Release
from ._pace import Pace

__all__ = ["Writer"]

_RETRY_S = 0.01


class Writer:
    """Commits operations in batches.

    :param readers: whose guard is held during a transaction.
    :param busy_timeout_s: how long the thread waits for other processes.
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
        self._commits = Commits(
            connection, readers, where=where, lease_s=lease_s, busy_timeout_s=busy_timeout_s, clock=clock
        )
        self._where = where
        self.asked = self._commits.asked
        self._pace = Pace()
        self._gathered: list[Waiter] = []
        self._gathers: asyncio.AbstractEventLoop | None = None
        # Guards what follows. It is held for a few steps, never during a commit.
        self._turn = threading.Condition()
        self._is_taken = False
        self._queue: list[Waiter] = []
        self._later: list[Waiter] = []
        self._holds: asyncio.AbstractEventLoop | None = None
        self._ended = False
        # A daemon: a program that ends without closing its store must not hang.
        self._thread = threading.Thread(target=self._run, name="planloom-store", daemon=True)

    def start(self) -> None:
        """Take a lease, give up what owners before left open, and begin.

        Without room for a lease it begins too: who only reads needs none, and the next write takes one or fails.

        :raises StoreError: the store cannot be written for another reason.
        """
        self._commits.start()
        self._thread.start()

    @property
    def owner_id(self) -> int:
        """The owner that the store writes as."""
        return self._commits.owner_id

    def submit(self, operation: Operation) -> asyncio.Future[Any]:
        """Have an operation written; the future is done when the transaction that holds it is committed.

        What is asked for in one turn of the loop is written together when that turn is over, or is a lot: a turn in
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
        if len(gathered) % LOT == 0 or self._ended or isinstance(operation, End):
            self._hand_over()
        return future

    def abandon(self, granted: Granted) -> None:
        """Release a call that was granted to somebody who no longer waits for it."""
        self._put([(Release(granted.call_id), None)])

    # --- on the loops

    def _hand_over(self) -> None:
        self._gathers = None
        gathered, self._gathered = self._gathered, []
        if gathered and not self._commit_here(gathered):
            self._put(gathered)
        if self._ended:
            self._refuse_rest()

    def _commit_here(self, lot: list[Waiter]) -> bool:
        """Commit a lot on the loop, or hold it there until the thread is done; return whether the one or the other."""
        batch, later = in_order(lot, most_alone=MOST_ROWS)
        if not (self._pace.allows() and is_small(batch)):
            return False
        with self._turn:
            if self._queue or self._later or self._ended:
                return False
            if self._is_taken:
                self._gathered, self._holds = lot, get_running_loop()
                return True
            self._is_taken = True
        outcomes: list[Any] | None = None
        try:
            outcomes = self._at_once([operation for operation, _ in batch])
        finally:
            if outcomes is None:  # for an interrupt, too
                self._put(batch)
            self._give_turn()
        if outcomes is not None:
            waiting = zip(batch, outcomes, strict=True)
            self._resolve([(future, outcome) for (_, future), outcome in waiting if future is not None])
        if later:
            self._gathered, self._gathers = later, get_running_loop()
            self._gathers.call_soon(self._hand_over)
        return True

    def _at_once(self, operations: Sequence[Operation]) -> list[Any] | None:
        began, busy = time.perf_counter(), time.thread_time()
        outcomes = self._commits.at_once(operations)
        if outcomes is None:
            self._pace.pause()
        else:
            self._pace.took(time.perf_counter() - began, busy_s=time.thread_time() - busy)
        return outcomes

    def _put(self, lot: Sequence[Waiter]) -> None:
        """Leave a lot to the thread."""
        with self._turn:
            self._queue += lot
            self._turn.notify()

    def _give_turn(self) -> None:
        """Let the others commit, and wake who held something back meanwhile."""
        with self._turn:
            self._is_taken = False
            holds, self._holds = self._holds, None
            if self._queue:
                self._turn.notify()
        if holds is not None:
            with suppress(RuntimeError):  # it is closed: what it held goes with what another loop asks for
                holds.call_soon_threadsafe(self._hand_over)

    def _refuse_rest(self) -> None:
        """Tell whoever came after the end, so that nobody waits for ever."""
        with self._turn:
            lot, self._queue = self._queue, []
        closed = StoreError(f"the store {self._where} is closed; open it again")
        self._tell(lot, [Failure(closed)] * len(lot))

    # --- on the thread

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            self._ended = True
            self._put(self._later)
            self._give_turn()
            self._refuse_rest()

    def _serve(self) -> None:
        going_on = True
        while going_on:
            batch = self._take()
            outcomes = self._commits.outcomes([operation for operation, _ in batch])
            going_on = not (batch and isinstance(batch[-1][0], End))  # whose rank is the last
            if going_on:
                self._give_turn()
            else:
                self._commits.close()
            self._tell(batch, outcomes)

    def _take(self) -> list[Waiter]:
        """Wait for something to write, or for the time to renew the lease; take the turn, and all there is to write,
        in order of rank."""
        with self._turn:
            self._turn.wait_for(self._may_begin, self._commits.renew_every_s)
            while self._is_taken:  # when it is time for the lease
                self._turn.wait(_RETRY_S)
            self._is_taken = True
            lot, self._queue = [*self._later, *self._queue], []
        batch, self._later = in_order(lot)
        return batch

    def _may_begin(self) -> bool:
        return not self._is_taken and bool(self._queue or self._later)

    # --- back to the loops

    def _tell(self, batch: Sequence[Waiter], outcomes: Sequence[Any]) -> None:
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
            elif type(outcome) is Failure:
                future.set_exception(outcome.error)
            else:
                future.set_result(outcome)

    def _take_back(self, outcome: Any) -> None:
        if isinstance(outcome, Granted):
            self.abandon(outcome)
