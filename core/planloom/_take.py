"""One take of a rehearsal: the plan played once, with one seed, against its kits' stand-ins and in virtual time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from planlang import Limits, PlanError, PlanFailed, PlanLimitError, Program

from ._blame import word_blamed
from ._errors import RunAborted, Runaway, RunFailed, RunStopped
from ._made_up import made_up
from ._recorder import Recorder
from ._stage_host import StageHost, said_of
from .data_classes import frozen
from .front_door import Asker
from .job import limit_told, plan_hash
from .kits import KitWork
from .money import Price, show_credits
from .plugins import Registry
from .settings import MOST_TOKENS, Settings
from .stand_ins import StandIn, StandInAnswer, identified, request_random
from .tokens import estimate_text_tokens
from .wording import counted
from .workers import Performed, WorkerRequest

__all__ = ["STOPS_AT_BUDGET", "Fails", "Stage", "Take", "stand_in_answer"]

STOPS_AT_BUDGET = "the plan would stop at the budget"
"""How a problem is named that a higher budget mends."""

Fails = Callable[[int, WorkerRequest], bool]
"""Says of a worker's number, from 0 in the order of their turns, and its request whether it fails."""

_IN_FLIGHT = 64
# A request that is cut off is charged for the bytes of its question, and for the longest answer.
_BYTES_A_TOKEN, _FRAME_TOKENS = 4, 24
_FEWEST_CACHED_TOKENS = 1_024  # no provider keeps a shorter beginning
# Rough speeds of a served model, so that virtual time has a shape: fixed part, reading, writing.
_CALL_S = 1.0
_READ_TOKENS_A_SECOND = 10_000
_WRITE_TOKENS_A_SECOND = 60


@frozen(kw_only=True)
class Take:
    """What one take needed.

    :ivar tokens: of questions and answers; ``system_tokens`` those of system texts among them.
    :ivar price: in micro-credits; ``hedges`` what would come on top were each call sent a second time that may be.
    :ivar seconds: in virtual time.
    :ivar phases: workers by phase. :ivar roles: (workers, micro-credits) by role.
    :ivar error: why the plan must not run, if so. :ivar is_short: whether that is its budget.
    :ivar needs: the least budget under which it would not have stopped where it came to, in micro-credits.
    :ivar failed: what tasks and saved plans failed on, and whether the plan alone is to blame.
    :ivar repeated: labels of workers whose question another had asked.
    """

    agents: int
    calls: int
    tokens: int
    system_tokens: int
    price: int
    hedges: int
    seconds: float
    phases: Mapping[str, int]
    roles: Mapping[str, tuple[int, int]]
    error: str | None
    is_short: bool
    needs: int
    failed: Mapping[str, bool]
    repeated: tuple[str, ...]


def stand_in_answer(stand_in: StandIn | None, request: WorkerRequest, state: object, seed: int) -> StandInAnswer:
    """Return the made-up answer to a request: the kit's stand-in's, else one that fits its schema, else a text."""
    rng = request_random(request, seed)
    known = stand_in.answer(request, state, rng) if stand_in is not None else None
    if known is not None:
        return known
    if request.schema is not None:
        value = made_up(request.schema.shown, rng)
        return StandInAnswer(value=value, completion_tokens=estimate_text_tokens(len(repr(value))))
    return StandInAnswer(value=f"(a made-up answer, {rng.randrange(1000)})", completion_tokens=300)


