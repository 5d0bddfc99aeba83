"""The plan that a lead writes for a job, kept with the sheet it was asked with for when the job is begun again.

The budget stands on the sheet. Who raises it to go on where a run stopped must not pay for a second plan, whose
questions may all be others. So sheet and plan stay as they are under a higher budget, as long as all else that the lead
is asked is the same; a lower one than the sheet names makes a new sheet, since a plan for more money may not fit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from planlang import Vocabulary

from ._errors import RunAborted
from ._proposals import books_for
from ._worked_out import with_worked_out
from .clients import ModelError
from .control import RunControl
from .data_classes import frozen
from .job import Job, ending_of, role_facts
from .jobs import lead_has_begun, messages_to_lead, without_budget, write_plan
from .kits import Kit
from .lead import Attempt, WrittenPlan
from .questions import canonical_json
from .settings import Settings
from .words import build_vocabulary

if TYPE_CHECKING:
    from .loom import Loom

__all__ = ["PLANNING", "Planned", "Planning", "keep_refused", "plan_job", "planning_key"]

PLANNING = "planning"
"""What it is called among the things that were worked out for a job."""


@frozen(kw_only=True)
class Planning:
    """What the lead of a job was asked, and what it wrote.

    :ivar cap: the budget that the sheet names, in micro-credits.
    :ivar source: the accepted plan, ``None`` while there is none.
    """

    cap: int
    sheet: str
    source: str | None = None
    attempts: tuple[Attempt, ...] = ()

    @classmethod
    def from_facts(cls, value: Mapping[str, Any]) -> Planning:
        """Return what a run kept; its attempts are known by now, and cost nothing."""
        attempts = tuple(
            Attempt(**{**attempt, "problems": tuple(attempt["problems"]), "cached": True})
            for attempt in value["attempts"]
        )
        return cls(cap=value["cap"], sheet=value["sheet"], source=value["source"], attempts=attempts)

    def written(self) -> WrittenPlan:
        """Return the plan as its lead gave it."""
        return WrittenPlan(source=self.source, rehearsal=None, attempts=self.attempts)


@frozen(kw_only=True)
class Planned:
    """A job with the plan that its lead wrote.

    :ivar job: the job, which keeps the plan and its sheet. :ivar written: the plan, and how the lead came to it.
    :ivar cap: the budget that its sheet names, in micro-credits.
    :ivar books: the books that it was paid from; empty where it was written before.
    """

    job: Job
    written: WrittenPlan
    cap: int
    books: str = ""


async def plan_job(
    loom: Loom, job: Job, kit: Kit, sheet: str, cap: int, control: RunControl, *, anew: bool = False
) -> Planned:
    """Have the lead write the plan of a job, unless it has written one for this job and no higher budget.

    :param sheet: the facts, and ``cap`` the budget that they name. :param anew: have another one written all the same.
    :raises RunAborted: the lead cannot be asked, or it was cancelled. :raises ModelError: it gave no answer; either
        is stored, with what was spent.
    """
    vocabulary = build_vocabulary(loom.registry, loom.settings, job.kits)
    key = planning_key(loom.settings, job, kit, vocabulary, sheet)
    planning = None if anew else _earlier(loom, job, kit, vocabulary, key)
    planning = planning or Planning(cap=cap, sheet=sheet)
    books = ""
    if planning.source is None:
        job, books = _with(job, key, planning), books_for(loom, job)
        written = await _ask_lead(loom, job, kit, vocabulary, planning.sheet, books, control, anew=anew)
        planning = attrs.evolve(planning, source=written.source, attempts=written.attempts)
    return Planned(job=_with(job, key, planning), written=planning.written(), cap=planning.cap, books=books)


def _with(job: Job, key: str, planning: Planning) -> Job:
    job = attrs.evolve(job, facts={**job.facts, "sheet": planning.sheet})
    return with_worked_out(job, PLANNING, key, attrs.asdict(planning))


def _earlier(loom: Loom, job: Job, kit: Kit, vocabulary: Vocabulary, key: str) -> Planning | None:
    """Return what was planned before, unless that was for more money, or the lead has not begun: then what its sheet
    says of the budget need not hold."""
    facts = loom.recall(job.key, PLANNING, key)
    if facts is None:
        return None
    planning = Planning.from_facts(facts)
    if planning.cap > job.cap:
        return None
    has_begun = planning.source is not None or lead_has_begun(loom, job, kit, vocabulary, planning.sheet)
    return planning if has_begun else None


async def _ask_lead(
    loom: Loom, job: Job, kit: Kit, vocabulary: Vocabulary, sheet: str, books: str, control: RunControl, *, anew: bool
) -> WrittenPlan:
    try:
        return await write_plan(loom, job, kit, vocabulary, sheet, books, control, anew=anew)
    except (RunAborted, ModelError) as error:
        # What was spent is known by the books' name, which the next start of this job finds here.
        status, _, reason = ending_of(error)
        await loom.keep_unrun(job, "", status, str(reason), budget=books)
        raise


async def keep_refused(loom: Loom, planned: Planned, reason: str) -> str:
    """Store a job whose lead wrote no plan that will do, with its last try and the reason; return its run's id."""
    written = planned.written
    last = written.attempts[-1].source
    return await loom.keep_unrun(planned.job, last, "refused", reason, budget=planned.books, planned=written.spent)


def planning_key(settings: Settings, job: Job, kit: Kit, vocabulary: Vocabulary, sheet: str) -> str:
    """Return a hash of all that a lead is asked for a job, but for the budget."""
    asked = {
        "messages": messages_to_lead(settings, job, kit, vocabulary, without_budget(sheet)),
        "role": role_facts(settings, "lead"),
    }
    return hashlib.sha256(canonical_json(asked)).hexdigest()
