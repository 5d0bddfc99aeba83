"""What a run begins with, or goes on with, and the row that it then has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from planlang import Limits, Program

from ._budget_line import OnCap
from .data_classes import frozen
from .former import Former
from .front_door import Mode
from .job import Job, limit_facts, new_row, role_facts, run_id_of
from .listeners import Listener
from .money import Spent
from .settings import Settings
from .stores import RunRow

__all__ = ["STARTS", "Start"]

STARTS = "starts"
"""The fact that says how often a run was started: a driver that finds another number than its own drives no more."""


@frozen(kw_only=True)
class Start:
    """What is to be run, and how.

    :ivar settings: the loom's, where the run has none of its own.
    :ivar planned: what planning cost before this run, from the same books.
    :ivar recorded: what an unfinished run of this plan recorded.
    :ivar former: the run's earlier starts, for one that goes on.
    :ivar roles: whose clients must open before anything is asked, all configured ones when ``None``.
    """

    job: Job
    program: Program
    source: str
    settings: Settings
    budget: str | None = None
    planned: Spent = attrs.field(factory=Spent)
    recorded: Mapping[str, Any] = attrs.field(factory=dict)
    mode: Mode = "collect"
    on_cap: OnCap = "stop"
    listeners: tuple[Listener, ...] = ()
    roles: tuple[str, ...] | None = None
    former: Former | None = None

    @property
    def limits(self) -> Limits:
        """What the plan may use."""
        return self.settings.plan_limits

    @property
    def asks(self) -> Mode:
        """How the ledger's answers are used."""
        return "refresh" if self.job.refresh and self.mode == "collect" else self.mode

    def row(self) -> RunRow:
        """Return the row that the run begins with, or goes on with."""
        if self.former is None:
            run_id = run_id_of(self.job.title)
            job = attrs.evolve(self.job, facts={**self.job.facts, STARTS: 1})
            return new_row(
                job,
                self.settings,
                self.source,
                run_id,
                self.budget or f"job-{run_id}",
                planned=self.planned,
                roles=self.roles,
            )
        row = self.former.row
        starts = row.facts.get(STARTS, 0) + 1
        changed = {
            "cap": self.job.cap,
            "workers": self.settings.workers,
            "limits": limit_facts(self.settings),
            "roles": self._roles_now(row),
            "planned": attrs.asdict(self.planned),
            STARTS: starts,
        }
        facts = {**row.facts, **self.job.facts, **changed}
        return attrs.evolve(row, budget=self.budget or row.budget or f"job-{row.id}", error=None, facts=facts)

    def _roles_now(self, row: RunRow) -> dict[str, Any]:
        """A role that had no answer yet may have been mended."""
        then = row.facts.get("roles", {})
        return {
            name: role_facts(self.settings, name) if name in self.settings.roles else role
            for name, role in then.items()
        }
