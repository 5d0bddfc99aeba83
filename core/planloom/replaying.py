"""A run played again from the ledger and its journal: nothing is asked, nothing is written, all must come out alike."""

from __future__ import annotations

from ._as_recorded import settings_as_recorded
from ._errors import Misuse, listed_differences
from ._in_thread import in_thread
from .data_classes import frozen
from .former import read_former
from .jobs import compile_plan
from .loom import Loom, Outcome
from .resuming import changed_since, is_whole, job_of
from .status import status_now
from .stores import RunRow
from .wording import counted
from .words import build_vocabulary

__all__ = ["Replayed", "replay_run"]

_NEVER_RAN = ("created", "held")
_MISSED = "replay met"


@frozen(kw_only=True)
class Replayed:
    """What a replay came to.

    :ivar equal: whether result and status are those that the run's record holds. :ivar said: that in words.
    """

    outcome: Outcome
    equal: bool
    said: str


async def replay_run(loom: Loom, row: RunRow) -> Replayed:
    """Play a run again; a worker that failed in it fails again.

    :raises Misuse: it never ran. :raises PlanRefused: its plan fails the check now.
    """
    if row.status == "refused":
        raise Misuse(f"the run {row.id} was refused, so there is nothing to replay; `planloom show {row.id}` says why")
    if row.status in _NEVER_RAN:
        raise Misuse(f"the run {row.id} is {row.status} and has nothing to replay; `planloom resume {row.id}` runs it")
    job = await in_thread(job_of, loom.registry, row)
    then = Loom(loom.registry, settings_as_recorded(loom.settings, row.facts), loom.store)
    program, _ = compile_plan(row.plan, build_vocabulary(loom.registry, then.settings, job.kits), row.title)
    former = read_former(loom.store, row)
    workers = int(row.facts.get("workers", loom.settings.workers))
    outcome = await then.run(job, program, row.plan, former=former, mode="replay", workers=workers)
    equal = (outcome.status, outcome.result) == (row.status, row.result)
    said = _said(row, status_now(loom.store, row), outcome, equal)
    changed = [] if equal else changed_since(then.settings, loom.store, row, job)
    if changed:
        said += f"\nsince the run was begun this has changed:\n{listed_differences(changed)}"
    return Replayed(outcome=outcome, equal=equal, said=said)


def _said(row: RunRow, status: str, outcome: Outcome, equal: bool) -> str:
    if not equal and is_whole(row):
        return _said_of_whole(row, outcome.error)
    if equal:
        answers = counted(outcome.reused, "stored answer")
        return f"the replay of {row.id} gives the stored result, from {answers}; nothing was asked"
    if outcome.error is not None and outcome.status != row.status:
        return f"the replay of {row.id}, which is {status}, came to no result: {outcome.error}"
    return (
        f"the replay of {row.id} gives another result than the stored one; its record or its plan's words changed: "
        f"compare `planloom replay {row.id} --json` with `planloom show {row.id} --json`"
    )


def _said_of_whole(row: RunRow, error: str | None) -> str:
    run, what = row.id, "gives another result than the stored one"
    if error is not None:
        # What a replay of any run says, that it be resumed, would find nothing missing here.
        what = f"came to no result: {error.partition('; ')[0] if error.startswith(_MISSED) else error}"
    return (
        f"the replay of {run}, which is completed and whole, {what}; its result is kept: `planloom show {run}` shows "
        f"it and `planloom export {run}` writes it whole, and `planloom resume {run} --as-new-run` makes a new run of "
        "what is there now"
    )
