"""Rehearsing a plan: the plan as written, against a stand-in, for free and in virtual time.

Nothing is asked, stored or paid. The budget starts where the real one starts, prices are the real ones, answers come
from a hash of each question. The plan is run with several seeds for a range; with a quarter of its workers failing, a
different one each time, which it must survive; and once with all of them failing, which is worth knowing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from planlang import Limits, PlanError, PlanFailed, PlanLimitError, Program

from ._errors import RunAborted, Runaway, RunFailed, RunStopped
from ._made_up import made_up
from ._recorder import Recorder
from ._virtual_time import run_in_virtual_time
from .front_door import Asker
from .job import plan_hash
from .kits import KitWork
from .money import Price, credits_of, micro_of, show_credits
from .plugins import Registry
from .runtime import RunHost
from .settings import Settings
from .stand_ins import StandIn, StandInAnswer, request_random
from .tokens import estimate_text_tokens
from .workers import Performed, WorkerRequest

__all__ = ["Rehearsal", "rehearse", "stand_in_answer"]

_Fails = Callable[[int, WorkerRequest], bool]

IN_FLIGHT = 64
_MOST_TAKES = 20
_FEWEST_TAKES = 3
_WORKERS_REHEARSED = 3_000
_FAILING_SHARE = 0.25
_OVERHEAD = 0.9
_FEWEST_CACHED_TOKENS = 1_024  # no provider keeps a shorter beginning
_TURNS = 4
_WORKERS_IN_TURN = 200
# Rough speeds of a served model, so that virtual time has a shape: fixed part, reading, writing.
_CALL_S = 1.0
_READ_TOKENS_A_SECOND = 10_000
_WRITE_TOKENS_A_SECOND = 60
_LOOKED_FOR = re.compile(r"KeyError: ['\"](\w+)['\"]$")


@attrs.frozen(kw_only=True)
class _Take:
    """One rehearsal with one seed."""

    agents: int
    calls: int
    tokens: int
    system_tokens: int
    price: int
    seconds: float
    phases: Mapping[str, int]
    roles: Mapping[str, tuple[int, int]]
    error: str | None
    repeated: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Rehearsal:
    """What a plan would need. Amounts are micro-credits; percentiles are over the seeds.

    :ivar agents: workers, calls, tokens, seconds, phases and roles are those of the median take.
    :ivar phases: workers by phase. :ivar roles: (workers, micro-credits) by role.
    :ivar problems: why the plan must not run, if so. :ivar advice: what is worth knowing.
    """

    agents: int
    calls: int
    tokens: int
    seconds: float
    credits_p10: int
    credits_p50: int
    credits_p90: int
    phases: Mapping[str, int]
    roles: Mapping[str, tuple[int, int]]
    takes: int
    problems: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rehearsal:
        """Return the rehearsal that :meth:`as_json` was made from."""
        prices = data["credits"]
        return cls(
            agents=data["agents"],
            calls=data["calls"],
            tokens=data["tokens"],
            seconds=data["seconds"],
            credits_p10=micro_of(prices["p10"]),
            credits_p50=micro_of(prices["p50"]),
            credits_p90=micro_of(prices["p90"]),
            phases=data["phases"],
            roles={role: (row["agents"], micro_of(row["credits"])) for role, row in data["roles"].items()},
            takes=data["takes"],
            problems=tuple(data["problems"]),
            advice=tuple(data["advice"]),
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data with credits as numbers, for the run's record."""
        return {
            "agents": self.agents,
            "calls": self.calls,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "credits": {
                "p10": credits_of(self.credits_p10),
                "p50": credits_of(self.credits_p50),
                "p90": credits_of(self.credits_p90),
            },
            "phases": dict(self.phases),
            "roles": {role: {"agents": n, "credits": credits_of(price)} for role, (n, price) in self.roles.items()},
            "takes": self.takes,
            "problems": list(self.problems),
            "advice": list(self.advice),
        }


