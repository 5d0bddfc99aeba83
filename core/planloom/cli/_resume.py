"""``planloom resume`` and ``replay``: a stored run goes on, or is played again."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import click
from rich.text import Text

from planloom._budget_line import OnCap
from planloom._errors import Misuse
from planloom.api import open_with
from planloom.data_classes import frozen
from planloom.desk import JobDesk
from planloom.job import books_of, plan_hash
from planloom.jobs import PricedPlan, require_roles
from planloom.loom import Job
from planloom.money import show_credits
from planloom.resuming import (
    Reopened,
    cap_of,
    check_resumable,
    find_run,
    job_of,
    lacks_nothing,
    reopen,
    target_of,
    unapproved,
)
from planloom.status import uncertain_text
from planloom.stores import RunRow, Store
from planloom.terminal import interactive
from planloom.trust import require_trust
from planloom.wording import counted

from ._check import GivenPlan, given_plan
from .app import CREDITS, App, app_command, argument_options, opened_store, read_arguments, say_console, trust_option
from .running import approval_options, begin_detached, confirm, run_options, tell, with_approval, wrap_up

__all__ = ["replay", "resume"]


@frozen(kw_only=True)
class _Wanted:
    """What a person asks of a run that goes on.

    :ivar driver: the status that the run must still have, for the process that drives a detached run.
    """

    args: Mapping[str, Any]
    plan: GivenPlan | None
    cap: int | None
    workers: int | None
    release_uncertain: bool
    as_new_run: bool
    at_cap: str | None
    detach: bool
    yes: bool
    as_json: bool
    driver: str | None

    @property
    def source(self) -> str | None:
        """The plan's text as it is given now."""
        return None if self.plan is None else self.plan.source

    @property
    def on_cap(self) -> OnCap:
        """What a run does at its cap."""
        return "wait" if self.at_cap == "wait" else "stop"

    def for_driver(self) -> list[str]:
        """Return the options for the process that drives a detached run; all else is done before it begins."""
        return ["--workers", str(self.workers)] if self.workers is not None else []


@click.command()
@click.argument("run")
@click.option("--cap", type=CREDITS, help="The budget in credits from now on (default: as before).")
@click.option("--workers", metavar="N", type=click.IntRange(1), help="How many workers it may have from now on.")
@click.option("--release-uncertain", is_flag=True, help="Free what calls of unknown outcome keep charged.")
@argument_options
@click.option("--plan", metavar="NAME|FILE", type=click.Path(), help="The plan, if it changed.")
@click.option("--as-new-run", is_flag=True, help="Make a new run of what is there now; known answers stay free.")
@run_options
@approval_options
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--driver", hidden=True)
@app_command
def resume(
    app: App,
    run: str,
    pairs: tuple[str, ...],
    args_file: Path | None,
    plan: str | None,
    approve_up_to: int | None,
    trust_config: bool,
    **given: Any,
) -> int:
    """Go on with a run that is not whole; nothing is asked twice.

    RUN is an id that `planloom runs` lists, or its beginning: of a run that was stopped, cancelled, killed, held
    or failed, or that completed with holes.
    """
    args, now = read_arguments(pairs, args_file), None if plan is None else given_plan(app, plan)
    wanted = _Wanted(args=args, plan=now, **given)
    app = attrs.evolve(app, settings=with_approval(app.settings, approve_up_to))
    if wanted.driver is not None:
        # The terminal that it was begun from may close.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with opened_store(app) as store:
        row = find_run(store, run)
        _check_trust(app, row, trust_config)
        job = job_of(app.registry, row, wanted.args) if wanted.as_new_run else None
        cap = cap_of(store, row) if wanted.cap is None else wanted.cap
        reopened = None if wanted.as_new_run else _reopened(app, store, row, wanted)
    if job is not None:
        return _as_new_run(app, row, attrs.evolve(job, cap=cap), wanted)
    if reopened is None:
        click.echo(f"{row.id} is whole: nothing is missing; `planloom replay {row.id}` gives its result again")
        return 0
    return _go_on(app, reopened, wanted)


def _check_trust(app: App, row: RunRow, given: bool) -> None:
    target = target_of(row.facts)
    if target:
        require_trust(app.settings, Path(target), given=given, ask=confirm if interactive() else None)


