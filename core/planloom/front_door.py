"""The front door: the one way to a model.

It tries in order: the ledger; in replay, refusal; the budget; the network. Equal questions in flight are asked once. A
call's slot is free, and its answer handed on, only when reply and settlement are committed. One reservation covers the
attempts that the server refused; an attempt that may have been billed keeps its worst price as uncertain and the next
one reserves anew. What a call does after it was sent outlives the worker that asked, so that a cancelled worker still
leaves its answer in the ledger.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import attrs

from ._abort import Abort
from ._budget_line import BudgetLine
from ._errors import (
    AuthenticationFailed,
    CacheMiss,
    RunAborted,
    RunStopped,
    SpendRefused,
    StoreError,
    StoreFull,
    StoreLocked,
)
from ._pauses import Pauses
from ._slots import Slots
from .clients import FatalError, ModelClient, ModelError, QuotaError, TransientError
from .money import Price
from .questions import Question, Reply
from .settings import RoleSettings
from .stores import Answered, Granted, OpenElsewhere, Store
from .tokens import estimate_text_tokens
from .workers import Asker

__all__ = ["ATTEMPTS", "Asker", "FrontDoor", "Mode", "stopped_by"]

Mode = Literal["collect", "replay", "refresh"]

ATTEMPTS = 4
LONGEST_WAIT_S = 30.0
LONGEST_RETRY_AFTER_S = 120.0
_ELSEWHERE_POLL_S = 0.05
_ELSEWHERE_LONGEST_S = 1.0
LONGEST_SETTLE_S = 5.0
_FULL_DISK_POLL_S = 0.5

EventSink = Callable[[str, Mapping[str, Any]], None]


class FrontDoor:
    """Asks questions for one run.

    :param client_of: gives the open client of an endpoint; without one only the ledger can answer its questions.
    :param line: the run's place at its budget. :param slots: by endpoint, shared by the runs of a process.
    :param emit: takes the events ``run.attempt``, ``run.shared`` and ``run.breaker``.
    :param pauses: where the run is said to be paused.
    :param versions: by fingerprint, the number of the stored reply that an earlier start of this run used.
    :param seed: of the generator that spreads the waits between attempts.
    :ivar asked: questions that were sent. :ivar reused: answers that came from the ledger or another worker's call.
    """

    def __init__(
        self,
        store: Store,
        *,
        client_of: Callable[[str], ModelClient | None],
        line: BudgetLine,
        slots: Callable[[str], Slots],
        abort: Abort,
        emit: EventSink,
        pauses: Pauses,
        mode: Mode = "collect",
        versions: Mapping[str, int] | None = None,
        seed: int = 0,
    ) -> None:
        self._store = store
        self._client_of = client_of
        self._line = line
        self._slots = slots
        self._abort = abort
        self._emit = emit
        self._pauses = pauses
        self._mode = mode
        self._versions = versions or {}
        self._random = random.Random(seed)
        self._flights: dict[str, asyncio.Future[Reply | None]] = {}
        self._calls: set[asyncio.Task[Reply]] = set()
        self._begun: set[asyncio.Task[Reply]] = set()
        self._asked_again: set[str] = set()
        self.asked = self.reused = 0

    async def ask(self, question: Question, role: RoleSettings, asker: Asker) -> Reply:
        """Return the answer to a question; ``reply.cached`` says whether it cost anything now.

        :raises ModelError: no answer could be had; the worker fails.
        :raises RunAborted: the run must end: replay met an unknown question, nothing to pay with, cancelled, the key
            is refused, stopped at the budget.
        """
        reply = await self._answer(question, role, asker)
        self.reused += reply.cached
        return reply

    async def _answer(self, question: Question, role: RoleSettings, asker: Asker) -> Reply:
        while True:
            self._abort.check()
            flight = self._flights.get(question.fingerprint)
            if flight is None:
                known = self._from_ledger(question)
                if known is not None:
                    asker.started()
                    return known
                if self._mode == "replay":
                    raise CacheMiss(_unknown_in_replay(role))
                return await self._lead(question, role, asker)
            self._emit("run.shared", {"thread": asker.thread, "with": question.fingerprint[:12]})
            shared = await self._abort.until(_value_of(flight))
            if shared is not None:
                asker.started()
                return attrs.evolve(shared, cached=True)

    async def drain(self, timeout_s: float) -> int:
        """Let the calls in flight end, for up to that long; what is left is cut off and stays charged as uncertain.

        :returns: how many calls were cut off.
        """
        if not self._calls:
            return 0
        _, late = await asyncio.wait(self._calls, timeout=timeout_s)
        return await self._cut(late)

    async def cut(self) -> int:
        """Cut off the calls in flight at once; they stay charged as uncertain."""
        return await self._cut(set(self._calls))

    async def _cut(self, calls: set[asyncio.Task[Reply]]) -> int:
        # A task that is cancelled before its first step never gets to close its call; it ends by itself at that step.
        for call in calls & self._begun:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return len(calls)

    def _from_ledger(self, question: Question) -> Reply | None:
        if self._mode == "refresh":
            return None
        reply = self._store.reply(question.fingerprint)
        if reply is None or reply.whole or self._mode == "replay":
            return reply
        # A stored reply that was cut, filtered or empty is no answer: it is asked again, once a run.
        if question.fingerprint in self._asked_again:
            return reply
        self._asked_again.add(question.fingerprint)
        return None

    def _looks(self, question: Question) -> bool:
        return self._mode != "refresh" and question.fingerprint not in self._asked_again

    # --- one question, asked by its first asker for all that ask it meanwhile

    async def _lead(self, question: Question, role: RoleSettings, asker: Asker) -> Reply:
        client = self._client_of(question.endpoint)
        if client is None:
            raise SpendRefused(
                f"the question of role `{role.name}` is not in the ledger and there is no client for the endpoint "
                f"`{question.endpoint}`; configure it, or replay a run that has all its answers"
            )
        flight: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._flights[question.fingerprint] = flight
        try:
            reply = await self._ask_once(question, role, asker, client)
        except ModelError as error:
            flight.set_exception(error)
            flight.exception()  # nobody may be waiting for it
            raise
        except BaseException:
            flight.set_result(None)  # whoever waits asks for itself
            raise
        else:
            flight.set_result(reply)
            return reply
        finally:
            del self._flights[question.fingerprint]

    async def _ask_once(self, question: Question, role: RoleSettings, asker: Asker, client: ModelClient) -> Reply:
        slots = self._slots(question.endpoint)
        await self._abort.until(slots.acquire())
        handed_over = False
        try:
            asker.started()
            granted = await self._grant(question, role, asker)
            if isinstance(granted, Answered):
                return attrs.evolve(granted.reply, cached=True)
            call = asyncio.ensure_future(self._call(question, role, asker, client, granted.call_id))
            self.asked += 1
            self._calls.add(call)
            call.add_done_callback(lambda done: self._ended(done, slots))
            handed_over = True
            return await self._outcome_of(call)
        except StoreError as error:
            # A store that cannot be written fails every worker alike: better the run ends with the first.
            stopped = stopped_by(error)
            self._abort.set(stopped)
            raise stopped from error
        finally:
            if not handed_over:
                slots.release()

    async def _outcome_of(self, call: asyncio.Task[Reply]) -> Reply:
        """Wait for a call, which goes on when its asker is cancelled.

        :raises RunAborted: the call was cut off.
        """
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if call.cancelled() and task is not None and not task.cancelling():
                self._abort.check()
            raise

    def _ended(self, call: asyncio.Task[Reply], slots: Slots) -> None:
        self._calls.discard(call)
        self._begun.discard(call)
        slots.release()
        if not call.cancelled():
            call.exception()  # its asker may have gone

    async def _grant(self, question: Question, role: RoleSettings, asker: Asker) -> Granted | Answered:
        worst = role.price.of(question.input_tokens_bound, int(role.parameters.get("max_tokens", 16_000)))
        seen: int | None = None
        while True:
            result = await self._line.reserve(
                question, worst=worst, run=asker.run, thread=asker.thread, look=self._looks(question)
            )
            if not isinstance(result, OpenElsewhere):
                return result
            if seen is not None:
                await self._abort.until(self._something_closed(seen))
            # Read before the next try, so that what closes after that try is noticed.
            seen = self._store.version()
            known = self._from_ledger(question)
            if known is not None:
                return Answered(known)

    async def _something_closed(self, seen: int) -> None:
        """Wait until a call of any process ended, or for a second, since a process that dies says nothing."""
        clock = asyncio.get_running_loop().time
        until = clock() + _ELSEWHERE_LONGEST_S
        while self._store.version() == seen and clock() < until:
            await asyncio.sleep(_ELSEWHERE_POLL_S)

    # --- one call with its attempts

    async def _call(
        self, question: Question, role: RoleSettings, asker: Asker, client: ModelClient, call_id: str
    ) -> Reply:
        open_call: str | None = call_id
        billed = False
        waited = 0.0
        self._begin()
        try:
            self._abort.check()
            for attempt in range(1, ATTEMPTS + 1):
                if open_call is None:
                    granted = await self._grant(question, role, asker)
                    if isinstance(granted, Answered):
                        return attrs.evolve(granted.reply, cached=True)
                    open_call = granted.call_id
                try:
                    billed = True
                    reply = _priced(await client.ask(question), question, role)
                except TransientError as error:
                    billed = error.maybe_billed
                    if billed:
                        await self._store.mark_uncertain(open_call)
                        open_call = None
                    waited = await self._wait_after(error, attempt, question, asker, waited)
                    continue
                await self._settle(open_call, reply)
                open_call = None
                return reply
            raise AssertionError("the last attempt returns or raises")
        except ModelError as error:
            billed = error.maybe_billed
            hopeless = _ends_the_run(error, role)
            if hopeless is None:
                raise
            self._abort.set(hopeless)
            raise hopeless from error
        finally:
            if open_call is not None:
                await asyncio.shield(self._close(open_call, billed))
            self._line.freed()

    def _begin(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._begun.add(task)

    async def _close(self, call_id: str, billed: bool) -> None:
        """Close a call that brought no answer: free, or charged at its worst price when it may have been billed."""
        await (self._store.mark_uncertain(call_id) if billed else self._store.release(call_id))

    async def _settle(self, call_id: str, reply: Reply) -> None:
        """Commit a reply in hand; while the disk is full it is kept and tried again, and nothing new is sent."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            try:
                return await self._store.settle(call_id, reply)
            except (StoreFull, StoreLocked) as error:
                self._abort.set(stopped_by(error))
                if clock() - began > LONGEST_SETTLE_S:
                    raise
                await asyncio.sleep(_FULL_DISK_POLL_S)

    async def _wait_after(
        self, error: TransientError, attempt: int, question: Question, asker: Asker, waited: float
    ) -> float:
        """Wait before the next attempt and return for how long; ``waited`` is how long this one had to wait."""
        wait = self._random.uniform(0, min(LONGEST_WAIT_S, 2.0 ** (attempt - 1)))
        if error.retry_after_s is not None:
            wait = max(wait, error.retry_after_s)
        last = attempt == ATTEMPTS or (error.retry_after_s or 0) > LONGEST_RETRY_AFTER_S
        self._emit("run.attempt", _attempt_fields(error, attempt, asker.thread, waited, None if last else wait))
        if last:
            raise error
        if error.retry_after_s is not None:
            self._slots(question.endpoint).hold(error.retry_after_s)
        await self._abort.until(asyncio.sleep(wait))
        return wait


