"""The desk: where a job is planned, priced, approved and run, step by step, from a terminal.

Each step that needs the store opens it for itself, so that no event loop runs while a person is asked. A plan that was
rehearsed before under the same conditions is not rehearsed again: its estimate is read from the earlier run.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import attrs
from rich.console import Console
from rich.text import Text

from planlang import Program, Vocabulary

from ._budget_line import OnCap
from ._errors import PlanHeld, PlanRefused, RunAborted
from ._room import Room, room_for
from .clients import ModelError
from .former import Former
from .gates import Decision
from .jobs import PricedPlan, decide, estimate_key, lead_has_begun, price_plan, recalled_plan, require_roles, write_plan
from .kits import Finished, Kit
from .lead import WrittenPlan
from .loom import Job, Loom, Outcome, RunControl, ending_of, open_loom
from .money import Spent, show_credits
from .planning import PLANNING, Planning, planning_key
from .plugins import Registry
from .settings import Settings
from .stores import RunRow
from .terminal import Progress, approve, run_cancellable, show_rehearsal
from .words import build_vocabulary

__all__ = ["JobDesk", "OnCap"]

T = TypeVar("T")

_ESTIMATE = "estimate"


@attrs.define(kw_only=True)
class JobDesk:
    """Takes one job from plan to outcome; its owner calls the steps in order, where no event loop is running.

    :ivar console: where prices and progress are shown. :ivar confirm: asks a person a yes-or-no question.
    :ivar yes: the person approves whatever the plan costs within the budget.
    :ivar on_cap: whether the run stops at its cap, or waits there for a raise.
    :ivar former: what the run is so far, where it goes on under its own id. :ivar workers: how many it may have.
    :ivar planned: what planning cost, once a plan was written.
    """

    registry: Registry
    settings: Settings
    job: Job
    console: Console
    confirm: Callable[[str], bool]
    yes: bool = False
    on_cap: OnCap = "stop"
    former: Former | None = None
    workers: int | None = None
    planned: Spent = attrs.field(factory=Spent)
    _budget: str = ""
    _room: Room = attrs.field(factory=lambda: Room(job=0))

    def may_spend(self) -> int:
        """Return what the job may spend in all, in micro-credits: its cap, or what the store's leaves for it."""
        return self._with_loom(partial(self._room_in, source="")).budget

    def write(self, kit: Kit, sheet: str, *, budget: int | None = None, anew: bool = False) -> WrittenPlan:
        """Have the lead write the plan, unless it has written one for this job and no higher budget.

        :param budget: what the sheet names, where it is not the job's cap.
        :param anew: have another one written all the same.
        :raises RunAborted: the lead cannot be asked, or it was cancelled. :raises ModelError: it gave no answer.
        """
        vocabulary = build_vocabulary(self.registry, self.settings, self.job.kits)
        key = planning_key(self.settings, self.job, kit, vocabulary, sheet)
        named = self.job.cap if budget is None else budget
        planning = (None if anew else self._earlier_planning(key, kit, vocabulary)) or Planning(cap=named, sheet=sheet)
        if planning.source is None:
            self._keep_planning(key, planning)
            written = self._ask_lead(kit, vocabulary, planning.sheet, anew)
            planning = attrs.evolve(planning, source=written.source, attempts=written.attempts)
        elif planning.cap != named:
            self.console.print(
                f"the plan that the lead wrote for a budget of {show_credits(planning.cap)} credits goes on; "
                "--new-plan has another written"
            )
        self._keep_planning(key, planning)
        self.planned = planning.written().spent
        return planning.written()

    def _earlier_planning(self, key: str, kit: Kit, vocabulary: Vocabulary) -> Planning | None:
        """Return what was planned before, unless that was for more money, or the lead has not begun: then what its
        sheet says of the budget need not hold."""

        async def main(loom: Loom) -> Planning | None:
            facts = loom.recall(self.job, PLANNING, key)
            if facts is None:
                return None
            planning = Planning.from_facts(facts)
            if planning.cap > self.job.cap:
                return None
            has_begun = planning.source is not None or lead_has_begun(loom, self.job, kit, vocabulary, planning.sheet)
            return planning if has_begun else None

        return self._with_loom(main)

    def _keep_planning(self, key: str, planning: Planning) -> None:
        self._keep(planning.as_facts(key), sheet=planning.sheet)

    def _keep(self, worked_out: dict[str, Any], **further: Any) -> None:
        """Keep with the run what was worked out for its job, beside what it has of that already."""
        before = self.former.row.facts if self.former is not None else {}
        known = {**before.get("worked_out", {}), **self.job.facts.get("worked_out", {})}
        facts = {**self.job.facts, **further, "worked_out": {**known, **worked_out}}
        self.job = attrs.evolve(self.job, facts=facts)

    def _ask_lead(self, kit: Kit, vocabulary: Vocabulary, sheet: str, anew: bool) -> WrittenPlan:
        async def main(control: RunControl) -> WrittenPlan:
            async with open_loom(self.registry, self.settings) as loom:
                self._budget = self._budget_of(loom.unfinished(self.job))
                try:
                    return await write_plan(loom, self.job, kit, vocabulary, sheet, self._budget, control, anew=anew)
                except (RunAborted, ModelError) as error:
                    # What was spent is known by the books' name, which the next start of this job finds here.
                    status, _, reason = ending_of(error)
                    await loom.keep_unrun(self.job, "", status, str(reason), budget=self._budget)
                    raise

        return run_cancellable(main)

    def price(self, source: str, name: str) -> PricedPlan:
        """Check and rehearse a plan, and show what it would need.

        :raises PlanRefused: the check found problems.
        """
        vocabulary = build_vocabulary(self.registry, self.settings, self.job.kits)
        key, facts = self._with_loom(partial(self._looked_up, source))
        if facts is not None:
            priced = recalled_plan(source, vocabulary, facts, name)
        else:
            priced = price_plan(
                source,
                vocabulary,
                registry=self.registry,
                settings=self.settings,
                works=self.job.works,
                room=self._room,
                args=self.job.args,
                name=name,
            )
        self._keep({_ESTIMATE: {"key": key, "value": priced.as_facts()}})
        at = " at the default prices; offline it is free" if priced.with_models else ""
        show_rehearsal(self.console, priced.with_models or priced.rehearsal, f"The plan ({name}), rehearsed{at}")
        return priced

    def approve(self, priced: PricedPlan) -> Decision:
        """Return the gate's decision, or a person's.

        :raises PlanRefused: the gate refused the plan. :raises PlanHeld: it waits for a person.
        """
        decision = decide(self.registry, self.settings, priced.rehearsal, self._room)
        try:
            decision = approve(self.console, priced, decision, yes=self.yes, confirm=self.confirm)
        except (PlanHeld, PlanRefused) as error:
            self._decided(decision)
            run = self.keep_unrun(priced.source, decision.verdict, str(error))
            if isinstance(error, PlanHeld):
                raise PlanHeld(
                    f"{error}; `planloom resume {run}` asks again, `planloom show {run} --plan` prints it"
                ) from error
            raise
        self._decided(decision)
        self.console.print(Text(f"{decision.verdict} by {decision.who}: {decision.reason}"))
        return decision

    async def _looked_up(self, source: str, loom: Loom) -> tuple[str, Any]:
        """See what the run may spend; return what its estimate is kept under, and that of an earlier run."""
        self._room = attrs.evolve(await self._room_in(loom, source), planned=self.planned.full_price)
        key = estimate_key(self.registry, self.settings, self.job, source, self._room)
        return key, loom.recall(self.job, _ESTIMATE, key)

    async def _room_in(self, loom: Loom, source: str) -> Room:
        if self.former is not None:
            return attrs.evolve(room_for(loom, self.job, source, self.former.row.budget), recorded={})
        return room_for(loom, self.job, source, self._budget)

    def _decided(self, decision: Decision) -> None:
        kept = {**attrs.asdict(decision), "at": datetime.now(UTC).isoformat(timespec="seconds")}
        self.job = attrs.evolve(self.job, facts={**self.job.facts, "decision": kept})

    def keep_unrun(self, source: str, status: str, reason: str, roles: Iterable[str] | None = None) -> str:
        """Store a plan that does not run now (``held``, ``refused``, ``created``), with the reason and what planning
        cost.

        :returns: the id it is kept under.
        """

        async def main(loom: Loom) -> str:
            if self.former is not None:
                row = self.former.row
                facts = {**row.facts, **self.job.facts}
                await loom.store.save_run(attrs.evolve(row, status=status, error=reason or None, facts=facts))
                return row.id
            return await loom.keep_unrun(
                self.job, source, status, reason, budget=self._budget, planned=self.planned, roles=roles
            )

        return self._with_loom(main)

    def leave(self, priced: PricedPlan) -> str:
        """Store an approved plan for another process to drive, and return its run's id."""
        roles = require_roles(self.settings, priced.rehearsal)

        async def main(loom: Loom) -> str:
            unfinished, recorded = loom.unfinished(self.job), loom.recorded(self.job, priced.source)
            budget = self._budget or self._budget_of(unfinished)
            run = await loom.keep_unrun(
                self.job, priced.source, "created", budget=budget, planned=self.planned, roles=roles
            )
            for place, value in recorded.items():
                await loom.store.write_journal(run, place, value)
            return run

        return self._with_loom(main)

    def run(self, priced: PricedPlan, *, found: Callable[[RunControl], str] = lambda control: "") -> Outcome:
        """Run an approved plan with live progress; Ctrl-C cancels it.

        :param found: what the kit counts so far.
        """
        roles = require_roles(self.settings, priced.rehearsal)
        return self.drive(priced.program, priced.source, roles, found=found)

    def drive(
        self,
        program: Program,
        source: str,
        roles: Iterable[str],
        *,
        found: Callable[[RunControl], str] = lambda control: "",
    ) -> Outcome:
        """Run a program as :meth:`run` does, priced or not.

        :raises Misuse: another process drives this run.
        """

        async def main(control: RunControl) -> Outcome:
            async with open_loom(self.registry, self.settings) as loom:
                budget, recorded = self._budget, None
                if self.former is None:
                    budget = budget or self._budget_of(loom.unfinished(self.job))
                    recorded = loom.recorded(self.job, source)
                with Progress(self.console, control, lambda: found(control)) as progress:
                    return await loom.run(
                        self.job,
                        program,
                        source,
                        budget=budget or None,
                        planned=self.planned,
                        recorded=recorded,
                        former=self.former,
                        on_cap=self.on_cap,
                        listeners=(progress.listener,),
                        control=control,
                        roles=roles,
                        workers=self.workers,
                    )

        return run_cancellable(main)

    def finish(self, kit: Kit, outcome: Outcome, out: Console) -> int:
        """Have a kit report on a run that ended; return the exit code of the command.

        :param out: where results are shown.
        """
        assert kit.finish is not None

        async def read(loom: Loom) -> RunRow | None:
            return loom.store.run(outcome.run_id)

        row = self._with_loom(read)
        assert row is not None
        return kit.finish(
            Finished(
                registry=self.registry,
                settings=self.settings,
                row=row,
                outcome=outcome,
                work=self.job.works[kit.name],
                out=out,
                say=self.console,
                work_out=lambda name, key, make: self._work_out(outcome.run_id, name, key, make),
            )
        )

    def _work_out(self, run_id: str, name: str, key: str, make: Callable[[], Any]) -> Any:
        value = self.recall(name, key)
        if value is None:
            value = make()
        self._with_loom(lambda loom: loom.remember(run_id, name, key, value))
        return value

    def _budget_of(self, unfinished: RunRow | None) -> str:
        """An unfinished run of this job hands on its budget, so that what it spent still counts under the cap."""
        kept = unfinished.budget if unfinished is not None else ""
        return kept or f"job-{self.job.key}-{secrets.token_hex(3)}"

    def recall(self, name: str, key: str) -> Any:
        """Return what an earlier run of this job worked out under this name from the same key, or ``None``."""

        async def main(loom: Loom) -> Any:
            return loom.recall(self.job, name, key)

        return self._with_loom(main)

    def _with_loom(self, deed: Callable[[Loom], Coroutine[Any, Any, T]]) -> T:
        async def main() -> T:
            async with open_loom(self.registry, self.settings) as loom:
                return await deed(loom)

        return asyncio.run(main())