def rehearse(
    program: Program,
    *,
    registry: Registry,
    settings: Settings,
    works: Mapping[str, KitWork],
    prices: Callable[[str], Price],
    budget: int,
    seen: int | None = None,
    recorded: Mapping[str, Any] | None = None,
    args: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    takes: int | None = None,
    with_failures: bool = True,
) -> Rehearsal:
    """Return what the program would need, from several takes with different seeds.

    :param works: the job's work by kit. :param prices: what a role costs.
    :param budget: what the real run may spend when it starts, in micro-credits.
    :param seen: what ``budget()`` starts from, where a cap of the store leaves less than that.
    :param recorded: what ``budget()`` returns in the real run, by place, where an earlier one has recorded it.
    :param takes: how many; by default twenty, and fewer for plans of many workers, whose sums vary less.
    :param with_failures: also rehearse with failing workers.
    Call it where no event loop is running.
    """

    def take(seed: int, fails: _Fails = _nobody) -> _Take:
        stage = _Stage(
            registry,
            settings,
            works,
            prices,
            budget=budget,
            seen=budget if seen is None else min(seen, budget),
            recorded=recorded or {},
            seed=seed,
            fails=fails,
        )
        return run_in_virtual_time(stage.run(program, dict(args or {}), limits or Limits()))

    first = take(0)
    if first.error is not None:
        return _refused(first, f"rehearsal: {first.error}{_argument_missing(first.error, program.source)}")
    rows = [first, *(take(seed) for seed in range(1, takes or _takes_for(first.agents)))]
    broken = next((row for row in rows if row.error is not None), None)
    if broken is not None:
        return _refused(broken, f"rehearsal: {broken.error}")
    if not with_failures:
        return _summary(rows, ())
    for shaky in (take(1_000 + n, fails) for n, fails in enumerate(_failures(first.agents))):
        if shaky.error is not None:
            return _refused(first, f"rehearsal with a quarter of the workers failing: {_explained(shaky.error)}")
    return _summary(rows, _advice(first, take(2_000, _everyone)))


def _nobody(number: int, request: WorkerRequest) -> bool:
    return False


def _everyone(number: int, request: WorkerRequest) -> bool:
    return True


def _failures(agents: int) -> list[_Fails]:
    """Return who fails in each take. In a small plan every worker fails once, alone among its neighbours; chance alone
    would often spare the one that the plan breaks on."""

    def by_chance(seed: int) -> _Fails:
        return lambda number, request: request_random(request, seed).random() < _FAILING_SHARE

    def in_turn(turn: int) -> _Fails:
        return lambda number, request: number % _TURNS == turn

    turns = [in_turn(turn) for turn in range(min(_TURNS, agents))] if 1 < agents <= _WORKERS_IN_TURN else []
    return [*turns, by_chance(1001), by_chance(1002)]


def _explained(error: str) -> str:
    """Python says what a plan may not do with ``None``, not where the ``None`` came from."""
    if "NoneType" not in error and "None" not in error:
        return error
    return f"{error} (a failed worker gives None, also inside a dict or list; look at it before it is used)"


def _argument_missing(error: str, source: str) -> str:
    """A plan that was not given an argument fails as any look-up does; say what to give it."""
    sought = _LOOKED_FOR.search(error)
    if sought is None or not re.search(rf"""\bargs\[\s*["']{sought[1]}["']\s*\]""", source):
        return ""
    return f"; the plan was given no argument `{sought[1]}`: --arg {sought[1]}=VALUE gives it"


