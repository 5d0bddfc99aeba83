"""Waiting for money: first come, first served, woken by whatever frees some.

A call that would pass the cap joins the line. One look-out a process watches the store's version, which changes
when any process settles, releases or raises; then the head of the line tries again, and as many after it as fit.
When nothing is in flight anywhere that could free money, the run is paused: it stops there, or waits for the cap to
be raised. Who waits holds no slot: other runs may have money.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from ._abort import Abort
from ._disk import Disk
from ._errors import RunStopped
from ._lanes import Turn
from ._pauses import AT_THE_BUDGET, AT_THE_STORES_BUDGET, Pauses
from .money import credits_of, show_credits, show_enough
from .questions import Question
from .stores import Answered, Books, Granted, OpenElsewhere, OverCap, Store

__all__ = ["BudgetLine", "OnCap"]

OnCap = Literal["stop", "wait"]

_POLL_S = 0.02


class _Queue:
    """A lock whose waiters come first come, first served; ten thousand of them can leave at once."""

    def __init__(self) -> None:
        self._taken = False
        self._waiters: OrderedDict[asyncio.Future[None], None] = OrderedDict()

    async def __aenter__(self) -> None:
        if not self._taken:
            self._taken = True
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._hand_on()
            self._waiters.pop(waiter, None)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._hand_on()

    def _hand_on(self) -> None:
        while self._waiters:
            waiter, _ = self._waiters.popitem(last=False)
            if not waiter.done():
                waiter.set_result(None)
                return
        self._taken = False


class BudgetLine:
    """One run's place at its budget.

    :param on_cap: ``stop`` ends the run, resumable and with everything kept; ``wait`` pauses it until a raise.
    :param emit: takes the events ``run.budget_paused`` and ``run.budget_raised``.
    :param pauses: where the run is said to be paused. :param disk: holds questions back while it is full.
    :ivar waiting: calls that wait for money.
    """

    def __init__(
        self,
        store: Store,
        budget: str,
        *,
        on_cap: OnCap,
        abort: Abort,
        emit: Callable[[str, Mapping[str, Any]], None],
        pauses: Pauses,
        disk: Disk,
    ) -> None:
        self._store = store
        self._budget = budget
        self._on_cap = on_cap
        self._abort = abort
        self._emit = emit
        self._pauses = pauses
        self._disk = disk
        self._head = _Queue()
        self.waiting = 0
        self._freed = asyncio.Event()
        self._paused_at: str | None = None

    async def reserve(
        self, question: Question, *, worst: int, run: str, thread: str, look: bool, turn: Turn
    ) -> Granted | Answered | OpenElsewhere:
        """Reserve the worst price of a call, waiting in line while the cap does not allow it.

        :param turn: holds a slot; given back while money is waited for, and held again when this returns.
        :raises RunStopped: nothing in flight can free money, and the run stops at its cap.
        :raises RunAborted: the run ended while it waited.
        """

        reserve = partial(
            self._store.reserve, question, budget=self._budget, run=run, thread=thread, worst=worst, look=look
        )
        if not self.waiting:
            result: Granted | Answered | OpenElsewhere | OverCap = await self._disk.when_there_is_room(reserve, turn)
            if not isinstance(result, OverCap):
                return result
        turn.give()
        self.waiting += 1
        try:
            attempt = partial(self._disk.when_there_is_room, reserve, turn)
            return await self._abort.until(self._wait_in_line(attempt, worst, turn))
        finally:
            self.waiting -= 1

    async def hedge(self, call_id: str) -> str | None:
        """Take money for a second request of a call in flight; ``None`` where there is none that nobody waits for.

        :raises StoreError: the store cannot be written.
        """
        return None if self.waiting else await self._store.hedge(call_id)

    def freed(self) -> None:
        """Say that a call of this process ended, so that money may be free."""
        self._freed.set()

    async def _wait_in_line(
        self, attempt: Callable[[], Any], worst: int, turn: Turn
    ) -> Granted | Answered | OpenElsewhere:
        async with self._head:
            while True:
                await turn.take(again=True)
                self._freed.clear()
                result: Granted | Answered | OpenElsewhere | OverCap = await attempt()
                if not isinstance(result, OverCap):
                    self._leave_pause(worst)
                    return result
                if result.books.reserved == 0:
                    self._enter_pause(worst, result)
                turn.give()
                await self._money_may_be_free(result.version)

    async def _money_may_be_free(self, seen: int) -> None:
        while self._store.version() == seen and not self._freed.is_set():
            await asyncio.sleep(_POLL_S)

    def _enter_pause(self, worst: int, over: OverCap) -> None:
        at = AT_THE_STORES_BUDGET if over.of_store else AT_THE_BUDGET
        if self._paused_at == at:
            return
        if self._paused_at is not None:
            self._pauses.leave(self._paused_at)
        self._paused_at = at
        waits = {"waits": self._on_cap == "wait"}
        self._emit("run.budget_paused", {"asked": credits_of(worst), **_figures(over.books, over.of_store), **waits})
        self._pauses.enter(at)
        if self._on_cap == "stop":
            reason = RunStopped(
                self._stopped_at_store(worst, over) if over.of_store else _stopped_text(worst, over.books)
            )
            self._abort.set(reason)
            raise reason

    def _stopped_at_store(self, worst: int, over: OverCap) -> str:
        own = self._store.books(self._budget)
        is_first = own.spent + own.uncertain == 0
        return _store_stopped_text(worst, over.books, self._store.where, is_first=is_first)

    def _leave_pause(self, worst: int) -> None:
        if self._paused_at is None:
            return
        whole = self._store.store_books() if self._paused_at == AT_THE_STORES_BUDGET else None
        books = whole or self._store.books(self._budget)
        self._emit("run.budget_raised", {"asked": credits_of(worst), **_figures(books, whole is not None)})
        self._pauses.leave(self._paused_at)
        self._paused_at = None


def _figures(books: Books, of_store: bool) -> dict[str, Any]:
    return {
        "spent": credits_of(books.spent + books.uncertain),
        "reserved": credits_of(books.reserved),
        "cap": credits_of(books.cap),
        "of": "store" if of_store else "job",
    }


def _store_stopped_text(worst: int, books: Books, where: str, *, is_first: bool) -> str:
    spent, price = books.spent + books.uncertain, show_credits(worst)
    jobs = f"all jobs of the store {where} together have spent {show_credits(spent)} of the {show_credits(books.cap)}"
    if is_first:
        why = f"the job cannot afford its first call, which may cost {price}: {jobs} credits that it may spend"
    else:
        why = f"{jobs} credits that it may spend, and the next call may cost {price}"
    return (
        f"{why}; `planloom store cap {show_enough(spent + worst)}` or more raises that, then run it again: what is "
        "answered is not asked again"
    )


def _stopped_text(worst: int, books: Books) -> str:
    spent, cap, price = books.spent + books.uncertain, show_credits(books.cap), show_credits(worst)
    unsure = f", {show_credits(books.uncertain)} of it for calls of unknown outcome" if books.uncertain else ""
    if spent:
        why = f"has spent {show_credits(spent)} of {cap} credits{unsure}, and the next call may cost {price}"
    else:
        why = f"cannot afford its first call, which may cost {price}: its budget is {cap} credits"
    needed = show_enough(spent + worst)
    return f"the job {why}; run it again with --cap {needed} or more: what is answered is not asked again"