class Stage:
    """Where one take is played."""

    def __init__(
        self,
        registry: Registry,
        settings: Settings,
        works: Mapping[str, KitWork],
        prices: Callable[[str], Price],
        *,
        budget: int,
        seen: int,
        recorded: Mapping[str, Any],
        seed: int,
        fails: Fails,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._prices = prices
        self._budget = budget
        self._seen = seen
        self._recorded = recorded
        self._seed = seed
        self._fails = fails
        self._started = 0
        self._states = {name: work.new_run(rehearsal=True) for name, work in works.items()}
        self._stand_ins = registry.all("stand-in", StandIn)
        self._hedged = _hedged_roles(settings)
        self._spent = self._hedges = 0
        self._reserved = 0
        self._calls = self._granted = self._needs = 0
        self._is_short = False
        self._tokens = self._system_tokens = 0
        self._begun: set[tuple[str, str]] = set()
        self._roles: dict[str, tuple[int, int]] = {}
        self._asked: set[bytes] = set()
        self._repeated: list[str] = []

    async def run(self, program: Program, args: dict[str, Any], limits: Limits) -> Take:
        loop = asyncio.get_running_loop()
        self._slots = asyncio.Semaphore(_IN_FLIGHT)
        run_id = f"dry-{plan_hash(program.source)[:8]}"
        recorder = Recorder(run_id, None, (), loop.time)
        host = StageHost(
            run_id,
            registry=self._registry,
            settings=self._settings,
            recorder=recorder,
            perform=self._perform,
            budget_left=lambda full_price: self._seen - self._spent - self._reserved,
            args=args,
            states=self._states,
            journal=lambda place, value: None,
            recorded=self._recorded,
        )
        error = None
        try:
            await program.run(args, limits, host)
        except RunFailed as fault:
            raise fault.__cause__ or fault from None  # the configuration's fault, not the plan's
        except (PlanError, RunAborted) as fault:
            error = _said(fault)
            if isinstance(fault, PlanFailed) and (whose := word_blamed(self._registry, fault, program.source)):
                error = f"{error}, in {whose}"
        host.close()
        if error is None and any(phase.dropped for phase in host.phases.all()):
            asked = sum(phase.started + phase.dropped for phase in host.phases.all())
            error = (
                f"the plan asks for {asked:,} workers, more than the limit of {self._settings.workers:,} a run; ask "
                "for fewer, or raise `limits.workers` in the configuration"
            )
        return Take(
            agents=host.agents,
            calls=self._calls,
            tokens=self._tokens,
            system_tokens=self._system_tokens,
            price=self._spent,
            hedges=self._hedges,
            seconds=recorder.seconds(),
            phases={phase.name: phase.started for phase in host.phases.all() if phase.started},
            roles=dict(self._roles),
            error=error,
            is_short=self._is_short,
            needs=self._needs,
            failed=host.failed,
            repeated=tuple(dict.fromkeys(self._repeated)),
        )

    async def _perform(self, request: WorkerRequest, asker: Asker) -> Performed:
        if self._asked_before(request):
            self._repeated.append(request.label or request.word)
        async with self._slots:
            asker.started()
            self._started += 1
            if self._fails(self._started - 1, request):
                await asyncio.sleep(_CALL_S)
                return Performed(value=None, error="a worker that fails in rehearsal", calls=1)
            return await self._answered(request)

    def _asked_before(self, request: WorkerRequest) -> bool:
        """Return whether this very question was asked before, sample and all; fifty thousand are kept as digests."""
        key = repr(identified(request)).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(key, digest_size=16).digest()
        if digest in self._asked:
            return True
        self._asked.add(digest)
        return False

    async def _answered(self, request: WorkerRequest) -> Performed:
        kit = _kit_of(request.word, self._stand_ins)
        answer = stand_in_answer(kit, request, self._states.get(kit.name) if kit else None, self._seed)
        cached = self._cached_tokens(request)
        price = self._prices(request.role).of(request.input_tokens, answer.completion_tokens, cached)
        worst = self._worst(request)
        # A run reserves the worst price of a call, however little is paid in the end.
        needs, may_need = self._spent + self._reserved + price, self._spent + worst
        self._needs = max(self._needs, needs, may_need)
        if needs > self._budget:
            raise self._stopped("")
        if may_need > self._budget:
            raise self._stopped(f", since the next may cost {show_credits(worst)}")
        self._granted += 1
        self._reserved += price
        reading, writing = (
            request.input_tokens / _READ_TOKENS_A_SECOND,
            answer.completion_tokens / _WRITE_TOKENS_A_SECOND,
        )
        try:
            await asyncio.sleep(_CALL_S + reading + writing)
        finally:  # also where a race was lost meanwhile: what was asked is paid
            self._reserved -= price
            self._count(request, price, answer)
        return Performed(
            value=answer.value,
            cost=price,
            full_price=price,
            calls=1,
            prompt_tokens=request.input_tokens,
            completion_tokens=answer.completion_tokens,
        )

    def _worst(self, request: WorkerRequest) -> int:
        """Return about what a request is charged that is cut off, in micro-credits."""
        price = self._prices(request.role)
        if not price.by_tokens:
            return price.call
        role = self._settings.roles.get(request.role)
        most = MOST_TOKENS if role is None else role.most_tokens
        return price.of(_FRAME_TOKENS + request.input_tokens * _BYTES_A_TOKEN, most)

    def _stopped(self, why: str) -> RunStopped:
        self._is_short = True
        return RunStopped(
            f"{STOPS_AT_BUDGET} of {show_credits(self._budget)} credits after {counted(self._granted, 'call')}{why}"
        )

    def _cached_tokens(self, request: WorkerRequest) -> int:
        """Return how much of a question a provider has read before: the system text of an earlier worker."""
        tokens = estimate_text_tokens(len(request.system))
        beginning = (request.role, request.system)
        if tokens < _FEWEST_CACHED_TOKENS or beginning not in self._begun:
            self._begun.add(beginning)
            return 0
        return tokens

    def _count(self, request: WorkerRequest, price: int, answer: StandInAnswer) -> None:
        self._spent += price
        if request.role in self._hedged:
            self._hedges += self._worst(request)
        self._calls += 1
        self._tokens += request.input_tokens + answer.completion_tokens
        self._system_tokens += estimate_text_tokens(len(request.system))
        workers, total = self._roles.get(request.role, (0, 0))
        self._roles[request.role] = (workers + 1, total + price)


def _hedged_roles(settings: Settings) -> set[str]:
    """Return the roles whose questions may be sent a second time."""
    hedged = {name for name, endpoint in settings.endpoints.items() if endpoint.hedge_after_s is not None}
    return {name for name, role in settings.roles.items() if role.endpoint in hedged}


def _kit_of(word: str, stand_ins: Mapping[str, StandIn]) -> StandIn | None:
    return next((stand_in for stand_in in stand_ins.values() if word in stand_in.words), None)


def _said(fault: Exception) -> str:
    if isinstance(fault, PlanFailed):
        return said_of(fault)
    if isinstance(fault, PlanLimitError):
        return f"line {fault.line}: {limit_told(fault)}"
    if isinstance(fault, Runaway):
        return f"worker limit: {fault}"
    return str(fault)
