"""A run that may begin: its plan checked, priced and judged by the gate, with nothing asked and nothing paid.

A proposal is a value, so that a person can be asked over it while nothing is open, and any planloom on the same store
can begin it. A plan that was rehearsed before under the same conditions is not rehearsed again: its estimate is read
from the earlier run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import attrs

from planlang import Program

from ._errors import PlanHeld, PlanRefused
from ._given_plan import Plan
from ._in_thread import in_thread
from ._room import Room, room_for
from ._worked_out import with_worked_out
from .data_classes import frozen
from .former import Former
from .gates import Decision
from .job import Job, books_of, is_unfinished
from .jobs import PricedPlan, decide, estimate_key, price_plan, recalled_plan, require_roles
from .money import Spent
from .settings import Settings
from .stores import Books, RunRow, Store
from .words import build_vocabulary

if TYPE_CHECKING:
    from .loom import Loom

__all__ = ["Approve", "Proposal", "approved", "books_for", "keep", "leave", "propose", "settings_with", "start_of"]

Approve = Callable[[PricedPlan, Decision], bool]
"""Decides over a plan that the gate holds: its price and the gate's reason in, yes or no out."""

_NOTHING = Spent()
_ESTIMATE = "estimate"


@frozen(kw_only=True)
class Proposal:
    """A run that may begin or go on.

    :ivar job: what is to be done, its work opened. :ivar plan: what does it, and ``program`` the same, checked.
    :ivar priced: what it would need, and ``decision`` what the gate says of that; both are ``None`` for a run that goes
        on and was approved before.
    :ivar former: what the run is so far, where it goes on under its own id.
    :ivar roles: those that it uses. :ivar workers: how many it may have, where that is not the configured number.
    :ivar books: the books that planning was paid from, empty where there was none; ``planned`` is what it cost.
    """

    job: Job
    plan: Plan
    program: Program
    priced: PricedPlan | None = None
    decision: Decision | None = None
    former: Former | None = None
    roles: tuple[str, ...] = ()
    workers: int | None = None
    books: str = ""
    planned: Spent = _NOTHING

    @property
    def reporter(self) -> str:
        """The kit that reports on the run when it has ended; empty for none."""
        facts = self.job.facts if self.former is None else self.former.row.facts
        return str(facts.get("reporter", ""))

    def approved(self) -> Proposal:
        """Return it with a person's approval."""
        assert self.decision is not None, "what was approved before is not decided again"
        return attrs.evolve(self, decision=attrs.evolve(self.decision, verdict="approved", who="person"))

    def decided_job(self) -> Job:
        """Return the job with what was decided, and when."""
        if self.decision is None:
            return self.job
        kept = {**attrs.asdict(self.decision), "at": datetime.now(UTC).isoformat(timespec="seconds")}
        return attrs.evolve(self.job, facts={**self.job.facts, "decision": kept})


async def propose(
    loom: Loom,
    job: Job,
    plan: Plan,
    *,
    former: Former | None = None,
    workers: int | None = None,
    books: str = "",
    planned: Spent = _NOTHING,
) -> Proposal:
    """Check and price a plan, and hear the gate; the parameters are those of :class:`Proposal`.

    :raises PlanRefused: the check found problems.
    """
    settings = settings_with(loom.settings, workers)
    room = attrs.evolve(_room(loom, job, plan, former, books), planned=planned.full_price)
    key = estimate_key(loom.registry, settings, job, plan.source, room)
    priced = await _priced(loom, settings, job, plan, room, loom.recall(job.key, _ESTIMATE, key))
    before = former.row.facts if former is not None else None
    return Proposal(
        job=with_worked_out(job, _ESTIMATE, key, priced.as_facts(), before),
        plan=plan,
        program=priced.program,
        priced=priced,
        decision=decide(loom.registry, settings, priced.rehearsal, room),
        former=former,
        roles=tuple(priced.rehearsal.roles),
        workers=workers,
        books=books,
        planned=planned,
    )


def settings_with(settings: Settings, workers: int | None) -> Settings:
    """Return the settings of a run that may have that many workers."""
    return settings if workers is None else attrs.evolve(settings, workers=workers)


def _room(loom: Loom, job: Job, plan: Plan, former: Former | None, books: str) -> Room:
    if former is None:
        return room_for(loom, job, plan.source, books)
    return attrs.evolve(room_for(loom, job, plan.source, former.row.budget), recorded={})


