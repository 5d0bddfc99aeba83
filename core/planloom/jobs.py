"""From a plan's text to a run: check, rehearse, decide. Every command that runs plans goes through here."""

from __future__ import annotations

import ast
import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any

import attrs

from planlang import DEFAULT_RULES, Problem, Program, Vocabulary, check
from planlang import compile as compile_program

from ._budget_line import BudgetLine
from ._disk import Disk
from ._errors import Misuse, PlanRefused
from ._pauses import Pauses
from ._room import Room, room_for
from .data_classes import frozen
from .front_door import Asker, FrontDoor, Mode
from .gates import Decision, Gate, held_at_store, named_after_store
from .kits import Kit, KitWork
from .lead import WrittenPlan, lead_messages, write_program
from .loom import Job, Loom, RunControl, plan_hash
from .money import Price, show_price
from .plugins import Registry
from .prompts import prompt_digests, resolved_prompt
from .questions import Question, Reply, canonical_json, message_of
from .rehearsal import Rehearsal, rehearse
from .saved_plans import plan_digests, plans_called, plans_named, saved_plans
from .scouts import Scout, compose_sheet
from .settings import DEFAULT_PRICES, RoleSettings, Settings
from .wording import counted
from .words import build_vocabulary

__all__ = [
    "PricedPlan",
    "check_target",
    "compile_plan",
    "decide",
    "default_price",
    "estimate_key",
    "fact_sheet",
    "kits_in",
    "lead_has_begun",
    "messages_to_lead",
    "price_plan",
    "recalled_plan",
    "require_roles",
    "without_budget",
    "write_plan",
]


@frozen(kw_only=True)
class PricedPlan:
    """A plan that passed the check, with what it would need.

    :ivar rehearsal: at the prices that the run will pay. :ivar with_models: at the default prices, where the run is
        offline and free; ``None`` elsewhere.
    """

    source: str
    program: Program
    vocabulary: Vocabulary
    rehearsal: Rehearsal
    with_models: Rehearsal | None
    advice: tuple[Problem, ...] = ()

    def as_facts(self) -> dict[str, Any]:
        """Return the estimates as a run keeps them; :func:`recalled_plan` reads them back."""
        facts = {"estimate": self.rehearsal.as_json()}
        return facts | ({"estimate_with_models": self.with_models.as_json()} if self.with_models else {})


def kits_in(registry: Registry, settings: Settings, source: str) -> tuple[Kit, ...]:
    """Return the installed kits whose words or values a plan uses, itself or in the saved plans that it may call."""
    return _kits_used(registry, settings, source, plans_called)


def _kits_used(
    registry: Registry, settings: Settings, source: str, called: Callable[[str, Iterable[str]], list[str]]
) -> tuple[Kit, ...]:
    kits = registry.all("kit", Kit).values()
    saved = saved_plans(kits, settings)
    sources = [source, *(saved[name].source for name in called(source, saved))]
    named = {name for text in sources for name in _names_used(text)}
    return tuple(kit for kit in kits if any(e.name in named for e in kit.vocabulary(registry, settings)))


@lru_cache(maxsize=128)
def _names_used(source: str) -> frozenset[str]:
    """Return the names that a plan reads and does not bind itself; a prompt may say `report` and mean no word."""
    try:
        # What a plan may say is all Python, which reads names inside f-strings too.
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The check will refuse it, and should know every word that it might mean.
        return frozenset(re.findall(r"[A-Za-z_]\w*", source))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return frozenset(name.id for name in names) - bound


def compile_plan(source: str, vocabulary: Vocabulary, name: str = "plan") -> tuple[Program, tuple[Problem, ...]]:
    """Return the program of a plan and the checker's advice.

    :raises PlanRefused: with every problem, rendered.
    """
    problems = check(source, vocabulary)
    blocking = [problem for problem in problems if problem.severity == "problem"]
    if blocking:
        shown = "\n\n".join(problem.render(source, name) for problem in blocking)
        raise PlanRefused(f"{shown}\n\nthe plan has {counted(len(blocking), 'problem')}; mend the lines above")
    return compile_program(source, vocabulary), tuple(problems)


def check_target(
    registry: Registry, settings: Settings, source: str, name: str, target: str | None, option: str
) -> None:
    """Return when a plan has a target that something in it works on, or can begin without one.

    A plan that works out which saved plan it calls may need one or not: it hears when it comes to a kit's words.

    :param option: what gives the target, with what stands for it.
    :raises Misuse: it has none and needs one, or has one and uses no kit.
    :raises PlanRefused: it uses no kit because the check finds problems, such as a misspelled word of one.
    """
    if not target:
        names = ", ".join(kit.name for kit in _kits_used(registry, settings, source, plans_named))
        if names:
            raise Misuse(f"{name} uses words of the kit {names}; say what it works on with {option}")
    elif not kits_in(registry, settings, source):
        kits = tuple(registry.all("kit", Kit).values())
        compile_plan(source, build_vocabulary(registry, settings, kits), name)
        bare = option.split()[0]
        raise Misuse(f"{name} uses no word of a kit, so that nothing in it works on a target; leave {bare} out")