def stopped_by(error: StoreError) -> RunStopped:
    """Return how a run ends whose store cannot be written."""
    return RunStopped(f"{error}; then run it again: what is answered is not asked again")


def _ends_the_run(error: ModelError, role: RoleSettings) -> RunAborted | None:
    if isinstance(error, FatalError):
        return AuthenticationFailed(f"{error} (role `{role.name}`, endpoint `{role.endpoint}`)")
    if isinstance(error, QuotaError):
        return RunStopped(
            f"the account behind `{role.endpoint}` is used up: {error}; then run it again: what is answered is not "
            "asked again"
        )
    return None


async def _value_of(flight: asyncio.Future[Reply | None]) -> Reply | None:
    return await asyncio.shield(flight)


def _unknown_in_replay(role: RoleSettings) -> str:
    return (
        f"replay met a question of role `{role.name}` that the ledger has no answer to; "
        "run the plan instead of replaying it, which asks and pays for what is missing"
    )


def _attempt_fields(
    error: ModelError, attempt: int, thread: str, waited: float, next_wait: float | None
) -> dict[str, Any]:
    return {
        "thread": thread,
        "attempt": attempt,
        "class": error.error_class,
        "http_status": error.http_status,
        "waited": round(waited, 3),
        "next_wait": None if next_wait is None else round(next_wait, 3),
    }


def _priced(reply: Reply, question: Question, role: RoleSettings) -> Reply:
    """Return the reply with its price, from the server's token counts, or from estimated ones, and marked so."""
    usage = reply.usage
    prompt = usage.prompt_tokens
    completion = usage.completion_tokens
    estimated = role.price.by_tokens and (prompt is None or completion is None)
    if prompt is None:
        prompt = estimate_text_tokens(sum(len(part.text) for part in question.parts))
    if completion is None:
        completion = estimate_text_tokens(len(reply.text))
    return attrs.evolve(
        reply,
        price=_price(role.price, prompt, completion, usage.cached_prompt_tokens or 0),
        estimated=estimated,
        role=role.name,
        created_at=datetime.now(UTC),
    )


def _price(price: Price, prompt: int, completion: int, cached: int) -> int:
    return price.of(max(0, prompt), max(0, completion), max(0, cached))