def _reopened(app: App, store: Store, row: RunRow, wanted: _Wanted) -> Reopened | None:
    """Return the run ready to go on, with what is known said; ``None`` when nothing is missing."""
    check_resumable(store, row, wanted.workers or app.settings.workers)
    if wanted.driver not in (None, row.status):
        raise Misuse(
            f"the run {row.id} is {row.status} by now, and was not begun; `planloom show {row.id}` tells how it is"
        )
    if lacks_nothing(app.registry, app.settings, store, row, args=wanted.args, source=wanted.source):
        asyncio.run(_settle_uncertain(store, row.budget, release=wanted.release_uncertain))
        return None
    reopened = reopen(
        app.registry, app.settings, store, row, args=wanted.args, source=wanted.source, workers=wanted.workers
    )
    asyncio.run(_prepare(store, reopened, wanted))
    return reopened if wanted.cap is None else attrs.evolve(reopened, job=attrs.evolve(reopened.job, cap=wanted.cap))


async def _prepare(store: Store, reopened: Reopened, wanted: _Wanted) -> None:
    """Say what is known, release what the person says was not billed, and set the cap."""
    former = reopened.former
    run, budget = former.row.id, former.row.budget
    if former.seq:
        say_console().print(
            f"{run}: {counted(former.calls, 'question')} asked so far, {counted(len(former.versions), 'answer')} "
            f"known, {show_credits(former.paid + reopened.planned.paid)} credits paid"
        )
    await _settle_uncertain(store, budget, release=wanted.release_uncertain)
    if wanted.cap is not None:
        books = books_of(former.row)
        await store.open_budget(books, wanted.cap)
        await store.set_cap(books, wanted.cap)


async def _settle_uncertain(store: Store, budget: str, *, release: bool) -> None:
    """Release the calls of unknown outcome where a person says that they were not billed, else say that they are."""
    calls = store.uncertain_calls(budget)
    if not calls:
        return
    if release:
        for call in calls:
            await store.release(call.call_id)
        counted_calls, charged = counted(len(calls), "call"), show_credits(sum(call.worst for call in calls))
        said = f"released {counted_calls} of unknown outcome: {charged} credits are free again"
    else:
        said = uncertain_text(calls, "--release-uncertain")
    say_console().print(said)


def _desk(app: App, job: Job, wanted: _Wanted, reopened: Reopened | None = None) -> JobDesk:
    further: dict[str, Any] = {}
    if reopened is not None:
        further = {"former": reopened.former, "workers": reopened.workers, "planned": reopened.planned}
    return JobDesk(
        registry=app.registry,
        settings=app.settings,
        job=job,
        console=say_console(),
        confirm=confirm,
        yes=wanted.yes,
        on_cap=wanted.on_cap,
        **further,
    )


def _go_on(app: App, reopened: Reopened, wanted: _Wanted) -> int:
    row, roles = reopened.former.row, reopened.roles
    desk = _desk(app, reopened.job, wanted, reopened)
    if unapproved(row):
        priced = desk.price(reopened.source, row.title)
        desk.approve(priced)
        roles = require_roles(app.settings, priced.rehearsal)
        if wanted.detach:
            desk.keep_unrun(reopened.source, "created", "")
    if wanted.detach:
        return begin_detached(app, row.id, wanted.at_cap, wanted.for_driver())
    outcome = desk.drive(reopened.program, reopened.source, roles)
    return wrap_up(desk, outcome, str(row.facts.get("reporter", "")), as_json=wanted.as_json)


def _as_new_run(app: App, row: RunRow, job: Job, wanted: _Wanted) -> int:
    """Price, approve and run what the job is now; its questions meet the answers that the former run left."""
    source = wanted.source or row.plan
    job = attrs.evolve(
        job,
        plan=plan_hash(source) if job.plan else "",
        refresh=False,  # it reuses every answer that still fits
        facts=_kept_facts(row),
    )
    if wanted.workers is not None:
        app = attrs.evolve(app, settings=attrs.evolve(app.settings, workers=wanted.workers))
    desk = _desk(app, job, wanted)
    priced: PricedPlan = desk.price(source, wanted.plan.name if wanted.plan else row.title)
    desk.approve(priced)
    if wanted.detach:
        return begin_detached(app, desk.leave(priced), wanted.at_cap)
    return wrap_up(desk, desk.run(priced), str(row.facts.get("reporter", "")), as_json=wanted.as_json)


def _kept_facts(row: RunRow) -> dict[str, Any]:
    """Return what a kit's command stored for its report, which holds for the changed job too."""
    names = ("reporter", "out", "named", "sheet", "plan_name", "target_bytes")
    return {name: row.facts[name] for name in names if name in row.facts}


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@app_command
def replay(app: App, run: str, as_json: bool) -> int:
    """Play a run again from what is stored, and compare results.

    Nothing is asked and nothing is written. RUN is an id that `planloom runs` lists, or its beginning.
    """

    async def main() -> int:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            replayed = await loom.replay(run)
        if as_json:
            tell(json.dumps({"equal": replayed.equal, "result": replayed.outcome.result}, indent=2))
        say_console().print(Text(replayed.said))
        return 0 if replayed.equal else 1

    return asyncio.run(main())