def default_price(role: str) -> Price:
    """Return what a role's call costs where no model is configured."""
    return DEFAULT_PRICES.get(role, DEFAULT_PRICES["worker"])


def price_plan(
    source: str,
    vocabulary: Vocabulary,
    *,
    registry: Registry,
    settings: Settings,
    works: Mapping[str, KitWork],
    room: Room,
    args: Mapping[str, Any] | None = None,
    name: str = "plan",
) -> PricedPlan:
    """Check and rehearse a plan. Call it where no event loop is running.

    :param room: what the run may spend; a plan that would stop at its job's cap is refused, one that would pass the
        store's is priced to its end.
    :raises PlanRefused: the check found problems.
    """
    program, advice = compile_plan(source, vocabulary, name)

    rehearsed = partial(
        rehearse,
        program,
        registry=registry,
        settings=settings,
        works=works,
        budget=room.left_of_job,
        seen=room.left,
        recorded=room.recorded,
        args=args,
    )
    free = settings.offline
    return PricedPlan(
        source=source,
        program=program,
        vocabulary=vocabulary,
        # What is free costs the same in every take.
        rehearsal=rehearsed(prices=lambda role: settings.role(role).price, takes=1 if free else None),
        with_models=rehearsed(prices=default_price, with_failures=False) if free else None,
        advice=advice,
    )


def estimate_key(registry: Registry, settings: Settings, job: Job, source: str, room: Room) -> str:
    """Return a hash of everything that a rehearsal of this plan rests on."""
    rests_on = {
        "version": version("planloom"),
        "plan": plan_hash(source),
        "job": job.key,
        "cap": [room.left_of_job, room.left],
        "recorded": dict(room.recorded),
        "workers": settings.workers,
        "limits": list(settings.plan_limits),
        "hedged": {name: endpoint.hedge_after_s is not None for name, endpoint in settings.endpoints.items()},
        "prices": {name: attrs.asdict(role.price) for name, role in settings.roles.items()},
        "kits": [[kit.name, kit.version] for kit in job.kits],
        "work": {name: work.digest() for name, work in job.works.items()},
        "prompts": prompt_digests(job.kits, settings),
        "saved_plans": plan_digests(job.kits, settings),
        "settings": {name: dict(own) for name, own in settings.kits.items()},
        "plugins": [[facts.name, facts.version] for facts in registry.facts()],
    }
    return hashlib.sha256(canonical_json(rests_on)).hexdigest()


def recalled_plan(source: str, vocabulary: Vocabulary, facts: Mapping[str, Any], name: str = "plan") -> PricedPlan:
    """Check a plan and give it the estimates that an earlier run under the same key kept.

    :raises PlanRefused: the check found problems.
    """
    program, advice = compile_plan(source, vocabulary, name)
    models = facts.get("estimate_with_models")
    return PricedPlan(
        source=source,
        program=program,
        vocabulary=vocabulary,
        rehearsal=Rehearsal.from_json(facts["estimate"]),
        with_models=Rehearsal.from_json(models) if models else None,
        advice=advice,
    )


def decide(registry: Registry, settings: Settings, rehearsal: Rehearsal, room: Room) -> Decision:
    """Return what the configured gate says of a rehearsed plan; one that the store's cap may not pay for is held.

    Held and not refused: what is answered is priced too, and may be had for nothing.

    :raises UnknownNameError: no gate of that name is installed.
    """
    gate = registry.get("gate", settings.gate.policy, Gate)
    if room.store is None or rehearsal.credits_p90 <= max(0, room.store - room.planned):
        decision = gate.decide(rehearsal, room.budget, settings.gate)
        return named_after_store(decision, room) if room.budget < room.job else decision
    decision = gate.decide(rehearsal, room.job, settings.gate)
    return decision if decision.verdict == "refused" else held_at_store(rehearsal.credits_p90, room)


def fact_sheet(registry: Registry, settings: Settings, works: Mapping[str, KitWork], cap: int) -> str:
    """Return the fact sheet of a job: its kits' scouts, then prices and limits."""
    scouts = sorted(registry.all("scout", Scout).values(), key=lambda scout: (scout.order, scout.name))
    reports = [(scout.share_tokens, scout.report(works[scout.kit])) for scout in scouts if scout.kit in works]
    return f"{compose_sheet(reports)}\n\n{_prices_and_limits(settings, cap)}".strip()


