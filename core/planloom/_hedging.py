"""Hedged requests: a question whose answer does not begin is sent a second time, and the first whole answer wins.

After Dean and Barroso, "The Tail at Scale" (CACM 56(2), 2013): where some answers take very much longer than most, a
second request after the time that most take cuts the tail for a few requests more. Off unless an endpoint says
``hedge_after_s``.

Both requests may be billed, so that the second one has its own charge in the books before it is sent. That call is
uncertain from the start (see :meth:`planloom.stores.Store.hedge`), and the first one becomes so when it is cut off: a
hedge never passes a cap, whatever happens to this process. It takes a slot and money only where nobody waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ._errors import StoreError
from ._lanes import Turn
from ._request import FOR_ITS_LOAD, reply_to
from .clients import ModelError, TransientError, mark_unsent, was_unsent
from .questions import Reply

if TYPE_CHECKING:
    from ._call import Errand, Surroundings

__all__ = ["Hedge"]


class Hedge:
    """One attempt of a call, which may be sent twice.

    :param turn: of the first request; it holds a slot. :param call_id: what that one is charged to.
    :param wanted: whether anybody still waits for the answer.
    :ivar was_sent: whether a second request was sent. :ivar call_id: what the answer is settled by.
    """

    def __init__(
        self,
        at: Surroundings,
        errand: Errand,
        turn: Turn,
        call_id: str,
        *,
        wanted: Callable[[], bool],
    ) -> None:
        self._at, self._errand, self._turn = at, errand, turn
        self._wanted = wanted
        self._first_id = self.call_id = call_id
        self._second_id: str | None = None
        self._second_turn = errand.lane.turn(at.share)
        self._first: _Request | None = None
        self._second: _Request | None = None
        self._begun = self._is_closed = False
        self.was_sent = False

    async def answer(self, after_s: float) -> Reply:
        """Return the first whole answer; the other request is cut off, and :meth:`close` sees to what it costs.

        With an answer in hand nothing is waited for: neither a worker's deadline nor a full disk may lose it.

        :raises ModelError: the first request brought none, and neither did the second.
        """
        errand = self._errand
        first = self._first = _Request(errand, self._first_began)
        try:
            await asyncio.wait({first.task}, timeout=after_s)
            if self._is_late(first) and await self._may_send(first):
                second = self._second = _Request(errand, self._second_turn.began)
                await self._either(first, second)
                # Of two answers that come at once the second's stays the ledger's, since its call is the newer one.
                if second.fault is None:
                    self.call_id = self._second_id or self.call_id
                    return second.task.result()
            return await first.task
        except BaseException as error:
            await self.close()
            if isinstance(error, asyncio.CancelledError) and first.owes_nothing:  # also where it was refused before
                mark_unsent(error)
            raise
        finally:
            for task in self._tasks():
                task.cancel()

    def _tasks(self) -> list[asyncio.Task[Reply]]:
        return [request.task for request in (self._first, self._second) if request is not None]

    def _first_began(self) -> None:
        self._begun = True
        self._turn.began()

    def _is_late(self, first: _Request) -> bool:
        return not first.task.done() and not self._begun and self._wanted()

    async def _may_send(self, first: _Request) -> bool:
        """Take a slot and money for a second request, where both are free and it is still needed by then."""
        if not self._second_turn.take_free():
            return False
        try:
            self._second_id = await self._at.hedge(self._first_id)
        except StoreError:  # the first request goes on, and meets the store for itself
            self._second_id = None
        self.was_sent = self._second_turn.asked = self._second_id is not None and self._is_late(first)
        if not self.was_sent:
            await self._give_second_up()
        return self.was_sent

    async def _either(self, first: _Request, second: _Request) -> None:
        """Wait until one brings an answer, or none will: a fault that may pass leaves it to the other."""
        self._errand.effort.attempts += 1
        waiting = {first.task, second.task}
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if first.fault is None or second.fault is None:
                return
            if first.task in done and not isinstance(first.fault, TransientError):
                return
            if second.task in done:
                self._heed(second.fault)

    def _heed(self, fault: BaseException | None) -> None:
        if isinstance(fault, TransientError) and fault.error_class in FOR_ITS_LOAD:
            self._errand.lane.slots.refused(self._second_turn.number, fault.retry_after_s)

    async def close(self) -> None:
        """Close the call whose request brought no answer that is used; once the answer, if there is one, is settled."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await _cut(self._tasks())
        finally:
            self._tell()
            if self.call_id == self._first_id:
                await self._give_second_up()
            else:
                await self._give_first_up()

    async def _give_second_up(self) -> None:
        """Close the second call, which brought nothing: free where it owes nothing, else it stays charged. Its slot is
        free only then."""
        call_id, self._second_id = self._second_id, None
        try:
            if call_id is None:
                return
            if self._second is None or self._second.owes_nothing:
                await self._at.disk.keep(lambda: self._at.store.release(call_id), locked_too=True)
            else:
                self._errand.effort.uncertain += self._errand.worst
        finally:
            self._second_turn.give()

    async def _give_first_up(self) -> None:
        """Close the first call, of which the second's answer made nothing: it was cut off, refused, or answered too."""
        try:
            await self._at.disk.keep(self._first_closed, locked_too=True)
        finally:
            self._second_turn.give()

    async def _first_closed(self) -> None:
        first, store = self._first, self._at.store
        assert first is not None
        if first.fault is None:
            await store.settle(self._first_id, first.task.result())
        elif first.owes_nothing:
            await store.release(self._first_id)
        else:
            await store.mark_uncertain(self._first_id)
            self._errand.effort.uncertain += self._errand.worst

    def _tell(self) -> None:
        if self._second is None:
            return
        first_won = self._first is not None and self._first.fault is None
        won = "second" if self.call_id != self._first_id else "first" if first_won else None
        self._at.emit(
            "run.hedged",
            {"thread": self._errand.asker.thread, "after": self._errand.lane.hedge_after_s, "won": won},
        )


class _Request:
    """One of the two requests.

    :ivar may_be_out: whether anything of it may have left this machine.
    """

    def __init__(self, errand: Errand, began: Callable[[], None]) -> None:
        self.may_be_out = False
        self.task = asyncio.ensure_future(self._reply(errand, began))

    async def _reply(self, errand: Errand, began: Callable[[], None]) -> Reply:
        self.may_be_out = True
        try:
            return await reply_to(errand, began)
        except asyncio.CancelledError as cancelled:
            self.may_be_out = not was_unsent(cancelled)
            raise

    @property
    def fault(self) -> BaseException | None:
        """Why it brought no answer, ``None`` when it did."""
        task = self.task
        return asyncio.CancelledError() if not task.done() or task.cancelled() else task.exception()

    @property
    def owes_nothing(self) -> bool:
        """Whether it was refused, or cut off before it was sent."""
        fault = self.fault
        return not self.may_be_out or (isinstance(fault, ModelError) and not fault.maybe_billed)


async def _cut(requests: Iterable[asyncio.Future[Reply]]) -> None:
    """End requests and wait until they have."""
    sent = list(requests)
    for request in sent:
        request.cancel()
    await asyncio.gather(*sent, return_exceptions=True)