def _takes_for(agents: int) -> int:
    return min(_MOST_TAKES, max(_FEWEST_TAKES, _WORKERS_REHEARSED // max(1, agents)))


def _advice(first: _Take, all_failing: _Take) -> tuple[str, ...]:
    advice = [f"the plan asks one question twice, with one answer: {label}" for label in first.repeated[:4]]
    if first.agents > 1 and first.system_tokens > _OVERHEAD * first.tokens:
        advice.append(
            f"{100 * first.system_tokens // first.tokens} % of the tokens are system texts, which each worker reads"
            " anew; shorten them, or give each worker more to do"
        )
    if all_failing.error is not None:
        advice.append(f"if every worker fails, the plan breaks: {_explained(all_failing.error)}")
    return tuple(advice)


def _refused(take: _Take, problem: str) -> Rehearsal:
    return attrs.evolve(_summary([take], ()), problems=(problem,))


def _summary(rows: list[_Take], advice: tuple[str, ...]) -> Rehearsal:
    ordered = sorted(rows, key=lambda row: row.price)
    middle = ordered[len(ordered) // 2]
    return Rehearsal(
        agents=middle.agents,
        calls=middle.calls,
        tokens=middle.tokens,
        seconds=middle.seconds,
        credits_p10=_percentile(ordered, 0.1),
        credits_p50=_percentile(ordered, 0.5),
        credits_p90=_percentile(ordered, 0.9),
        phases=middle.phases,
        roles=middle.roles,
        takes=len(rows),
        advice=advice,
    )


def _percentile(ordered: list[_Take], share: float) -> int:
    """Return a percentile of the prices by the nearest-rank rule."""
    rank = max(0, -(-len(ordered) * share // 1) - 1)
    return ordered[int(rank)].price


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


class _Stage:
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
        fails: _Fails,
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
        self._spent = 0
        self._reserved = 0
        self._calls = self._granted = 0
        self._tokens = self._system_tokens = 0
        self._begun: set[tuple[str, str]] = set()
        self._roles: dict[str, tuple[int, int]] = {}
        self._repeated: list[str] = []

    async def run(self, program: Program, args: dict[str, Any], limits: Limits) -> _Take:
        loop = asyncio.get_running_loop()
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        run_id = f"dry-{plan_hash(program.source)[:8]}"
        recorder = Recorder(run_id, None, (), loop.time)
        host = self._host = RunHost(
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
        host.close()
        if error is None and any(phase.dropped for phase in host.phases.all()):
            error = (
                f"the plan asks for more than {self._settings.workers} workers, the limit of a run; the rest is dropped"
            )
        return _Take(
            agents=host.agents,
            calls=self._calls,
            tokens=self._tokens,
            system_tokens=self._system_tokens,
            price=self._spent,
            seconds=recorder.seconds(),
            phases={phase.name: phase.started for phase in host.phases.all() if phase.started},
            roles=dict(self._roles),
            error=error,
            repeated=tuple(dict.fromkeys(self._repeated)),
        )

    async def _perform(self, request: WorkerRequest, asker: Asker) -> Performed:
        if self._host.asked_before(request):
            self._repeated.append(request.label or request.word)
        async with self._slots:
            asker.started()
            self._started += 1
            if self._fails(self._started - 1, request):
                await asyncio.sleep(_CALL_S)
                return Performed(value=None, error="a worker that fails in rehearsal", calls=1)
            return await self._answered(request)

    async def _answered(self, request: WorkerRequest) -> Performed:
        kit = _kit_of(request.word, self._stand_ins)
        answer = stand_in_answer(kit, request, self._states.get(kit.name) if kit else None, self._seed)
        cached = self._cached_tokens(request)
        price = self._prices(request.role).of(request.input_tokens, answer.completion_tokens, cached)
        if self._spent + self._reserved + price > self._budget:
            raise RunStopped(
                f"the plan would stop at the budget of {show_credits(self._budget)} credits after {self._granted} "
                "calls; raise --cap, or ask for less"
            )
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
        self._calls += 1
        self._tokens += request.input_tokens + answer.completion_tokens
        self._system_tokens += estimate_text_tokens(len(request.system))
        workers, total = self._roles.get(request.role, (0, 0))
        self._roles[request.role] = (workers + 1, total + price)


def _kit_of(word: str, stand_ins: Mapping[str, StandIn]) -> StandIn | None:
    return next((stand_in for stand_in in stand_ins.values() if word in stand_in.words), None)


def _said(fault: Exception) -> str:
    if isinstance(fault, PlanFailed):
        return f"line {fault.line}: {fault.kind}: {fault.detail}"
    if isinstance(fault, PlanLimitError):
        return f"line {fault.line}: {fault.detail}"
    if isinstance(fault, Runaway):
        return f"worker limit: {fault}"
    return str(fault)
