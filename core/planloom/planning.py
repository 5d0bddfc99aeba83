"""The plan that a lead wrote for a job, kept with the sheet it was asked with for when the job is begun again.

The budget stands on the sheet. Who raises it to go on where a run stopped must not pay for a second plan, whose
questions may all be others. So sheet and plan stay as they are under a higher budget, as long as all else that the lead
is asked is the same; a lower one than the sheet names makes a new sheet, since a plan for more money may not fit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import attrs

from planlang import Vocabulary

from .data_classes import frozen
from .job import Job, role_facts
from .jobs import messages_to_lead, without_budget
from .kits import Kit
from .lead import Attempt, WrittenPlan
from .questions import canonical_json
from .settings import Settings

__all__ = ["PLANNING", "Planning", "planning_key"]

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

    def as_facts(self, key: str) -> dict[str, Any]:
        """Return it as a run keeps what was worked out for its job."""
        return {PLANNING: {"key": key, "value": attrs.asdict(self)}}

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


def planning_key(settings: Settings, job: Job, kit: Kit, vocabulary: Vocabulary, sheet: str) -> str:
    """Return a hash of all that a lead is asked for a job, but for the budget."""
    asked = {
        "messages": messages_to_lead(settings, job, kit, vocabulary, without_budget(sheet)),
        "role": role_facts(settings, "lead"),
    }
    return hashlib.sha256(canonical_json(asked)).hexdigest()
