"""The desk: where a job is planned, priced, approved and run, step by step, from a terminal.

Each step that needs the store opens it for itself, so that no event loop runs while a person is asked. A plan that was
rehearsed before under the same conditions is not rehearsed again: its estimate is read from the earlier run.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import attrs
from rich.console import Console
from rich.text import Text

from ._errors import PlanHeld, PlanRefused, RunAborted
from .clients import ModelError
from .gates import Decision
from .jobs import PricedPlan, decide, estimate_key, price_plan, recalled_plan, require_roles, write_plan
from .kits import Kit
from .lead import WrittenPlan
from .loom import Job, Outcome, RunControl, ending_of, open_loom
from .money import Spent
from .plugins import Registry
from .settings import Settings
from .stores import RunRow
from .terminal import Progress, approve, run_cancellable, show_rehearsal
from .words import build_vocabulary

__all__ = ["JobDesk"]

_ESTIMATE = "estimate"


@attrs.define(kw_only=True)
class JobDesk:
    """Takes one job from plan to outcome; its owner calls the steps in order, where no event loop is running.

    :ivar console: where prices and progress are shown. :ivar confirm: asks a person a yes-or-no question.
    :ivar yes: the person approves whatever the plan costs within the budget.
    :ivar planned: what planning cost, once a plan was written.
    """

    registry: Registry
    settings: Settings
    job: Job
    console: Console
    confirm: Callable[[str], bool]
    yes: bool = False
    planned: Spent = attrs.field(factory=Spent)
    _budget: str = ""

    def write(self, kit: Kit, sheet: str) -> WrittenPlan:
        """Have the lead write the plan.

        :raises RunAborted: the lead cannot be asked, or it was cancelled. :raises ModelError: it gave no answer.
        """

        async def main(control: RunControl) -> WrittenPlan:
            async with open_loom(self.registry, self.settings) as loom:
                self._budget = self._budget_of(loom.unfinished(self.job))
                vocabulary = build_vocabulary(self.registry, self.settings, self.job.kits)
                try:
                    return await write_plan(loom, self.job, kit, vocabulary, sheet, self._budget, control)
                except (RunAborted, ModelError) as error:
                    # What was spent is known by the books' name, which the next start of this job finds here.
                    status, _, reason = ending_of(error)
                    await loom.keep_unrun(self.job, "", status, str(reason), budget=self._budget)
                    raise

        written = run_cancellable(main)
        self.planned = written.spent
        return written

    def price(self, source: str, name: str) -> PricedPlan:
        """Check and rehearse a plan, and show what it would need.

        :raises PlanRefused: the check found problems.
        """
        vocabulary = build_vocabulary(self.registry, self.settings, self.job.kits)
        left = max(0, self.job.cap - self.planned.full_price)
        key = estimate_key(self.registry, self.settings, self.job, source, left)
        facts = self.recall(_ESTIMATE, key)
        if facts is not None:
            priced = recalled_plan(source, vocabulary, facts, name)
        else:
            priced = price_plan(
                source,
                vocabulary,
                registry=self.registry,
                settings=self.settings,
                works=self.job.works,
                cap=left,
                args=self.job.args,
                name=name,
            )
        kept = {_ESTIMATE: {"key": key, "value": priced.as_facts()}}
        self.job = attrs.evolve(self.job, facts={**self.job.facts, "worked_out": kept})
        at = " at the default prices; offline it is free" if priced.with_models else ""
        show_rehearsal(self.console, priced.with_models or priced.rehearsal, f"The plan ({name}), rehearsed{at}")
        return priced

    def approve(self, priced: PricedPlan) -> Decision:
        """Return the gate's decision, or a person's.

        :raises PlanRefused: the gate refused the plan. :raises PlanHeld: it waits for a person.
        """
        decision = decide(self.registry, self.settings, priced.rehearsal, self.job.cap)
        try:
            decision = approve(self.console, priced, decision, yes=self.yes, confirm=self.confirm)
        except (PlanHeld, PlanRefused) as error:
            self._decided(decision)
            run = self.keep_unrun(priced.source, decision.verdict, str(error))
            if isinstance(error, PlanHeld):
                raise PlanHeld(f"{error}; `planloom show {run} --plan` prints it") from error
            raise
        self._decided(decision)
        self.console.print(Text(f"{decision.verdict} by {decision.who}: {decision.reason}"))
        return decision

    def _decided(self, decision: Decision) -> None:
        kept = {**attrs.asdict(decision), "at": datetime.now(UTC).isoformat(timespec="seconds")}
        self.job = attrs.evolve(self.job, facts={**self.job.facts, "decision": kept})

    def keep_unrun(self, source: str, status: str, reason: str) -> str:
        """Store a plan that will not run now (``held`` or ``refused``), with the reason and what planning cost.

        :returns: the id it is kept under.
        """

        async def main() -> str:
            async with open_loom(self.registry, self.settings) as loom:
                return await loom.keep_unrun(
                    self.job, source, status, reason, budget=self._budget, planned=self.planned
                )

        return asyncio.run(main())

    def run(self, priced: PricedPlan, *, found: Callable[[RunControl], str] = lambda control: "") -> Outcome:
        """Run an approved plan with live progress; Ctrl-C cancels it.

        :param found: what the kit counts so far.
        """
        roles = require_roles(self.settings, priced.rehearsal)

        async def main(control: RunControl) -> Outcome:
            async with open_loom(self.registry, self.settings) as loom:
                budget = self._budget or self._budget_of(loom.unfinished(self.job))
                recorded = loom.recorded(self.job, priced.source)
                with Progress(self.console, lambda: found(control)) as progress:
                    return await loom.run(
                        self.job,
                        priced.program,
                        priced.source,
                        budget=budget,
                        planned=self.planned,
                        recorded=recorded,
                        listeners=(progress.listener,),
                        control=control,
                        roles=roles,
                    )

        return run_cancellable(main)

    def _budget_of(self, unfinished: RunRow | None) -> str:
        """An unfinished run of this job hands on its budget, so that what it spent still counts under the cap."""
        kept = unfinished.budget if unfinished is not None else ""
        return kept or f"job-{self.job.key}-{secrets.token_hex(3)}"

    def recall(self, name: str, key: str) -> Any:
        """Return what an earlier run of this job worked out under this name from the same key, or ``None``."""

        async def main() -> Any:
            async with open_loom(self.registry, self.settings) as loom:
                return loom.recall(self.job, name, key)

        return asyncio.run(main())

    def remember(self, run_id: str, name: str, key: str, value: Any) -> None:
        """Keep with a run what was worked out for it, for later runs of this job."""

        async def main() -> None:
            async with open_loom(self.registry, self.settings) as loom:
                await loom.remember(run_id, name, key, value)

        asyncio.run(main())
