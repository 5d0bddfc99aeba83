"""One audit from path to run: scout, plan, check, rehearse, approve, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs
from rich.console import Console

from planloom import ConfigurationError, Misuse, Plan, Planloom, PlanloomError, PlanRefused, Proposal
from planloom.clients import ModelError
from planloom.data_classes import frozen
from planloom.desk import JobDesk, OnCap
from planloom.jobs import fact_sheet
from planloom.lead import WrittenPlan
from planloom.loom import Job, Outcome, RunControl
from planloom.money import show_credits
from planloom.planning import Planned
from planloom.plugins import Registry
from planloom.rehearsal import STOPS_AT_BUDGET
from planloom.saved_plans import plan_named, saved_plans
from planloom.settings import Settings
from planloom.targets import target_facts
from planloom.wording import counted
from planloom.words import asking_words
from planloom_code import shown_path

from .kit import AUDIT
from .work import AuditRun, AuditWork

__all__ = ["AuditOptions", "plan_audit", "run_audit"]

_LEADS = "lead"  # what the plan is called that a lead wrote


@frozen(kw_only=True)
class AuditOptions:
    """What a person asked for.

    :ivar patterns: what was included and excluded.
    :ivar wide: offline rules with more false alarms run too.
    :ivar plan: a saved plan's name or a file; ``None`` lets the lead plan, where there is one.
    :ivar new_plan: the lead plans anew, also where it has a plan for this job.
    :ivar repeat: which repeat of the job, from 0. :ivar refresh: whether workers are asked again what is answered.
    :ivar out: the folder of the report's files.
    """

    target: Path
    patterns: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    wide: bool = False
    plan: str | None = None
    new_plan: bool = False
    text: str = ""
    cap: int = 0
    yes: bool = False
    repeat: int = 0
    refresh: bool = False
    out: Path | None = None
    on_cap: OnCap = "stop"


def plan_audit(
    registry: Registry,
    settings: Settings,
    work: AuditWork,
    options: AuditOptions,
    console: Console,
    confirm: Callable[[str], bool],
) -> tuple[JobDesk, Proposal]:
    """Plan the audit of a tree and have the plan approved; return it at the desk that runs it. Call it where no event
    loop is running.

    :raises PlanloomError: it came to no approved plan: refused, held, misconfigured, nothing to pay with.
    """
    job = _job(work, options)
    desk = JobDesk(
        registry=registry,
        settings=settings,
        console=console,
        confirm=confirm,
        yes=options.yes,
        on_cap=options.on_cap,
    )
    for_lead = "--new-plan asks" if options.new_plan else "--job is told to" if options.text else ""
    if for_lead and options.plan is None and not _has_lead(settings):
        raise Misuse(f"{for_lead} the lead, and none is configured; leave it out, or name a model for the role `lead`")
    if options.plan is None and _has_lead(settings):
        proposal = _led(desk, job, options.new_plan)
    else:
        proposal = desk.do(partial(_given, job=job, plan=_named(desk, options.plan)))
    desk.show(proposal)
    return desk, desk.approve(proposal)


def _job(work: AuditWork, options: AuditOptions) -> Job:
    path = str(options.target.resolve())
    return Job(
        title=f"audit {shown_path(options.target.resolve().name)}",
        kits=(AUDIT,),
        works={AUDIT.name: work},
        target=shown_path(path),
        options={
            **{name: list(given) for name, given in options.patterns.items()},
            **({"wide": True} if options.wide else {}),
        },
        text=options.text,
        cap=options.cap,
        repeat=options.repeat,
        refresh=options.refresh,
        facts={
            "reporter": AUDIT.name,
            "named": shown_path(str(options.target)),
            "out": str(options.out.resolve()) if options.out else "",
            **target_facts(path, shown_path(path)),
        },
    )


def run_audit(desk: JobDesk, proposal: Proposal) -> Outcome:
    """Run an approved audit; say what it has found so far."""
    return desk.run(proposal, found=_found)


async def _given(loom: Planloom, *, job: Job, plan: Plan) -> Proposal:
    """Propose a plan that is there; the sheet that a lead would have been told is kept all the same."""
    sheet = fact_sheet(loom.registry, loom.settings, job.works, loom.may_spend(job))
    facts = {"sheet": sheet, **job.facts, "plan_name": plan.name, "planning": []}
    return await loom.propose_job(attrs.evolve(job, facts=facts), plan)


def _led(desk: JobDesk, job: Job, anew: bool) -> Proposal:
    """Propose the plan that the lead writes, or wrote for this job before.

    :raises ConfigurationError: what the plan will need is not configured, so that no lead is paid for it.
    """
    _require_roles(desk)
    may_spend = desk.may_spend(job)
    sheet = fact_sheet(desk.registry, desk.settings, job.works, may_spend)
    planned = _planned(desk, attrs.evolve(job, facts={"sheet": sheet, **job.facts}), sheet, may_spend, anew)
    attempts = [attrs.asdict(attempt) for attempt in planned.written.attempts]
    facts = {**planned.job.facts, "plan_name": _LEADS, "planning": attempts}
    planned = attrs.evolve(planned, job=attrs.evolve(planned.job, facts=facts))
    source = planned.written.source
    if source is None:
        reason = _no_plan(planned.written, job.cap)
        desk.keep(planned, reason)
        raise PlanRefused(reason)
    return desk.do(lambda loom: loom.propose_job(planned.job, Plan(source, _LEADS), planned=planned))


def _require_roles(desk: JobDesk) -> None:
    asking = asking_words(desk.registry, desk.settings, (AUDIT,))
    lacking = {role: words for role, words in asking.items() if role not in desk.settings.roles}
    if not lacking:
        return
    named = " and ".join(f"`{role}` ({', '.join(words)})" for role, words in lacking.items())
    tables = " and ".join(f"[roles.{role}]" for role in lacking)
    raise ConfigurationError(
        f"{desk.settings.source} does not configure {'a role' if len(lacking) == 1 else 'roles'} that the words of an "
        f"audit ask: {named}; add {tables} with `endpoint`, `model` and `price`, before the lead is paid for a plan, "
        "or name a plan that does without with --plan FILE"
    )


def _planned(desk: JobDesk, job: Job, sheet: str, may_spend: int, anew: bool) -> Planned:
    try:
        return desk.write(job, AUDIT, sheet, budget=may_spend, anew=anew)
    except ModelError as error:
        raise PlanloomError(
            f"the lead wrote no plan: {error}; run the same command again later, or a saved plan with --plan fixed"
        ) from error


def _found(control: RunControl) -> str:
    state = control.states.get(AUDIT.name)
    return f"places reported so far: {state.found}" if isinstance(state, AuditRun) else ""


def _has_lead(settings: Settings) -> bool:
    lead = settings.roles.get("lead")
    return lead is not None and settings.endpoints[lead.endpoint].client != "offline"


def _no_plan(written: WrittenPlan, cap: int) -> str:
    last = written.attempts[-1]
    took = show_credits(written.spent.full_price)
    is_short = any(STOPS_AT_BUDGET in problem for problem in last.problems)
    with_more = "run it again with a higher --cap, which pays for none of them twice, " if is_short else ""
    return (
        f"the lead wrote no acceptable plan in {counted(len(written.attempts), 'attempt')}, which took {took} of the "
        f"{show_credits(cap)} credits; the last one:\n\n"
        + "\n\n".join(last.problems[:3])
        + "\n\nthe same question gets the same answers, which are known by now: "
        f"{with_more}run a saved plan with --plan fixed, "
        "say more with --job, ask the lead again with --new-plan, or name a stronger lead"
    )


def _named(desk: JobDesk, name: str | None) -> Plan:
    """Return the plan of a name; the kit's own are what their names say, whatever the audited project keeps."""
    own = {plan.name: plan for plan in AUDIT.saved_plans}
    saved = own["fixed"] if name is None else plan_named(name, {**saved_plans((), desk.settings), **own})
    if saved is not None:
        return Plan(saved.source, saved.name)
    path = Path(name or "")
    try:
        return Plan(path.read_text(encoding="utf-8-sig"), str(path))
    except (OSError, ValueError) as error:
        raise Misuse(f"cannot read the plan {path}: {error}; name a saved plan or a plan file") from error
