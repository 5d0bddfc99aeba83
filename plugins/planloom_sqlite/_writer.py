"""Who commits: the event loop itself what is small, where the disk is quick and nobody else writes, and else a thread.

What one turn of the loop asks for is one transaction. On the loop it costs no change of threads, and no statement waits
until a busy loop gives Python's lock back. The thread takes what may be long, so that the loop waits neither for the
file's lock, nor for a slow disk, nor while large texts are packed; it also renews the lease. They take turns: what is
asked for while the thread is at work is committed when its work is over, in the order in which it was asked for.

On the thread batches grow as the disk is slow: while one commit is on its way to the disk the next gathers by itself.
There is no timer, and no upper bound but for the rows of threads and events, which nobody waits for. Whatever fails,
every waiter is told, and the thread lives on.

Ctrl-C is raised wherever Python calls something on the main thread, most of all when a commit is back. So what is asked
for stays in one list until it is in the file or in the thread's hands, which it leaves in the same step; and what must
not be left undone can be done twice.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from asyncio import get_running_loop
from collections.abc import Sequence
from typing import Any

from planloom import StoreError, StoreFull, StoreLocked
from planloom.stores import Granted

from ._commits import Commits, Failure
from ._lots import LOT, MOST_ROWS, Waiter, in_order, is_small
from ._operations import End, Operation, Release
from ._pace import Pace

__all__ = ["Writer"]

_RETRY_S = 0.01
_OWED_S = 1.0
"""After which what is owed is tried again."""


class Writer:
    """Commits operations in batches.

    :param where: what to call the store in messages.
    :ivar asked: which questions are stored.
    """

    def __init__(self, commits: Commits, where: str) -> None:
        self._commits = commits
        self._where = where
        self._process = os.getpid()
        self.asked = commits.asked
        self._pace = Pace()
        # Any loop adds to its end, without a lock. What it begins with is moved by who holds the lock, but not while a
        # loop commits it.
        self._gathered: list[Waiter] = []
        self._gathers: asyncio.AbstractEventLoop | None = None
        # Guards what follows. It is held for a few steps, never during a commit. Entered by itself, since an interrupt
        # within `Condition.__enter__` would leave it taken for ever.
        self._lock = threading.RLock()
        self._turn = threading.Condition(self._lock)
        self._taken_by: asyncio.AbstractEventLoop | threading.Thread | None = None
        self._held_on: list[asyncio.AbstractEventLoop] = []
        self._queue: list[Waiter] = []
        self._later: list[Waiter] = []
        self._owed: list[Waiter] = []  # what nobody waits for and a full disk or a lock kept from being written
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
        gathered = self._gathered
        gathered.append((operation, future))
        if self._gathers is not loop:
            loop.call_soon(self._hand_over)
            self._gathers = loop
        # The loop of who ends the store may have no further turn.
        if len(gathered) % LOT == 0 or self._ended or isinstance(operation, End):
            self._hand_over()
        return future

    def abandon(self, granted: Granted) -> None:
        """Release a call that was granted to somebody who no longer waits for it."""
        with self._lock:
            self._queue.append((Release(granted.call_id), None))
            self._turn.notify()

    # --- on the loops

    def _hand_over(self) -> None:
        """Commit what is gathered, or leave it to the thread, or where it is until who is at work is done."""
        try:
            self._gathers = None
            if os.getpid() != self._process:
                self._refuse_in_copy()
            else:
                self._commit_on(get_running_loop())
                if self._ended:
                    self._refuse_rest()
        except BaseException:  # an interrupt
            get_running_loop().call_soon(self._hand_over)
            raise

    def _commit_on(self, loop: asyncio.AbstractEventLoop) -> None:
        came_to: list[Any] = []
        is_mine = False
        try:
            with self._lock:
                count, batch, later = self._to_commit_on(loop)
                if not count:
                    return
                self._taken_by, is_mine = loop, True
            self._at_once([operation for operation, _ in batch], came_to)
        finally:
            if is_mine:
                try:
                    self._leave(loop, count, batch, later, came_to)
                except BaseException:
                    self._leave(loop, count, batch, later, came_to)
                    raise

    def _to_commit_on(self, loop: asyncio.AbstractEventLoop) -> tuple[int, list[Waiter], list[Waiter]]:
        """Return how many operations to take up now, those of them to commit, and those to commit later."""
        count = len(self._gathered)
        if not count:
            pass
        elif isinstance(self._taken_by, asyncio.AbstractEventLoop):  # which may be at the same operations
            self._hold_back(loop)
        elif self._queue or self._later or self._ended or not self._pace.allows():
            self._pass_on(count)
        else:
            batch, later = in_order(self._gathered[:count], most_alone=MOST_ROWS)
            if not is_small(batch):
                self._pass_on(count)
            elif self._taken_by is not None:
                self._hold_back(loop)
            elif batch:
                return count, batch, later
            else:  # whoever asked was cancelled
                del self._gathered[:count]
        return 0, [], []

    def _hold_back(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop not in self._held_on:
            self._held_on.append(loop)

    def _pass_on(self, count: int) -> None:
        """Leave what was gathered first to the thread."""
        # No call between the two: an interrupt comes before both or after them.
        self._queue += self._gathered[:count]
        del self._gathered[:count]
        self._turn.notify()

    def _at_once(self, operations: Sequence[Operation], came_to: list[Any]) -> None:
        began, busy = time.perf_counter(), time.thread_time()
        self._commits.at_once(operations, came_to)
        if came_to:
            self._pace.took(time.perf_counter() - began, busy_s=time.thread_time() - busy)
        else:
            self._pace.pause()

    def _leave(
        self,
        loop: asyncio.AbstractEventLoop,
        count: int,
        batch: Sequence[Waiter],
        later: Sequence[Waiter],
        came_to: Sequence[Any],
    ) -> None:
        """End a turn of a loop, and tell its outcomes if there are any; may be done twice."""
        with self._lock:
            if self._taken_by is loop:
                # No call between these, again.
                if came_to:
                    self._gathered[:count] = later
                else:
                    self._queue += self._gathered[:count]
                    del self._gathered[:count]
                self._taken_by = None
            self._wake_others()
        if came_to:
            if later:
                loop.call_soon(self._hand_over)
                self._gathers = loop
            self._tell(batch, came_to, here=loop)

    def _wake_others(self) -> None:
        """Let the others commit, now that nobody does."""
        while self._held_on:
            try:
                self._held_on[-1].call_soon_threadsafe(self._hand_over)
            except RuntimeError:  # it is closed
                self._pass_on(len(self._gathered))
            self._held_on.pop()
        if self._queue:
            self._turn.notify()

    def _refuse_rest(self) -> None:
        """Tell whoever came after the end, so that nobody waits for ever."""
        with self._lock:
            lot, self._queue = self._queue, []
        closed = StoreError(f"the store {self._where} is closed; open it again")
        self._tell(lot, [Failure(closed)] * len(lot))

    def _refuse_in_copy(self) -> None:
        """Refuse what is asked for in a copy of the process that opened the store: it has no thread that writes, and
        SQLite's connections must not be used in a copy."""
        lot, self._gathered, self._gathers = self._gathered, [], None
        copied = StoreError(f"the store {self._where} was opened before this process was forked; open it again in it")
        here = get_running_loop()
        self._resolve([(future, Failure(copied)) for _, future in lot if future and future.get_loop() is here])

    # --- on the thread

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            self._ended = True
            self._give_turn()
            self._refuse_rest()

    def _serve(self) -> None:
        going_on = True
        while going_on:
            batch = self._take()
            outcomes = self._commits.outcomes([operation for operation, _ in batch])
            self._owed = [one for one, came_to in zip(batch, outcomes, strict=True) if _is_owed(one, came_to)]
            going_on = not (batch and isinstance(batch[-1][0], End))  # whose rank is the last
            if going_on:
                self._give_turn()
            else:
                self._commits.close()
            self._tell(batch, outcomes)

    def _take(self) -> list[Waiter]:
        """Wait for something to write, or for the time to renew the lease; take the turn, and all there is to write,
        in order of rank."""
        with self._lock:
            self._turn.wait_for(self._may_begin, _OWED_S if self._owed else self._commits.renew_every_s)
            while self._taken_by is not None:  # when it is time for the lease
                self._turn.wait(_RETRY_S)
            self._taken_by = self._thread
            lot = [*self._later, *self._queue]
            self._queue.clear()
            if not lot:  # whose loop was closed, or interrupted as it was about to hand over, is served with the lease
                self._gathers = None
                lot = self._gathered[:]
                del self._gathered[: len(lot)]
        batch, self._later = in_order([*self._owed, *lot])
        return batch

    def _may_begin(self) -> bool:
        return self._taken_by is None and bool(self._queue or self._later)

    def _give_turn(self) -> None:
        with self._lock:
            if self._taken_by is self._thread:
                self._taken_by = None
                self._wake_others()

    # --- back to the loops

    def _tell(
        self, batch: Sequence[Waiter], outcomes: Sequence[Any], here: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """Hand the outcomes of a batch over, with one call a loop.

        :param here: the loop that this runs on, where what it asked for is told at once.
        """
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future is not None:
                by_loop.setdefault(future.get_loop(), []).append((future, outcome))
        for loop, pairs in by_loop.items():
            if loop is here:
                self._resolve(pairs)
                continue
            try:
                loop.call_soon_threadsafe(self._resolve, pairs)
            except RuntimeError:  # the loop is closed: nobody waits there any more
                for _, outcome in pairs:
                    self._take_back(outcome)

    def _resolve(self, pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
        try:
            self._resolve_each(pairs)
        except BaseException:  # an interrupt
            self._resolve_each(pairs)
            raise

    def _resolve_each(self, pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
        """Tell each; may be done twice, since who was told is done, and a call that was given back stays so."""
        for future, outcome in pairs:
            if future.done():
                if future.cancelled():
                    self._take_back(outcome)
            elif type(outcome) is Failure:
                future.set_exception(outcome.error)
            else:
                future.set_result(outcome)

    def _take_back(self, outcome: Any) -> None:
        if isinstance(outcome, Granted):
            self.abandon(outcome)


def _is_owed(waiter: Waiter, outcome: Any) -> bool:
    """Whether an operation is to be tried again with the next batch: a call that nobody has would stay sent."""
    return waiter[1] is None and isinstance(outcome, Failure) and isinstance(outcome.error, (StoreFull, StoreLocked))
