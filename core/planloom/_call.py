"""One call: its attempts under one reservation, from the slot it was granted to the commit of what came of it.

It goes on for a while when the worker that asked has gone, as long as a request is in flight: an answer that is paid
for is kept. Between two attempts it ends with its worker.

The last attempt, where it was refused for the server's load, waits for the calls that were sent before it: if one of
them is answered the number in flight is being found, and this call only came too early. See :mod:`._tries`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import attrs

from ._abort import Abort
from ._disk import Disk
from ._effort import Effort
from ._errors import AuthenticationFailed, RunAborted, StoreError
from ._hedging import Hedge
from ._lanes import Lane, Turn
from ._often_made import often_made
from ._request import FOR_ITS_LOAD, reply_to
from ._slots import Share
from ._tries import Tries, holding_s
from .clients import FatalError, ModelClient, ModelError, QuotaError, TransientError, was_unsent
from .control import DRAIN_S
from .data_classes import frozen
from .questions import Question, Reply
from .settings import RoleSettings
from .stores import Answered, Granted, Store
from .workers import Asker

__all__ = ["Call", "Errand", "EventSink", "Surroundings"]

EventSink = Callable[[str, Mapping[str, Any]], None]


@often_made(kw_only=True)
class Errand:
    """What is asked, for whom, where."""

    question: Question
    role: RoleSettings
    asker: Asker
    effort: Effort
    client: ModelClient
    lane: Lane
    worst: int


@frozen(kw_only=True)
class Surroundings:
    """What the calls of one run have in common.

    :ivar over: told of each call when it is over. :ivar hedge: takes money for a second request of a call.
    """

    loop: asyncio.AbstractEventLoop
    store: Store
    disk: Disk
    abort: Abort
    emit: EventSink
    share: Share
    random: random.Random
    over: Callable[[Call], None]
    hedge: Callable[[str], Awaitable[str | None]]


class Call:
    """One call; see above.

    :param turn: holds a slot. :param grant: reserves anew, when an attempt took its reservation with it.
    :ivar answer: its reply, or why there is none; for one who waits, by whom it may be cancelled.
    :ivar is_cut: it was ended by :meth:`cut`. :ivar reply: its answer, as it is stored once it has a version.
    """

    __slots__ = (
        "_answers",
        "_asking",
        "_at",
        "_attempt",
        "_begun",
        "_billed",
        "_closing",
        "_deserted",
        "_errand",
        "_grant",
        "_hedge",
        "_open",
        "_tries",
        "_turn",
        "answer",
        "is_cut",
        "reply",
        "task",
    )

    def __init__(
        self,
        at: Surroundings,
        errand: Errand,
        turn: Turn,
        granted: Granted,
        grant: Callable[[Errand, Turn], Awaitable[Granted | Answered]],
    ) -> None:
        self._at = at
        self._errand = errand
        self._turn = turn
        self._grant = grant
        self._open: str | None = granted.call_id
        self._billed = False
        self._hedge: Hedge | None = None
        self._attempt = 0
        self._answers = errand.lane.slots.answers
        self._tries: Tries | None = None
        self._begun = False
        self._asking = False  # from the request until its answer is committed, or it brought none
        self._closing = False
        self._deserted = self.is_cut = False
        self.reply: Reply | None = None
        self.answer: asyncio.Future[Reply] = at.loop.create_future()
        self.task = at.loop.create_task(self._run())

    @property
    def question(self) -> Question:
        """What it asks."""
        return self._errand.question

    @property
    def is_out(self) -> bool:
        """Whether a request is out, or its answer on its way to the store."""
        return self._asking

    @property
    def was_sent(self) -> bool:
        """Whether it sent a request."""
        return self._attempt > 0 or (self._hedge is not None and self._hedge.was_sent)

    def desert(self) -> None:
        """Say that nobody waits for it any more: nothing else is sent, and what is in flight has half a minute left."""
        self._deserted = True
        if self._closing:
            return
        if self._begun and not self._asking:
            self.task.cancel()
            return
        end = asyncio.get_running_loop().call_later(DRAIN_S, self.cut)
        self.task.add_done_callback(lambda _: end.cancel())

    def cut(self) -> None:
        """End it at once; it stays charged as uncertain if a request may be out.

        An answer in hand is still kept, unless it is cut again; what closes it is not cut short.
        """
        again, self.is_cut = self.is_cut, True
        is_in_hand = self.reply is not None and not self._closing
        # A task that is cancelled before its first step never gets to close its call; it ends by itself at that step.
        if self._begun and again == is_in_hand:
            self.task.cancel()

    async def _run(self) -> None:
        """Bring the answer to who waits for it.

        Not as the result of the task: a wait that leaves the task alone when it is cancelled takes twice as many turns
        of the loop.
        """
        self._begun = True
        try:
            reply = await self._asked()
        except Exception as error:
            if not self.answer.done():
                self.answer.set_exception(error)
                self.answer.exception()  # nobody may be waiting for it
        except BaseException:
            self.answer.cancel()
            raise
        else:
            if not self.answer.done():
                self.answer.set_result(reply)
        finally:
            self._at.over(self)

    async def _asked(self) -> Reply:
        try:
            self._at.abort.check()
            if self.answer.cancelled():  # who asked was cancelled in the very turn in which it was let through
                raise asyncio.CancelledError
            while True:
                if self._open is None:
                    granted = await self._grant(self._errand, self._turn)
                    if isinstance(granted, Answered):
                        return attrs.evolve(granted.reply, cached=True)
                    self._open = granted.call_id
                try:
                    reply = await self._ask()
                except (TransientError, QuotaError) as error:
                    await self._after(error)
                    continue
                return await self._answered(reply)
        except ModelError as error:
            # Between two attempts nothing is out that could be billed, whatever the worker's deadline says.
            self._billed = self._asking and error.maybe_billed
            if self._asking:
                self._emit(error, None)
            hopeless = _ends_the_run(error, self._errand.role)
            if hopeless is None:
                raise
            self._at.abort.set(hopeless)
            raise hopeless from error
        except asyncio.CancelledError as cancelled:
            if was_unsent(cancelled):
                self._billed = False
                self._attempt -= 1
            raise
        finally:
            await self._close()

    async def _ask(self) -> Reply:
        errand = self._errand
        self._billed = self._asking = self._turn.asked = True
        self._attempt += 1
        errand.effort.attempts += 1
        after_s = errand.lane.hedge_after_s
        if after_s is not None and (self._hedge is None or not self._hedge.was_sent):
            return await self._hedged(after_s)
        with errand.effort.limit():
            return await reply_to(errand, self._turn.began)

    async def _hedged(self, after_s: float) -> Reply:
        """Ask as :meth:`_ask` does, and once more where no answer begins in that time: once a call."""
        assert self._open is not None
        hedge = self._hedge = Hedge(self._at, self._errand, self._turn, self._open, wanted=self._is_wanted)
        with self._errand.effort.limit():
            reply = await hedge.answer(after_s)
        self._open = hedge.call_id
        return reply

    def _is_wanted(self) -> bool:
        return not self._deserted and self._at.abort.reason is None

    async def _answered(self, reply: Reply) -> Reply:
        self._turn.began()
        self._errand.lane.slots.answered(self._turn.number)
        assert self._open is not None
        call_id, store = self._open, self._at.store
        self.reply = reply
        version = await self._at.disk.keep(lambda: store.settle(call_id, reply), locked_too=True)
        self._open = None
        self.reply = reply = reply.stored_as(version)
        return reply

    async def _close(self) -> None:
        """Close a call that brought no answer (free, or charged at its worst price when it may have been billed), and
        give its slot back, which is free only then."""
        self._closing = True
        call_id, self._open = self._open, None
        try:
            if self._hedge is not None:
                await self._hedge.close()
            if call_id is not None:
                await self._close_at_store(call_id)
        finally:
            self._turn.give()

    async def _close_at_store(self, call_id: str) -> None:
        store = self._at.store
        close = partial(store.mark_uncertain if self._billed else store.release, call_id)
        if self._billed:
            self._errand.effort.uncertain += self._errand.worst
        try:
            await asyncio.shield(close() if self.is_cut else self._at.disk.keep(close, locked_too=True))
        except (StoreError, asyncio.CancelledError):
            self._errand.lane.unclosed[call_id] = close
            raise

    # --- after an attempt that brought no answer

    async def _after(self, error: TransientError | QuotaError) -> None:
        """Wait until the next attempt may be sent.

        :raises ModelError: there is none.
        """
        tries = self._tries = self._tries or Tries(self._answers)
        self._asking = False
        self._billed = error.maybe_billed
        if error.maybe_billed:
            await self._leave_uncertain()
        if isinstance(error, QuotaError):
            wait_s = self._errand.lane.slots.out_of_quota(self._at.share, self._turn.number, error)
            last = self._deserted
        else:
            last = await self._was_last(error, tries)
            wait_s = self._wait_s(error, tries)
        self._emit(error, None if last or self._at.abort.reason else wait_s)
        if last:
            raise error
        self._turn.give()
        await self._at.abort.until(self._until_next(error, wait_s))
        tries.waited_s = wait_s

    async def _leave_uncertain(self) -> None:
        call_id, store = self._open, self._at.store
        assert call_id is not None
        await self._at.disk.keep(lambda: store.mark_uncertain(call_id))
        self._open = None
        self._errand.effort.uncertain += self._errand.worst

    async def _was_last(self, error: TransientError, tries: Tries) -> bool:
        slots, number = self._errand.lane.slots, self._turn.number
        if error.error_class in FOR_ITS_LOAD:
            slots.refused(number, holding_s(error))
        is_spent = tries.count(error, slots.answers)
        if self._deserted or not is_spent:
            return self._deserted
        if not tries.may_be_for_others(error):
            return True
        self._turn.give()
        if not await self._at.abort.until(self._is_one_before_answered(number, tries.answers)):
            return True
        tries.begin_again(slots.answers)
        return False

    async def _is_one_before_answered(self, number: int, answers: int) -> bool:
        await self._note_nothing_out()
        return await self._errand.lane.slots.answer_to_earlier(number, answers)

    def _wait_s(self, error: TransientError, tries: Tries) -> float:
        asked_s = holding_s(error)
        if asked_s is not None and error.error_class not in FOR_ITS_LOAD:
            self._errand.lane.slots.hold(asked_s)
        return tries.wait_s(error, self._at.random)

    async def _until_next(self, error: TransientError | QuotaError, wait_s: float) -> None:
        await self._note_nothing_out()
        if isinstance(error, TransientError):
            if error.retry_after_s is not None:
                await asyncio.sleep(wait_s)
            else:
                with self._errand.effort.limit():
                    await asyncio.sleep(wait_s)
        await self._turn.take(again=True)
        await self._note_going_out()

    async def _note_nothing_out(self) -> None:
        """Have it released should this process die while it waits."""
        store, call_id = self._at.store, self._open
        if call_id is not None:
            # Where that cannot be written, a process that is killed meanwhile leaves it charged, which is safe.
            with suppress(StoreError):
                await store.mark_waiting(call_id)

    async def _note_going_out(self) -> None:
        """Have it uncertain should this process die from now on. One that was given up meanwhile, as one whose owner
        was taken for dead, owes nothing: it was refused; and is to be reserved anew."""
        store, call_id = self._at.store, self._open
        if call_id is None:
            return
        if not await self._at.disk.when_there_is_room(lambda: store.mark_sent(call_id), self._turn):
            await self._at.disk.keep(lambda: store.release(call_id), locked_too=True)
            self._open = None

    def _emit(self, error: ModelError, next_wait_s: float | None) -> None:
        self._at.emit(
            "run.attempt",
            {
                "thread": self._errand.asker.thread,
                "attempt": self._attempt,
                "class": error.error_class,
                "http_status": error.http_status,
                "waited": 0.0 if self._tries is None else round(self._tries.waited_s, 3),
                "next_wait": None if next_wait_s is None else round(next_wait_s, 3),
            },
        )


def _ends_the_run(error: ModelError, role: RoleSettings) -> RunAborted | None:
    if isinstance(error, FatalError):
        return AuthenticationFailed(f"{error} (role `{role.name}`, endpoint `{role.endpoint}`)")
    return None