async def _priced(
    loom: Loom, settings: Settings, job: Job, plan: Plan, room: Room, known: Mapping[str, Any] | None
) -> PricedPlan:
    """Return the plan with its price.

    :param known: the estimates of an earlier run under the same conditions.
    """
    vocabulary = build_vocabulary(loom.registry, settings, job.kits)
    if known is not None:
        return recalled_plan(plan.source, vocabulary, known, plan.name)
    return await in_thread(
        price_plan,
        plan.source,
        vocabulary,
        registry=loom.registry,
        settings=settings,
        works=job.works,
        room=room,
        args=job.args,
        name=plan.name,
    )


# --- what becomes of it


async def approved(loom: Loom, proposal: Proposal, approve: Approve | bool) -> Proposal:
    """Return a proposal that may begin: with the gate's approval, or whoever's is asked where the gate holds it.

    :raises PlanRefused: the gate refused it. :raises PlanHeld: nobody approved it; either is stored, with the reason.
    """
    decision, priced = proposal.decision, proposal.priced
    if decision is None or priced is None or decision.verdict == "approved":
        return proposal
    if decision.verdict == "held" and (approve if isinstance(approve, bool) else approve(priced, decision)):
        return proposal.approved()
    reason = f"the plan is {decision.verdict}: {decision.reason}"
    await keep(loom, proposal, reason)
    if decision.verdict == "refused":
        raise PlanRefused(reason)
    raise PlanHeld(f"{reason}; approve it with `approve`, here or when the run is resumed")


def start_of(loom: Loom, proposal: Proposal) -> dict[str, Any]:
    """Return what a loom is told to run, but for its caller's own wishes.

    :raises ConfigurationError: a role that the plan uses is not configured.
    """
    job, source, former = proposal.job, proposal.plan.source, proposal.former
    return {
        "job": proposal.decided_job(),
        "program": proposal.program,
        "source": source,
        "former": former,
        "budget": (proposal.books or books_for(loom, job)) if former is None else None,
        "recorded": loom.recorded(job, source) if former is None else None,
        "planned": proposal.planned,
        "roles": _roles(loom, proposal),
        "workers": proposal.workers,
    }


async def keep(loom: Loom, proposal: Proposal, reason: str) -> str:
    """Store a plan that does not run now, with what was decided and what planning cost; return its run's id.

    :param reason: why it does not.
    """
    assert proposal.decision is not None, "what may run is begun or left"
    status, job = proposal.decision.verdict, proposal.decided_job()
    if proposal.former is not None:
        return await _kept_again(loom, proposal.former.row, job, status, reason)
    return await loom.keep_unrun(
        job, proposal.plan.source, status, reason, budget=proposal.books, planned=proposal.planned
    )


async def leave(loom: Loom, proposal: Proposal) -> str:
    """Store a run that may begin, for another process to drive; return its id.

    :raises ConfigurationError: a role that the plan uses is not configured.
    """
    roles, job, source = _roles(loom, proposal), proposal.decided_job(), proposal.plan.source
    if proposal.former is not None:
        row = proposal.former.row
        return row.id if proposal.decision is None else await _kept_again(loom, row, job, "created")
    recorded, budget = loom.recorded(job, source), proposal.books or books_for(loom, job)
    run = await loom.keep_unrun(job, source, "created", budget=budget, planned=proposal.planned, roles=roles)
    for place, value in recorded.items():
        await loom.store.write_journal(run, place, value)
    return run


async def _kept_again(loom: Loom, row: RunRow, job: Job, status: str, reason: str = "") -> str:
    facts = {**row.facts, **job.facts}
    await loom.store.save_run(attrs.evolve(row, status=status, error=reason or None, facts=facts))
    return row.id


def books_for(loom: Loom, job: Job) -> str:
    """Return the books of the job's next run: an unfinished one hands on its own, so that what it spent still counts
    under the cap.

    New ones are named after the run that came before: who else begins the same job in this moment names them so too,
    and both have one budget.
    """
    while True:
        newest = loom.newest(job)
        if newest is not None and is_unfinished(newest):
            return books_of(newest)
        books = _new_books(loom.store, f"job-{job.key}-{newest.id}" if newest is not None else f"job-{job.key}")
        # A run is stored before it spends anything: where one was not yet, the books that were used were of others.
        if loom.newest(job) == newest:
            return books


def _new_books(store: Store, name: str) -> str:
    """Return a name of new books: another one where books of that name were used, by runs that were let go since."""
    names = chain([name], (f"{name}.{number}" for number in count(2)))
    return next(name for name in names if not _were_used(store.books(name)))


def _were_used(books: Books) -> bool:
    """Whether something was paid from books that nobody pays from now."""
    return bool(books.spent + books.uncertain) and not books.reserved


def _roles(loom: Loom, proposal: Proposal) -> tuple[str, ...]:
    return proposal.roles if proposal.priced is None else require_roles(loom.settings, proposal.priced.rehearsal)
