"""How many calls an endpoint gets at once: found by trying, shared fairly, and none while it asked to be left alone.

The number in flight starts at half the limit, and at sixteen at least (who sets a high limit knows a server that takes
it), and doubles each round trip (one more for each answer) until the server refuses for its load; then it is halved,
once a round trip, and grows by one a round trip. Just below the number that was last refused it grows sixteen times
more slowly, so that a server with a fixed limit is not asked for more every few calls.
Halving needs a sign that others are being served: a server that refuses everybody does so for another reason.

A server that says when to come back (``Retry-After``) holds every worker of its endpoint, and one whose account is used
up is left alone until its breaker lets one call through. Runs take turns, each within its own share. Waiting costs a
future and a place in a dictionary, so that ten thousand can wait and leave at once.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import Callable

from ._breaker import Breaker, Outage
from ._machine_slots import MachineSlots
from .clients import QuotaError

__all__ = ["Share", "Slots"]

_START = 16
_CAUTION = 16
# Another process gives a slot up without a word; between two looks one may lie idle for this long.
_MACHINE_POLL_S = 0.02
# Two processes that share an endpoint pass its slots on with every call, and need not say so.
_SILENT_S = 5.0

TellOutage = Callable[[str, Outage | None], None]


class Share:
    """What one run may have in flight, at all endpoints together.

    :param tell: told the endpoint's name with its outage when a breaker holds the run up, and with ``None`` when it no
        longer does.
    :param tell_crowded: told an endpoint's name once, when the run waits there for slots that other processes hold.
    """

    def __init__(
        self,
        in_flight: int,
        tell: TellOutage = lambda endpoint, outage: None,
        tell_crowded: Callable[[str], None] = lambda endpoint: None,
    ) -> None:
        self.free = in_flight
        self.tell = tell
        self.tell_crowded = tell_crowded
        self.crowded_at: set[str] = set()
        self.waits_at: set[Slots] = set()


class _Line:
    """Who waits for one run: those who were refused before come first."""

    def __init__(self) -> None:
        self._again: OrderedDict[asyncio.Future[int], None] = OrderedDict()
        self._new: OrderedDict[asyncio.Future[int], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._again) + len(self._new)

    def add(self, waiter: asyncio.Future[int], again: bool) -> None:
        (self._again if again else self._new)[waiter] = None

    def remove(self, waiter: asyncio.Future[int]) -> None:
        self._again.pop(waiter, None)
        self._new.pop(waiter, None)

    def pop(self) -> asyncio.Future[int]:
        return (self._again or self._new).popitem(last=False)[0]


class Slots:
    """The slots of one endpoint, shared by all runs of a process, and through ``machine`` by all of a machine.

    :ivar answers: calls that were answered so far. :ivar most: how many may have a slot now, breaker and holds aside.
    """

    def __init__(self, limit: int, *, name: str = "", machine: MachineSlots | None = None) -> None:
        self.name = name
        self.answers = 0
        self._limit = limit
        self._set_window(float(min(max(_START, limit // 2), limit)))
        self._refused_at = math.inf
        self._ramping = True
        self._served = True
        self._machine = machine
        self._breaker = Breaker()
        self._told: set[Share] = set()
        self._flying: set[int] = set()
        self._sent = self._cut_after = self._tripped_after = 0
        self._held_until = 0.0
        self._lines: dict[Share, _Line] = {}
        self._turns: deque[Share] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._news: list[asyncio.Future[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def in_flight(self) -> int:
        """Calls that have a slot now."""
        return len(self._flying)

    def _set_window(self, calls: float) -> None:
        self._window = calls
        self.most = min(int(calls), self._limit)

    # --- taking and giving

    async def acquire(self, share: Share, *, again: bool = False) -> int:
        """Wait for a slot; return the number of the call that may now be sent.

        :param again: the caller had one for the same question before.
        """
        if self._loop is None:  # asking which one runs takes a call to the system each time
            self._loop = asyncio.get_running_loop()
        if self._is_free_for(share):
            return self._send(share)
        waiter: asyncio.Future[int] = self._loop.create_future()
        self._enter(share, waiter, again)
        self._dispatch()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.release(share, waiter.result(), asked=False)
            else:
                self._leave(share, waiter)
            raise

    def take_free(self, share: Share) -> int | None:
        """Return the number of a call that may be sent at once; ``None`` when no slot is free that nobody waits for."""
        return self._send(share) if self._is_free_for(share) else None

    def release(self, share: Share, number: int, *, asked: bool = True) -> None:
        """Give a slot back.

        :param asked: a request was sent with it; who found an answer or no money by then sends none.
        """
        self._flying.discard(number)
        share.free += 1
        if self._breaker.outage is not None and number > self._tripped_after:
            self._breaker.try_again(self._now(), asked=asked)  # it brought no news of the account
        if self._machine is not None:
            self._machine.put_down()
        if self._news:
            self._tell_news()
        if len(share.waits_at) > 1 or self not in share.waits_at:
            for slots in tuple(share.waits_at - {self}):
                slots._dispatch()
        self._dispatch()
        if self._machine is not None:
            self._machine.give_spare(waiting=bool(self._turns))

    def _is_free_for(self, share: Share) -> bool:
        """Whether a call may be sent at once: nobody waits, nothing holds the endpoint up, and there is a slot."""
        return (
            not self._turns
            and share.free > 0
            and self._breaker.outage is None
            and self._wait_s() <= 0
            and self._may_start()
            and (self._machine is None or self._machine.take(self._now()))
        )

    def _enter(self, share: Share, waiter: asyncio.Future[int], again: bool) -> None:
        line = self._lines.setdefault(share, _Line())
        line.add(waiter, again)
        if self not in share.waits_at:
            share.waits_at.add(self)
            self._turns.append(share)
        if self._breaker.is_open:
            self._tell(share)

    def _leave(self, share: Share, waiter: asyncio.Future[int]) -> None:
        line = self._lines.get(share)
        if line is not None:
            line.remove(waiter)

    def _dispatch(self) -> None:
        """Give slots to who waits, as many as there may be now."""
        while self._turns:
            if self._breaker.outage is None and 0 < self.most <= len(self._flying):
                return  # until one is given back, however long the endpoint is held
            wait_s = self._wait_s()
            if wait_s > 0:
                self._look_again_in(wait_s)
                return
            if not self._may_start():
                return
            share = self._whose_turn()
            if share is None:
                return
            if self._machine is not None and not self._machine.take(self._now()):
                self._say_crowded(share, self._machine)
                self._look_again_in(_MACHINE_POLL_S)
                return
            self._start(share)

    def _say_crowded(self, share: Share, machine: MachineSlots) -> None:
        if self.name not in share.crowded_at and machine.refused_s(self._now()) >= _SILENT_S:
            share.crowded_at.add(self.name)
            share.tell_crowded(self.name)

    def _whose_turn(self) -> Share | None:
        """Return the next run that waits and may have one more in flight."""
        for _ in range(len(self._turns)):
            share = self._turns[0]
            if not self._lines[share]:
                self._turns.popleft()
                share.waits_at.discard(self)
                del self._lines[share]
                continue
            self._turns.rotate(-1)
            if share.free > 0:
                return share
        return None

    def _start(self, share: Share) -> None:
        waiter = self._lines[share].pop()
        if waiter.done():  # cancelled, and not yet out of the line
            if self._machine is not None:
                self._machine.put_down()
            return
        if self._breaker.outage is not None:
            self._breaker.probing = True
        waiter.set_result(self._send(share))

    def _send(self, share: Share) -> int:
        share.free -= 1
        self._sent += 1
        self._flying.add(self._sent)
        return self._sent

    def _may_start(self) -> bool:
        if self._breaker.outage is not None:
            return not self._breaker.probing
        if not self._flying and not self._served:
            # All that was sent was refused, so that it was not for their number.
            self._set_window(max(self._window, float(min(_START, self._limit))))
        return len(self._flying) < self.most

    def _wait_s(self) -> float:
        until = self._held_until
        if self._breaker.outage is not None:
            until = max(until, self._breaker.probe_at)
        return until - self._now() if until else 0.0

    def _look_again_in(self, seconds: float) -> None:
        if self._timer is not None:
            if self._timer.when() <= self._now() + seconds:
                return
            self._timer.cancel()
        self._timer = (self._loop or asyncio.get_running_loop()).call_later(seconds, self._look_again)

    def _look_again(self) -> None:
        self._timer = None
        self._dispatch()
        if self._machine is not None:
            self._machine.give_spare(waiting=bool(self._turns))

    # --- what the server said

    def answered(self, number: int) -> None:
        """Say that a call that still has its slot was answered."""
        self.answers += 1
        self._served = True
        if self._breaker.outage is not None and number > self._tripped_after:
            self._close_breaker()
        if self._window < self._limit and len(self._flying) >= self.most:
            self._grow()
            # At once: of answers that come together, each must find the slots full to count.
            self._dispatch()

    def _grow(self) -> None:
        if self._ramping:
            step = 1.0
        elif self._window < self._refused_at - 1:
            step = 1 / self._window
        else:
            step = 1 / (self._window * _CAUTION)
        self._set_window(self._window + step)
        if self._window >= self._refused_at:
            self._refused_at = math.inf

    def refused(self, number: int, retry_after_s: float | None = None) -> None:
        """Say that the server refused a call that still has its slot, for its load or the caller's rate."""
        if retry_after_s is not None:
            self.hold(retry_after_s)
        if self._breaker.is_open and number > self._tripped_after:
            self._close_breaker()  # a rate is for accounts that work
        if number <= self._cut_after:
            return
        self._cut_after = self._sent
        self._ramping = self._served = False
        self._refused_at = float(self.in_flight)
        self._set_window(max(1.0, self.in_flight / 2))

    def hold(self, seconds: float) -> None:
        """Start no new call for that long."""
        self._held_until = max(self._held_until, self._now() + seconds)

    async def answer_to_earlier(self, number: int, answers: int) -> bool:
        """Wait for the calls that were sent before this one and are in flight; return whether one was answered.

        :param answers: how many answers the caller knew of.
        """
        while self.answers == answers:
            if not any(flying < number for flying in self._flying):
                return False
            news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._news.append(news)
            await news
        return True

    def _tell_news(self) -> None:
        told, self._news = self._news, []
        for news in told:
            if not news.done():
                news.set_result(None)

    # --- the account

    def out_of_quota(self, share: Share, number: int, error: QuotaError) -> float:
        """Open the breaker; return how many seconds from now one call will be let through."""
        now = self._now()
        if not self._breaker.is_open or number > self._tripped_after:
            self._breaker.trip(now, error)
            self._tripped_after = self._sent
            self._told.clear()
            for waiting in (share, *self._turns):
                self._tell(waiting)
        self._tell(share)
        return max(0.0, self._breaker.probe_at - now)

    def _tell(self, share: Share) -> None:
        if share not in self._told:
            self._told.add(share)
            share.tell(self.name, self._breaker.outage)

    def _close_breaker(self) -> None:
        self._breaker.close()
        told, self._told = self._told, set()
        for share in told:
            share.tell(self.name, None)
        self._dispatch()

    def _now(self) -> float:
        return (self._loop or asyncio.get_running_loop()).time()
