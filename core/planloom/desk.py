"""The desk: where a person sees a run proposed, is asked over it, and looks on while it goes; from a terminal.

Each step takes a :class:`planloom.Planloom` for itself, so that nothing is open and no event loop runs while a person
is asked. What is done stands there; here is what a terminal adds: the person, their options' names, and live progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import attrs
from rich.console import Console
from rich.text import Text

from ._budget_line import OnCap
from ._errors import PlanHeld, PlanRefused
from ._proposals import Proposal
from .api import Planloom, open_with
from .control import RunControl
from .data_classes import frozen
from .job import Job
from .kits import Finished, Kit
from .money import show_credits
from .outcomes import Outcome
from .planning import Planned
from .plugins import Registry
from .settings import Settings
from .stores import RunRow
from .terminal import Progress, approve, run_cancellable, show_rehearsal

__all__ = ["JobDesk", "OnCap"]

T = TypeVar("T")


@frozen(kw_only=True)
class JobDesk:
    """Takes jobs from plan to outcome; its owner calls the steps in order, where no event loop is running.

    :ivar console: where prices and progress are shown. :ivar confirm: asks a person a yes-or-no question.
    :ivar yes: the person approves whatever the plan costs within the budget.
    :ivar on_cap: whether runs stop at their cap, or wait there for a raise.
    """

    registry: Registry
    settings: Settings
    console: Console
    confirm: Callable[[str], bool]
    yes: bool = False
    on_cap: OnCap = "stop"

    def do(self, deed: Callable[[Planloom], Coroutine[Any, Any, T]], *, read_only: bool = False) -> T:
        """Have something done, and return what it came to."""

        async def main() -> T:
            async with open_with(self.registry, self.settings, read_only=read_only) as loom:
                return await deed(loom)

        return asyncio.run(main())

    def may_spend(self, job: Job) -> int:
        """Return what a job may spend in all, in micro-credits: its cap, or what the store's leaves for it."""

        async def look(loom: Planloom) -> int:
            return loom.may_spend(job)

        return self.do(look)

    def write(self, job: Job, kit: Kit, sheet: str, *, budget: int, anew: bool = False) -> Planned:
        """Have the lead write the plan of a job, unless it has written one for this job and no higher budget.

        :param budget: what the sheet names. :param anew: have another one written all the same.
        :raises RunAborted: the lead cannot be asked, or it was cancelled. :raises ModelError: it gave no answer.
        """

        async def main(control: RunControl) -> Planned:
            async with open_with(self.registry, self.settings) as loom:
                return await loom.write_plan(job, kit, sheet, budget=budget, anew=anew, control=control)

        planned = run_cancellable(main)
        if planned.cap != budget:
            self.console.print(
                f"the plan that the lead wrote for a budget of {show_credits(planned.cap)} credits goes on; "
                "--new-plan has another written"
            )
        return planned

    def show(self, proposal: Proposal) -> None:
        """Show what a run would need, where that was worked out."""
        priced = proposal.priced
        if priced is not None:
            at = " at the default prices; offline it is free" if priced.with_models else ""
            heading = f"The plan ({proposal.plan.name}), rehearsed{at}"
            show_rehearsal(self.console, priced.with_models or priced.rehearsal, heading)

    def approve(self, proposal: Proposal) -> Proposal:
        """Return a proposal with the gate's approval, or a person's.

        :raises PlanRefused: the gate refused the plan. :raises PlanHeld: it waits for a person.
        """
        if proposal.priced is None or proposal.decision is None:
            return proposal
        try:
            decision = approve(self.console, proposal.priced, proposal.decision, yes=self.yes, confirm=self.confirm)
        except (PlanHeld, PlanRefused) as error:
            run = self.keep(proposal, str(error))
            if isinstance(error, PlanHeld):
                raise PlanHeld(
                    f"{error}; `planloom resume {run}` asks again, `planloom show {run} --plan` prints it"
                ) from error
            raise
        self.console.print(Text(f"{decision.verdict} by {decision.who}: {decision.reason}"))
        return attrs.evolve(proposal, decision=decision)

    def keep(self, proposal: Proposal | Planned, reason: str) -> str:
        """Store what does not run now, with the reason; return the id it is kept under."""
        return self.do(partial(_kept, proposal=proposal, reason=reason))

    def leave(self, proposal: Proposal) -> str:
        """Store an approved run for another process to drive, and return its id."""
        return self.do(partial(_left, proposal=proposal))

    def run(self, proposal: Proposal, *, found: Callable[[RunControl], str] = lambda control: "") -> Outcome:
        """Run what is approved with live progress; Ctrl-C cancels it.

        :param found: what the kit counts so far.
        :raises Misuse: another process drives this run.
        """

        async def main(control: RunControl) -> Outcome:
            async with open_with(self.registry, self.settings) as loom:
                with Progress(self.console, control, lambda: found(control)) as progress:
                    return await (
                        await loom.begin(proposal, at_cap=self.on_cap, control=control, listeners=(progress.listener,))
                    )

        return run_cancellable(main)

    def finish(self, kit: Kit, proposal: Proposal, outcome: Outcome, out: Console) -> int:
        """Have a kit report on a run that ended; return the exit code of the command.

        :param out: where results are shown.
        """
        assert kit.finish is not None
        run = outcome.run_id
        return kit.finish(
            Finished(
                registry=self.registry,
                settings=self.settings,
                row=self.do(partial(_record, run=run)),
                outcome=outcome,
                work=proposal.job.works[kit.name],
                out=out,
                say=self.console,
                work_out=lambda name, key, make: self._work_out(run, name, key, make),
            )
        )

    def _work_out(self, run: str, name: str, key: str, make: Callable[[], Any]) -> Any:
        async def recall(loom: Planloom) -> Any:
            return loom.run(run).recall(name, key)

        value = self.do(recall)
        if value is None:
            value = make()
        self.do(lambda loom: loom.run(run).remember(name, key, value))
        return value


async def _kept(loom: Planloom, *, proposal: Proposal | Planned, reason: str) -> str:
    return (await loom.keep(proposal, reason)).id


async def _left(loom: Planloom, *, proposal: Proposal) -> str:
    return (await loom.leave(proposal)).id


async def _record(loom: Planloom, *, run: str) -> RunRow:
    return loom.run(run).record
