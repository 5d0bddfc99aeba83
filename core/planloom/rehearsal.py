"""Rehearsing a plan: the plan as written, against a stand-in, for free and in virtual time.

Nothing is asked, stored or paid. The budget starts where the real one starts, prices are the real ones, answers come
from a hash of each question. The plan is run with several seeds for a range; with a quarter of its workers failing, a
different one each time, which it must survive; and once with all of them failing, which is worth knowing.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol

import attrs

from planlang import Program

from ._take import STOPS_AT_BUDGET, Fails, Stage, Take, stand_in_answer
from ._virtual_time import from_zero, run_in_virtual_time
from .data_classes import frozen
from .kits import KitWork
from .money import Price, credits_of, micro_of, show_enough
from .plugins import Registry
from .settings import Settings
from .stand_ins import request_random
from .workers import WorkerRequest

__all__ = ["BREAKS_WHEN_ALL_FAIL", "STOPS_AT_BUDGET", "Rehearsal", "rehearse", "stand_in_answer"]

BREAKS_WHEN_ALL_FAIL = "if every worker fails, the plan breaks"
"""How advice begins that a person is only told, and a lead has to heed."""

# Sums of many workers vary less, so that a large plan needs fewer takes.
_MOST_TAKES = 20
_FEWEST_TAKES = 3
_WORKERS_REHEARSED = 3_000
_FAILING_SHARE = 0.25
_TURNS = 4  # that share, with each worker failing in one of them
_WORKERS_IN_TURN = 200  # above it chance alone spares no kind of worker
_MOSTLY_SYSTEM = 0.9  # from this share of the tokens on, system texts are pointed out
_NO_BOUND = 2**62  # more micro-credits than there are
_LOOKED_FOR = re.compile(r"KeyError: ['\"](\w+)['\"]$")


@frozen(kw_only=True)
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

    def take(seed: int, fails: Fails = _nobody, *, is_bounded: bool = True) -> Awaitable[Take]:
        stage = Stage(
            registry,
            settings,
            works,
            prices,
            budget=budget if is_bounded else _NO_BOUND,
            seen=budget if seen is None else min(seen, budget),
            recorded=recorded or {},
            seed=seed,
            fails=fails,
        )
        return from_zero(stage.run(program, dict(args or {}), settings.plan_limits))

    return run_in_virtual_time(_rehearsed(take, program.source, budget, takes, with_failures))


class _Played(Protocol):
    """Plays one take of a plan."""

    def __call__(self, seed: int, fails: Fails = ..., *, is_bounded: bool = ...) -> Awaitable[Take]: ...


async def _rehearsed(take: _Played, source: str, budget: int, takes: int | None, with_failures: bool) -> Rehearsal:
    first = await take(0)
    if first.is_short:
        return _refused(first, f"rehearsal: {first.error}; {await _enough_told(take, budget, takes)}")
    if first.error is not None:
        return _refused(first, f"rehearsal: {first.error}{_argument_missing(first.error, source)}")
    rows = [first, *[await take(seed) for seed in range(1, takes or _takes_for(first.agents))]]
    broken = next((row for row in rows if row.error is not None), None)
    if broken is not None:
        enough = f"; {await _enough_told(take, budget, takes)}" if broken.is_short else ""
        return _refused(broken, f"rehearsal: {broken.error}{enough}")
    always = {said: mistake for said, mistake in first.failed.items() if all(said in row.failed for row in rows)}
    mistakes = [said for said, mistake in always.items() if mistake]
    if mistakes:
        return _refused(first, f"rehearsal: {mistakes[0]}")
    if not with_failures:
        return _summary(rows, ())
    for number, fails in enumerate(_failures(first.agents)):
        shaky = await take(1_000 + number, fails)
        if shaky.error is not None:
            enough = f"; {await _enough_told(take, budget, takes, (1_000 + number, fails))}" if shaky.is_short else ""
            said = f"{_explained(shaky.error)}{enough}"
            return _refused(first, f"rehearsal with a quarter of the workers failing: {said}")
    advice = _advice(first, await take(2_000, _everyone))
    return _summary(rows, (*_always_failing(always), *advice, *_hedges_told(rows)))


async def _enough_told(take: _Played, budget: int, takes: int | None, *further: tuple[int, Fails]) -> str:
    """Say how much the whole plan needs, as far as it can be played to its end; it reads the same ``budget()``.

    :param further: takes in which some fail, each by its seed, that are to be paid for too.
    """
    rows = [await take(0, is_bounded=False)]
    if rows[0].error is not None:
        return "raise --cap, or ask for less"
    rows += [await take(seed, is_bounded=False) for seed in range(1, takes or _takes_for(rows[0].agents))]
    rows += [await take(seed, fails, is_bounded=False) for seed, fails in further]
    needs = max(max(row.needs, row.price) for row in rows)
    more = show_enough(needs - budget)
    return f"all of it needs about {show_enough(needs)} credits: raise --cap by {more} or more, or ask for less"


def _nobody(number: int, request: WorkerRequest) -> bool:
    return False


def _everyone(number: int, request: WorkerRequest) -> bool:
    return True


def _failures(agents: int) -> list[Fails]:
    """Return who fails in each take. In a small plan every worker fails once, alone among its neighbours; chance alone
    would often spare the one that the plan breaks on."""

    def by_chance(seed: int) -> Fails:
        return lambda number, request: request_random(request, seed).random() < _FAILING_SHARE

    def in_turn(turn: int) -> Fails:
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


def _advice(first: Take, all_failing: Take) -> tuple[str, ...]:
    advice = [f"the plan asks one question twice, with one answer: {label}" for label in first.repeated[:4]]
    if first.agents > 1 and first.system_tokens > _MOSTLY_SYSTEM * first.tokens:
        advice.append(
            f"{100 * first.system_tokens // first.tokens} % of the tokens are system texts, which each worker reads"
            " anew; shorten them, or give each worker more to do"
        )
    if all_failing.error is not None:
        advice.append(f"{BREAKS_WHEN_ALL_FAIL}: {_explained(all_failing.error)}")
    return tuple(advice)


def _always_failing(always: Iterable[str]) -> list[str]:
    """Say what tasks fail on whatever their workers answer: the run would ask them, and have nothing of it."""
    return [f"in every rehearsal this fails and gives None: {said}" for said in always][:4]


def _hedges_told(rows: list[Take]) -> tuple[str, ...]:
    """Say what second requests may add: how many there will be nobody knows, and each stays charged when it loses."""
    most = max(row.hedges for row in rows)
    if not most:
        return ()
    return (
        f"hedged requests (hedge_after_s) may add up to about {show_enough(most)} credits on top of the estimate, as "
        "far as the budget allows: each is charged at its highest price",
    )


def _refused(take: Take, problem: str) -> Rehearsal:
    return attrs.evolve(_summary([take], ()), problems=(problem,))


def _summary(rows: list[Take], advice: tuple[str, ...]) -> Rehearsal:
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


def _percentile(ordered: list[Take], share: float) -> int:
    """Return a percentile of the prices by the nearest-rank rule."""
    rank = max(0, -(-len(ordered) * share // 1) - 1)
    return ordered[int(rank)].price
