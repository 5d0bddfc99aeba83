"""One audit from path to report: scout, plan, check, rehearse, approve, run, report."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from rich.console import Console

from planloom import Misuse, PlanRefused, did_you_mean
from planloom.jobs import PricedPlan, decide, fact_sheet, price_plan, require_roles, write_plan
from planloom.lead import WrittenPlan
from planloom.loom import Job, Outcome, RunControl, open_loom, plan_hash
from planloom.money import show_credits
from planloom.plugins import Registry
from planloom.settings import Settings
from planloom.terminal import Progress, approve, run_cancellable, show_rehearsal
from planloom.words import build_vocabulary

from .kit import AUDIT
from .report import AuditReport
from .reporting import build_report
from .work import AuditRun, AuditWork

__all__ = ["AuditOptions", "Audited", "audit_tree"]


@attrs.frozen(kw_only=True)
class AuditOptions:
    """What a person asked for.

    :ivar plan: a saved plan's name or a file; ``None`` lets the lead plan, where there is one.
    """

    target: Path
    plan: str | None = None
    text: str = ""
    cap: int = 0
    yes: bool = False


@attrs.frozen(kw_only=True)
class Audited:
    """An audit that ran: how its run ended, and the report, ``None`` when the plan came to no result."""

    outcome: Outcome
    report: AuditReport | None
    with_models: int | None


@attrs.frozen(kw_only=True)
class _Chosen:
    """The plan that will run, with its price and how it was come by."""

    name: str
    priced: PricedPlan
    written: WrittenPlan | None = None

    @property
    def planning(self) -> int:
        return self.written.full_price if self.written else 0


def audit_tree(
    registry: Registry,
    settings: Settings,
    work: AuditWork,
    options: AuditOptions,
    console: Console,
    confirm: Callable[[str], bool],
) -> Audited:
    """Audit a tree and return what came of it. Call it where no event loop is running.

    :raises PlanloomError: it came to no run: refused, held, misconfigured, nothing to pay with.
    """
    works = {AUDIT.name: work}
    sheet = fact_sheet(registry, settings, works, options.cap)
    job = Job(
        title=f"audit {options.target.resolve().name}",
        kits=(AUDIT,),
        works=works,
        target=str(options.target.resolve()),
        text=options.text,
        cap=options.cap,
        facts={"sheet": sheet},
    )
    budget, written = asyncio.run(_begin(registry, settings, job, options, sheet))
    chosen = _priced(registry, settings, job, options, written)
    decided = _approved(registry, settings, chosen, job, options, console, confirm)
    job = attrs.evolve(job, facts={**job.facts, **_facts(chosen, decided)})
    outcome = run_cancellable(lambda control: _run(registry, settings, job, chosen, budget, console, control))
    return _audited(outcome, work, settings, chosen, options)


async def _begin(
    registry: Registry, settings: Settings, job: Job, options: AuditOptions, sheet: str
) -> tuple[str, WrittenPlan | None]:
    """Return the budget of the job (that of its unfinished run, if any) and what the lead wrote, if there is one."""
    async with open_loom(registry, settings) as loom:
        before = loom.unfinished(job)
        budget = before.budget if before else f"{AUDIT.name}-{job.key}-{secrets.token_hex(3)}"
        if options.plan is not None or not _has_lead(settings):
            return budget, None
        vocabulary = build_vocabulary(registry, settings, job.kits)
        written = await write_plan(loom, job, AUDIT, vocabulary, sheet, budget)
    if written.source is None:
        raise PlanRefused(_no_plan(written))
    return budget, written


def _priced(
    registry: Registry, settings: Settings, job: Job, options: AuditOptions, written: WrittenPlan | None
) -> _Chosen:
    if written is not None and written.source is not None:
        name, source = "lead", written.source
    else:
        name, source = _saved(options.plan or "fixed")
    priced = price_plan(
        source,
        build_vocabulary(registry, settings, job.kits),
        registry=registry,
        settings=settings,
        works=job.works,
        cap=job.cap,
        name=name,
    )
    return _Chosen(name=name, priced=priced, written=written)


def _has_lead(settings: Settings) -> bool:
    lead = settings.roles.get("lead")
    return lead is not None and settings.endpoints[lead.endpoint].client != "offline"


def _no_plan(written: WrittenPlan) -> str:
    last = written.attempts[-1]
    return (
        f"the lead wrote no acceptable plan in {len(written.attempts)} attempts; the last one:\n\n"
        + "\n\n".join(last.problems[:3])
        + "\n\nrun a saved plan instead with --plan fixed, or name a stronger lead"
    )


def _saved(name: str) -> tuple[str, str]:
    for plan in AUDIT.saved_plans:
        if plan.name == name:
            return plan.name, plan.source
    path = Path(name)
    if path.suffix == ".plan" or path.is_file():
        try:
            return str(path), path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise Misuse(f"cannot read the plan {path}: {error}; name a saved plan or a plan file") from error
    known = [plan.name for plan in AUDIT.saved_plans]
    raise Misuse(f"no saved plan is named `{name}`; {did_you_mean(name, known)}")


def _approved(
    registry: Registry,
    settings: Settings,
    chosen: _Chosen,
    job: Job,
    options: AuditOptions,
    console: Console,
    confirm: Callable[[str], bool],
) -> dict[str, Any]:
    priced = chosen.priced
    shown = priced.with_models or priced.rehearsal
    heading = f"The plan ({chosen.name}), rehearsed"
    show_rehearsal(
        console, shown, f"{heading} at the default prices; offline it is free" if priced.with_models else heading
    )
    decision = decide(registry, settings, priced.rehearsal, job.cap)
    decision = approve(console, priced.rehearsal, decision, yes=options.yes, confirm=confirm)
    console.print(f"{decision.verdict} by {decision.who}: {decision.reason}")
    return attrs.asdict(decision)


def _facts(chosen: _Chosen, decision: dict[str, Any]) -> dict[str, Any]:
    attempts = chosen.written.attempts if chosen.written else ()
    return {
        "estimate": chosen.priced.rehearsal.as_json(),
        "decision": decision,
        "plan_name": chosen.name,
        "planning": [attrs.asdict(attempt) for attempt in attempts],
    }


async def _run(
    registry: Registry,
    settings: Settings,
    job: Job,
    chosen: _Chosen,
    budget: str,
    console: Console,
    control: RunControl,
) -> Outcome:
    def found() -> str:
        state = control.states.get(AUDIT.name)
        return f"{state.found} findings so far" if isinstance(state, AuditRun) else ""

    roles = require_roles(settings, chosen.priced.rehearsal)
    async with open_loom(registry, settings) as loom:
        with Progress(console, found) as progress:
            return await loom.run(
                job,
                chosen.priced.program,
                chosen.priced.source,
                budget=budget,
                spent_before=chosen.planning,
                listeners=(progress.listener,),
                control=control,
                roles=roles,
            )


def _audited(outcome: Outcome, work: AuditWork, settings: Settings, chosen: _Chosen, options: AuditOptions) -> Audited:
    state = outcome.states[AUDIT.name]
    assert isinstance(state, AuditRun)
    models = chosen.priced.with_models
    notes = _notes(outcome, state, chosen)
    report = None
    if outcome.status == "completed":
        report = build_report(
            outcome,
            state,
            settings,
            target=options.target,
            plan=chosen.name,
            plan_hash=plan_hash(chosen.priced.source),
            planning=chosen.planning,
            cap=options.cap,
            notes=notes,
        )
    return Audited(outcome=outcome, report=report, with_models=models.credits_p50 if models else None)


def _notes(outcome: Outcome, run: AuditRun, chosen: _Chosen) -> list[str]:
    notes = []
    if run.set_aside:
        notes.append(f"{len(run.set_aside)} items of workers' replies could not be used: {run.set_aside[0]}")
    if chosen.written:
        written = chosen.written
        notes.append(
            f"the lead wrote the plan in {len(written.attempts)} attempts, reading {written.prompt_tokens:,} prompt "
            f"tokens, for {show_credits(written.full_price)} credits at full price"
        )
    if outcome.holes:
        notes.append(f"{outcome.holes} workers or questions are missing from this outcome")
    return notes
