"""One audit from path to report: scout, plan, check, rehearse, approve, run, report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs
from rich.console import Console

from planloom import Misuse, PlanloomError, PlanRefused, did_you_mean
from planloom.clients import ModelError
from planloom.desk import JobDesk
from planloom.jobs import PricedPlan, fact_sheet
from planloom.lead import WrittenPlan
from planloom.loom import Job, Outcome, RunControl, plan_hash
from planloom.money import show_credits
from planloom.plugins import Registry
from planloom.settings import Settings
from planloom_code import GRAMMAR, shown_path

from .kit import AUDIT
from .report import AuditReport, Unread
from .reporting import build_report
from .work import AuditRun, AuditWork

__all__ = ["AuditOptions", "Audited", "audit_tree"]

_UNPARSABLE = "unparsable"


@attrs.frozen(kw_only=True)
class AuditOptions:
    """What a person asked for.

    :ivar patterns: what was included and excluded.
    :ivar plan: a saved plan's name or a file; ``None`` lets the lead plan, where there is one.
    """

    target: Path
    patterns: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
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
        title=f"audit {shown_path(options.target.resolve().name)}",
        kits=(AUDIT,),
        works=works,
        target=shown_path(str(options.target.resolve())),
        options={name: list(given) for name, given in options.patterns.items()},
        text=options.text,
        cap=options.cap,
        facts={"sheet": sheet},
    )
    desk = JobDesk(registry=registry, settings=settings, job=job, console=console, confirm=confirm, yes=options.yes)
    written = _written(desk, sheet) if options.plan is None and _has_lead(settings) else None
    chosen = _chosen(desk, options, written)
    desk.approve(chosen.priced)
    outcome = desk.run(chosen.priced, found=_found)
    return _audited(desk, outcome, work, chosen, options)


def _written(desk: JobDesk, sheet: str) -> WrittenPlan:
    try:
        return desk.write(AUDIT, sheet)
    except ModelError as error:
        raise PlanloomError(
            f"the lead wrote no plan: {error}; run the same command again later, or a saved plan with --plan fixed"
        ) from error


def _chosen(desk: JobDesk, options: AuditOptions, written: WrittenPlan | None) -> _Chosen:
    name, source = ("lead", written.source) if written else _saved(options.plan or "fixed")
    attempts = [attrs.asdict(attempt) for attempt in (written.attempts if written else ())]
    desk.job = attrs.evolve(desk.job, facts={**desk.job.facts, "plan_name": name, "planning": attempts})
    if source is None:
        assert written is not None
        reason = _no_plan(written)
        desk.keep_unrun(written.attempts[-1].source, "refused", reason)
        raise PlanRefused(reason)
    return _Chosen(name=name, priced=desk.price(source, name), written=written)


def _found(control: RunControl) -> str:
    state = control.states.get(AUDIT.name)
    return f"places reported so far: {state.found}" if isinstance(state, AuditRun) else ""


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


def _audited(desk: JobDesk, outcome: Outcome, work: AuditWork, chosen: _Chosen, options: AuditOptions) -> Audited:
    state = outcome.states[AUDIT.name]
    assert isinstance(state, AuditRun)
    models = chosen.priced.with_models
    notes = _notes(outcome, state, chosen)
    report = None
    if outcome.status == "completed":
        report = build_report(
            outcome,
            state,
            desk.settings,
            target=options.target,
            plan=chosen.name,
            plan_hash=plan_hash(chosen.priced.source),
            cap=options.cap,
            unparsable=_unparsable(desk, outcome, work),
            notes=notes,
        )
    return Audited(outcome=outcome, report=report, with_models=models.credits_p50 if models else None)


def _unparsable(desk: JobDesk, outcome: Outcome, work: AuditWork) -> list[Unread]:
    """Return the files that this Python cannot parse. Parsing a large tree takes seconds, so it is done once."""
    key = f"{GRAMMAR} {work.digest()}"
    rows = desk.recall(_UNPARSABLE, key)
    if rows is None:
        rows = [[problem.path, problem.reason] for problem in work.tree.unparsable()]
    desk.remember(outcome.run_id, _UNPARSABLE, key, rows)
    return [Unread(path, reason) for path, reason in rows]


def _notes(outcome: Outcome, run: AuditRun, chosen: _Chosen) -> list[str]:
    notes = []
    if run.unasked:
        notes.append(f"{len(run.unasked)} questions could not be asked: {run.unasked[0]}")
    if run.set_aside:
        notes.append(f"{len(run.set_aside)} items of workers' replies could not be used: {run.set_aside[0]}")
    if chosen.written:
        written = chosen.written
        notes.append(
            f"the lead wrote the plan at attempt {len(written.attempts)}, reading {written.prompt_tokens:,} prompt "
            f"tokens, for {show_credits(written.spent.full_price)} credits at full price"
        )
    if outcome.holes:
        notes.append(f"{outcome.holes} workers or questions are missing from this outcome")
    return notes
