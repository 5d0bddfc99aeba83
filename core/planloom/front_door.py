"""The front door: the one way to a model.

It tries in order: the ledger; in replay, refusal; the budget; the network. Equal questions in flight are asked once,
whichever process has them in flight. What happens after a call was granted is :class:`planloom._call.Call`'s.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping

import attrs

from ._abort import Abort
from ._budget_line import BudgetLine
from ._call import Call, Errand, EventSink, Surroundings
from ._disk import Disk, stopped_by
from ._doorstep import Doorstep
from ._effort import Effort, OutOfTime
from ._errors import CacheMiss, SpendRefused, StoreError
from ._known import Known, Mode
from ._lanes import Lane, Turn
from ._outages import Outages
from ._pauses import Pauses
from ._slots import Share
from ._warmup import beginnings
from .clients import ModelClient, ModelError
from .questions import Question, Reply
from .settings import AtQuota, RoleSettings
from .stores import Answered, Granted, OpenElsewhere, Store
from .workers import Asker

__all__ = ["Asker", "Effort", "FrontDoor", "Mode"]

_ELSEWHERE_POLL_S = 0.05
_ELSEWHERE_LONGEST_S = 1.0
_WORKER_TIMEOUT_S = 1_800.0


class FrontDoor:
    """Asks questions for one run.

    :param client_of: gives the open client of an endpoint; without one only the ledger can answer its questions.
    :param line: the run's place at its budget. :param lane_of: gives the way to an endpoint, shared by the runs of a
        process. :param in_flight: calls of this run at once, at all endpoints.
    :param emit: takes the events ``run.attempt``, ``run.hedged``, ``run.shared`` and ``run.breaker``.
    :param pauses: where the run is said to be paused. :param disk: keeps what cannot be written.
    :param at_quota: what to do when an account is used up: wait until it is reset, or stop the run.
    :param versions: by fingerprint, the number of the stored reply that an earlier start of this run used, in order.
    :param seed: of the generator that spreads the waits between attempts.
    :ivar asked: questions that were sent. :ivar reused: answers that came from the ledger or another worker's call.
    :ivar paid: what the answers cost that came to this door, in micro-credits.
    :ivar doorstep: where many that begin at once wait, whoever calls :meth:`at_hand` and not :meth:`ask` too.
    :ivar asked_again: those of the sent ones whose stored reply was cut, filtered or empty.
    """

    def __init__(
        self,
        store: Store,
        *,
        client_of: Callable[[str], ModelClient | None],
        line: BudgetLine,
        lane_of: Callable[[str], Lane],
        in_flight: int,
        abort: Abort,
        emit: EventSink,
        pauses: Pauses,
        disk: Disk,
        mode: Mode = "collect",
        at_quota: AtQuota = "wait",
        versions: Mapping[str, int] | None = None,
        seed: int = 0,
    ) -> None:
        self._store = store
        self._client_of = client_of
        self._line = line
        self._lane_of = lane_of
        self._abort = abort
        self._emit = emit
        self._mode = mode
        self._ledger = Known(store, mode, versions or {})
        outages = Outages(emit, pauses, abort, at_quota)
        share = Share(in_flight, outages.tell, outages.tell_crowded)
        self._loop = asyncio.get_running_loop()
        self.doorstep = Doorstep(self._loop)
        self._at = Surroundings(
            loop=self._loop,
            store=store,
            disk=disk,
            abort=abort,
            emit=emit,
            share=share,
            random=random.Random(seed),
            over=self._over,
            hedge=line.hedge,
        )
        # Who else waits for the answer, by the fingerprint of each question that is being asked.
        self._flights: dict[str, list[asyncio.Future[Reply | None]]] = {}
        self._calls: dict[asyncio.Task[None], Call] = {}
        # What answers cost that no worker has counted as its own yet, by fingerprint.
        self._unclaimed: dict[str, int] = {}
        self.asked = self.reused = self.paid = 0

    @property
    def asked_again(self) -> int:
        """How many stored replies that are no answers were not taken for one."""
        return len(self._ledger.again)

    @property
    def unclaimed(self) -> int:
        """What the run paid for answers that no worker has ended with, in micro-credits: those that a conversation
        still needs, and for ever those of a race's losers."""
        return sum(self._unclaimed.values())

    @property
    def in_flight(self) -> int:
        """How many calls have a request out, or an answer that is not settled."""
        return sum(call.is_out for call in self._calls.values())

    @property
    def waiting_for_money(self) -> int:
        """How many calls wait for money."""
        return self._line.waiting

    def claim(self, fingerprints: Iterable[str]) -> None:
        """Hear that a worker ended, and counts what the answers to these questions cost."""
        if self._unclaimed:
            for fingerprint in fingerprints:
                self._unclaimed.pop(fingerprint, None)

    async def ask(self, question: Question, role: RoleSettings, asker: Asker, effort: Effort | None = None) -> Reply:
        """Return the answer to a question; ``reply.cached`` says whether it cost anything now.

        :param effort: what the asking worker's calls took so far.
        :raises ModelError: no answer could be had; the worker fails.
        :raises RunAborted: the run must end: replay met an unknown question, nothing to pay with, cancelled, the key
            is refused, stopped at the budget.
        """
        if not self.doorstep.is_free():
            await self.doorstep.wait()
        known = self.at_hand(question, role, asker)
        return known or await self.fetch(question, role, asker, effort)

    def at_hand(self, question: Question, role: RoleSettings, asker: Asker) -> Reply | None:
        """Return the answer that the ledger has, without waiting; ``None`` when :meth:`fetch` must bring it.

        :raises RunAborted: the run must end.
        """
        self._abort.check()
        if question.fingerprint in self._flights:
            return None
        known = self._known(question, role, asker)
        self.reused += known is not None
        return known

    def recalled(self, fingerprint: str, version: int) -> Reply | None:
        """Return the reply that an earlier start of this run used for a question, if it has this number, is whole, and
        nobody asks that question now. It is not counted as reused yet."""
        if self._abort.reason is not None or fingerprint in self._flights:
            return None
        return self._ledger.recalled(fingerprint, version)

    def was_used(self, fingerprint: str) -> bool:
        """Whether an earlier start of this run used an answer to this question."""
        return self._ledger.was_used(fingerprint)

    def has_answer(self, fingerprint: str) -> bool:
        """Whether the ledger has an answer that this run would take for its own."""
        return self._ledger.has(fingerprint)

    async def fetch(self, question: Question, role: RoleSettings, asker: Asker, effort: Effort | None = None) -> Reply:
        """Return the answer to a question that was not :meth:`at_hand` just now; see :meth:`ask`."""
        effort = effort or Effort(_WORKER_TIMEOUT_S)
        reply = await self._shared(question, role, asker) if question.fingerprint in self._flights else None
        if reply is None:
            reply = await self._lead(question, role, asker, effort)
        self.reused += reply.cached
        return reply

    async def _shared(self, question: Question, role: RoleSettings, asker: Asker) -> Reply | None:
        """Wait for who asks the same question now; ``None`` where it is to be asked anew."""
        while (flight := self._flights.get(question.fingerprint)) is not None:
            self._say_shared(question, asker)
            landing: asyncio.Future[Reply | None] = self._loop.create_future()
            flight.append(landing)
            shared = await self._abort.until(_value_of(landing))
            if shared is not None:
                asker.started()
                return attrs.evolve(shared, cached=True)
            self._abort.check()
            if question.fingerprint not in self._flights:
                known = self._known(question, role, asker)
                if known is not None:
                    return known
        return None

    def _known(self, question: Question, role: RoleSettings, asker: Asker) -> Reply | None:
        known = self._ledger.answer(question)
        if known is not None:
            asker.started()
        elif self._mode == "replay":
            raise CacheMiss(_unknown_in_replay(role))
        return known

    def _say_shared(self, question: Question, asker: Asker) -> None:
        self._emit("run.shared", {"thread": asker.thread, "with": question.fingerprint[:12]})

    async def ended(self, timeout_s: float) -> int:
        """Wait for the calls in flight to end, for up to that long; return how many are left."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=timeout_s)
        return len(self._calls)

    async def drain(self, timeout_s: float) -> int:
        """Let the calls in flight end, for up to that long; what is left is cut off and stays charged as uncertain.

        :returns: how many calls were cut off.
        """
        return await self.cut() if await self.ended(timeout_s) else 0

    async def cut(self) -> int:
        """Cut off the calls in flight at once; they stay charged as uncertain."""
        return await self._cut(tuple(self._calls))

    async def _cut(self, tasks: Iterable[asyncio.Task[None]]) -> int:
        ending = [task for task in tasks if task in self._calls]
        for task in ending:
            self._calls[task].cut()
        await asyncio.gather(*ending, return_exceptions=True)
        return len(ending)

    # --- one question, asked by its first asker for all that ask it meanwhile

    async def _lead(self, question: Question, role: RoleSettings, asker: Asker, effort: Effort) -> Reply:
        client, fingerprint = self._client_of(question.endpoint), question.fingerprint
        if client is None:
            raise SpendRefused(
                f"the question of role `{role.name}` is not in the ledger and there is no client for the endpoint "
                f"`{question.endpoint}`; configure it, or replay a run that has all its answers"
            )
        self._ledger.payable.add(question.endpoint)
        errand = Errand(
            question=question,
            role=role,
            asker=asker,
            effort=effort,
            client=client,
            lane=self._lane_of(question.endpoint),
            worst=role.price.of(question.input_tokens_bound, role.most_tokens),
        )
        self._flights[fingerprint] = []
        try:
            reply = await self._ask_once(errand)
        except BaseException as error:
            # Who fails for want of time had its own time; whoever waits asks for itself then.
            self._land(
                fingerprint, None, error if isinstance(error, ModelError) and not isinstance(error, OutOfTime) else None
            )
            raise
        self._land(fingerprint, reply)
        return reply

    def _land(self, fingerprint: str, reply: Reply | None, error: ModelError | None = None) -> None:
        """Tell who else waits for the answer to a question; without one or a reason they ask for themselves."""
        for landing in self._flights.pop(fingerprint):
            if landing.done():
                continue
            if error is None:
                landing.set_result(reply)
            else:
                landing.set_exception(error)
                landing.exception()  # who waited may be cancelled in this very turn

    async def _ask_once(self, errand: Errand) -> Reply:
        turn = errand.lane.turn(self._at.share, self._beginnings(errand))
        handed_over = False
        try:
            granted = await self._grant(errand, turn)
            if isinstance(granted, Answered):
                return attrs.evolve(granted.reply, cached=True)
            call = Call(self._at, errand, turn, granted, self._grant)
            handed_over = True
            self.asked += 1
            self._calls[call.task] = call
            return await self._outcome_of(call)
        except StoreError as error:
            # A store that cannot be written fails every worker alike: better the run ends with the first.
            stopped = stopped_by(error)
            self._abort.set(stopped)
            raise stopped from error
        finally:
            if not handed_over:
                turn.give()

    def _beginnings(self, errand: Errand) -> tuple[bytes, ...]:
        warms = errand.lane.warms
        wanted = errand.role.price.cached_input is not None if warms is None else warms
        return beginnings(errand.question) if wanted else ()

    async def _outcome_of(self, call: Call) -> Reply:
        """Wait for a call, which goes on when its asker is cancelled while a request is in flight.

        :raises RunAborted: the call was cut off.
        """
        try:
            return await call.answer
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if call.is_cut and task is not None and not task.cancelling():
                self._abort.check()
            call.desert()
            raise

    def _over(self, call: Call) -> None:
        del self._calls[call.task]
        # Who was let through as the run ended sent nothing.
        self.asked -= not call.was_sent
        reply = call.reply
        if reply is not None:
            self.paid += reply.price  # also where nobody heard whether it was written down
        if reply is not None and reply.version is not None:
            fingerprint = call.question.fingerprint
            if reply.price:
                self._unclaimed[fingerprint] = self._unclaimed.get(fingerprint, 0) + reply.price
            self._ledger.came(fingerprint, reply.version)
        self._line.freed()

    async def _grant(self, errand: Errand, turn: Turn) -> Granted | Answered:
        """Wait for a slot and for money; the turn holds its slot when the call is granted."""
        question, asker = errand.question, errand.asker
        seen: int | None = None
        if errand.lane.unclosed:
            await errand.lane.close_earlier()
        while True:
            if not (turn.has_slot or turn.take_at_once()):
                await self._abort.until(turn.take())
            asker.sends()
            look = self._ledger.is_looked_for(question)
            result = await self._line.reserve(
                question, worst=errand.worst, run=asker.run, thread=asker.thread, look=look, turn=turn
            )
            if not look and isinstance(result, Granted):
                result = await self._unless_answered(errand, result)
            if not isinstance(result, OpenElsewhere):
                asker.started()  # who waits for money has not begun
                return result
            turn.give()
            if seen is None:
                self._say_shared(question, asker)
            else:
                await self._abort.until(self._something_closed(seen))
            # Read before the next try, so that what closes after that try is noticed.
            seen = self._store.version()
            known = self._ledger.news(question)
            if known is not None:
                asker.started()
                return Answered(known)

    async def _unless_answered(self, errand: Errand, granted: Granted) -> Granted | Answered:
        """Return what was granted for a question that is asked again, or its answer, if one came just before: to a call
        whose worker had left."""
        known = self._ledger.news(errand.question)
        if known is None:
            return granted
        await self._at.disk.keep(lambda: self._store.release(granted.call_id), locked_too=True)
        return Answered(known)

    async def _something_closed(self, seen: int) -> None:
        """Wait until a call of any process ended, or for a second, since a process that dies says nothing."""
        until = self._loop.time() + _ELSEWHERE_LONGEST_S
        while self._store.version() == seen and self._loop.time() < until:
            await asyncio.sleep(_ELSEWHERE_POLL_S)


async def _value_of(landing: asyncio.Future[Reply | None]) -> Reply | None:
    return await landing


def _unknown_in_replay(role: RoleSettings) -> str:
    return (
        f"replay met a question of role `{role.name}` that the ledger has no answer to; "
        "resume the run, or run its plan anew, which asks and pays for what is missing"
    )
