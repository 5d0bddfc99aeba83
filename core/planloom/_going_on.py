"""Runs that go on, proposed: the same run with what is missing, or a new one of what its job is now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ._given_plan import Plan
from ._in_thread import in_thread
from ._proposals import Proposal, propose
from .job import books_of, plan_hash
from .resuming import Reopened, cap_of, check_resumable, job_of, lacks_nothing, reopen, unapproved
from .stores import RunRow

if TYPE_CHECKING:
    from .loom import Loom

__all__ = ["propose_anew", "propose_going_on"]

_KEPT_FOR_REPORT = ("reporter", "out", "named", "sheet", "plan_name", "target_bytes")


async def propose_going_on(
    loom: Loom,
    row: RunRow,
    *,
    cap: int | None = None,
    workers: int | None = None,
    args: Mapping[str, Any] | None = None,
    source: str | None = None,
    release_uncertain: bool = False,
) -> Proposal | None:
    """Return a run ready to go on, or ``None`` when nothing is missing; priced where nobody approved it yet.

    :param cap: its budget from now on, in micro-credits. :param workers: how many it may have, likewise.
    :param args: arguments, and ``source`` the plan, as they are given now.
    :param release_uncertain: free what calls of unknown outcome keep charged, also where nothing else is missing.
    :raises Misuse: it cannot go on. :raises JournalDiverged: it is not what its record says.
    :raises PlanRefused: its plan was refused, or fails the check now.
    """
    check_resumable(loom.store, row, workers or loom.settings.workers)
    ready = await in_thread(_reopened, loom, row, args=args, source=source, workers=workers)
    if release_uncertain:
        for call in loom.store.uncertain_calls(row.budget):
            await loom.store.release(call.call_id)
    return None if ready is None else await _proposed(loom, row, ready, cap)


def _reopened(
    loom: Loom, row: RunRow, *, args: Mapping[str, Any] | None, source: str | None, workers: int | None
) -> Reopened | None:
    registry, settings, store = loom.registry, loom.settings, loom.store
    if lacks_nothing(registry, settings, store, row, args=args, source=source):
        return None
    return reopen(registry, settings, store, row, args=args, source=source, workers=workers)


async def _proposed(loom: Loom, row: RunRow, ready: Reopened, cap: int | None) -> Proposal:
    job, plan = ready.job, Plan(ready.source, row.title)
    if cap is not None:
        await loom.store.open_budget(books_of(row), cap)
        await loom.store.set_cap(books_of(row), cap)
        job = attrs.evolve(job, cap=cap)
    if unapproved(row):
        priced = await propose(loom, job, plan, former=ready.former, planned=ready.planned)
        return attrs.evolve(priced, workers=ready.workers)
    return Proposal(
        job=job,
        plan=plan,
        program=ready.program,
        former=ready.former,
        roles=ready.roles,
        workers=ready.workers,
        planned=ready.planned,
    )


async def propose_anew(
    loom: Loom,
    row: RunRow,
    *,
    cap: int | None = None,
    workers: int | None = None,
    args: Mapping[str, Any] | None = None,
    plan: Plan | None = None,
) -> Proposal:
    """Return a new run of an earlier one's job as that is now, which reuses every answer that still fits.

    The parameters are those of :func:`propose_going_on`; the budget is the earlier run's where none is given.
    """
    job = await in_thread(job_of, loom.registry, row, args)
    given = plan or Plan(row.plan, row.title)
    facts = {name: row.facts[name] for name in _KEPT_FOR_REPORT if name in row.facts}
    if workers is not None:
        facts["workers"] = workers
    job = attrs.evolve(
        job,
        cap=cap_of(loom.store, row) if cap is None else cap,
        plan=plan_hash(given.source) if job.plan else "",
        refresh=False,
        facts=facts,
    )
    return await propose(loom, job, given, workers=workers)