def _prices_and_limits(settings: Settings, cap: int) -> str:
    # What the provider's cache saves is nothing that a plan can count on.
    prices = {role.name: attrs.evolve(role.price, cached_input=None) for role in settings.roles.values()}
    lines = ["PRICES AND LIMITS", *(f"{name}: {show_price(price)}" for name, price in prices.items())]
    lines.append(f"at most {settings.workers:,} workers, {settings.in_flight} at once")
    rules = DEFAULT_RULES
    lines.append(
        f"a plan has at most {rules.code_lines} lines of code and {rules.code_characters:,} characters outside strings"
    )
    lines.append(f"budget: {cap / 1e6:g} credits")
    return "\n".join(lines)


def without_budget(sheet: str) -> str:
    """Return a fact sheet without its last line, the budget."""
    return sheet.rpartition("\n")[0]


def messages_to_lead(
    settings: Settings, job: Job, kit: Kit, vocabulary: Vocabulary, sheet: str
) -> list[tuple[str, str]]:
    """Return the first messages to the lead of a job."""
    return lead_messages(resolved_prompt(kit, "lead", settings), vocabulary, job.text or kit.job, sheet)


async def write_plan(
    loom: Loom,
    job: Job,
    kit: Kit,
    vocabulary: Vocabulary,
    sheet: str,
    budget: str,
    control: RunControl | None = None,
    *,
    anew: bool = False,
) -> WrittenPlan:
    """Have the lead write the plan of a job, within the job's budget.

    :param control: cancels it; what the lead is then writing is still waited for, and kept.
    :param anew: ask the lead also what the ledger has its answer to.
    :raises RunAborted: the lead cannot be asked, or it was cancelled. :raises ModelError: it gave no answer.
    """
    control, settings = control or RunControl(), loom.settings
    messages = messages_to_lead(settings, job, kit, vocabulary, sheet)
    # The lead can be told to ask for less, whosever cap it is.
    may_spend = room_for(loom, job, "", budget).budget

    async def rehearse_source(source: str) -> Rehearsal:
        priced = await asyncio.to_thread(
            price_plan,
            source,
            vocabulary,
            registry=loom.registry,
            settings=settings,
            works=job.works,
            room=Room(job=may_spend, planned=asker.spent),
            args=job.args,
        )
        return priced.rehearsal

    asker = _LeadDesk(loom, budget, control, "refresh" if anew else "collect")
    await loom.open_budget(budget, job.cap)
    written = await write_program(messages, vocabulary, asker.ask, rehearse_source)
    control.abort.check()
    return written


class _LeadDesk:
    """Asks the lead through a door of its own, before there is a run.

    :ivar spent: what it cost so far at full price, in micro-credits.
    """

    def __init__(self, loom: Loom, budget: str, control: RunControl, mode: Mode) -> None:
        self._role = loom.settings.role("lead")
        self.spent = 0
        abort = control.abort
        pauses = Pauses(lambda at: None)
        # There is no run yet that could be seen to wait: for room, or for an account.
        disk = Disk(abort, pauses, lambda *_: None, waits=False)
        line = BudgetLine(
            loom.store, budget, on_cap="stop", abort=abort, emit=lambda *_: None, pauses=pauses, disk=disk
        )
        self._door = control.door = FrontDoor(
            loom.store,
            client_of=loom.client,
            line=line,
            lane_of=loom.lanes.of,
            in_flight=loom.settings.in_flight,
            abort=abort,
            emit=lambda *_: None,
            pauses=pauses,
            disk=disk,
            at_quota="stop",
            mode=mode,
        )
        self._asker = Asker(run="planning", thread="lead", started=lambda: None)

    async def ask(self, messages: Sequence[tuple[str, str]]) -> Reply:
        reply = await self._door.ask(_question_to(self._role, messages), self._role, self._asker)
        self.spent += reply.price
        return reply


def _question_to(role: RoleSettings, messages: Sequence[tuple[str, str]]) -> Question:
    return Question(
        endpoint=role.endpoint,
        model=role.model,
        messages=tuple(message_of(speaker, text) for speaker, text in messages),
        parameters=role.parameters,
    )


def lead_has_begun(loom: Loom, job: Job, kit: Kit, vocabulary: Vocabulary, sheet: str) -> bool:
    """Return whether the lead has answered the first question about this sheet."""
    messages = messages_to_lead(loom.settings, job, kit, vocabulary, sheet)
    question = _question_to(loom.settings.role("lead"), messages)
    return loom.store.reply(question.fingerprint) is not None


def require_roles(settings: Settings, rehearsal: Rehearsal) -> tuple[str, ...]:
    """Return the roles that a rehearsed plan uses, all configured.

    :raises ConfigurationError: one is not.
    """
    for role in rehearsal.roles:
        settings.role(role)
    return tuple(rehearsal.roles)
