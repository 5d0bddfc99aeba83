"""``planloom rehearse`` and ``run``: a plan from text to result."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import click

from planloom._errors import PlanRefused
from planloom._room import Room, room_for
from planloom.desk import JobDesk
from planloom.jobs import check_target, compile_plan, default_price, kits_in
from planloom.kits import Kit
from planloom.loom import Job, open_loom, plan_hash
from planloom.rehearsal import rehearse as rehearse_program
from planloom.resuming import target_facts
from planloom.terminal import interactive, show_rehearsal
from planloom.trust import require_trust
from planloom.visible import visible
from planloom.words import build_vocabulary

from ._check import GivenPlan, given_plan, plan_argument
from .app import (
    App,
    app_command,
    argument_options,
    out_console,
    read_arguments,
    say_console,
    trust_option,
)
from .running import (
    CAP_OPTION,
    approval_options,
    begin_detached,
    confirm,
    refresh_option,
    repeat_option,
    run_options,
    with_approval,
    wrap_up,
)

__all__ = ["rehearse", "run"]


def _plan_options(function: Any) -> Any:
    for option in (
        click.option("--target", metavar="PATH", help="What the plan works on: a folder for plans that read code."),
        argument_options,
        CAP_OPTION,
    ):
        function = option(function)
    return function


@click.command()
@plan_argument
@_plan_options
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(1, 1000),
    help="How many rehearsals (default 20, fewer for large plans).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the estimate as JSON.")
@app_command
def rehearse(
    app: App,
    plan: str,
    target: str | None,
    pairs: tuple[str, ...],
    args_file: Path | None,
    cap: int | None,
    seeds: int | None,
    as_json: bool,
) -> int:
    """Rehearse a plan: what it would need, for free.

    PLAN is a file, a saved plan's name, or `-` for standard input.
    """
    given, args = given_plan(app, plan), read_arguments(pairs, args_file)
    kits = _kits_for(app, given, target)
    program, _ = compile_plan(given.source, build_vocabulary(app.registry, app.settings, kits), given.name)
    settings = app.settings
    job = _job(app, given, kits, target, args=args, cap=cap)
    room = _room(app, job, given.source)
    rehearsal = rehearse_program(
        program,
        registry=app.registry,
        settings=settings,
        works=job.works,
        prices=default_price if settings.offline else lambda role: settings.role(role).price,
        budget=room.left_of_job,
        seen=room.left,
        recorded=room.recorded,
        args=args,
        takes=seeds,
    )
    if as_json:
        click.echo(json.dumps(rehearsal.as_json(), indent=2))
        return 6 if rehearsal.problems else 0
    basis = " at the default prices, since no model is configured" if settings.offline else ""
    show_rehearsal(out_console(), rehearsal, f"Rehearsal of {given.name}{basis}")
    if rehearsal.problems:
        raise PlanRefused(f"the plan was refused: {rehearsal.problems[0]}")
    return 0


def _kits_for(app: App, plan: GivenPlan, target: str | None) -> tuple[Kit, ...]:
    """Return the kits that a plan uses.

    :raises Misuse: it lacks a target, or uses no kit and has one.
    """
    check_target(app.registry, app.settings, plan.source, plan.name, target, "--target PATH")
    return kits_in(app.registry, app.settings, plan.source)


def _job(app: App, plan: GivenPlan, kits: tuple[Kit, ...], target: str | None, *, cap: int | None, **given: Any) -> Job:
    path, shown = _paths(target)
    return Job(
        title=Path(plan.name).stem,
        kits=kits,
        works={kit.name: kit.open(target, {}) for kit in kits} if target else {},
        target=shown,
        plan=plan_hash(plan.source),
        cap=app.settings.cap if cap is None else cap,
        facts=target_facts(path, shown),
        **given,
    )


def _room(app: App, job: Job, source: str) -> Room:
    """Return what a run of this plan would see; where there is no store yet, none is made."""
    settings = app.settings
    if not Path(settings.store_path).exists():
        return Room(job=job.cap, store=settings.store_cap)

    async def look() -> Room:
        async with open_loom(app.registry, settings, read_only=True) as loom:
            return room_for(loom, job, source)

    return asyncio.run(look())


@click.command()
@plan_argument
@_plan_options
@click.option("--title", metavar="TEXT", help="What to call the run (default: the plan's name).")
@repeat_option
@refresh_option
@run_options
@approval_options
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@app_command
def run(
    app: App,
    plan: str,
    target: str | None,
    pairs: tuple[str, ...],
    args_file: Path | None,
    cap: int | None,
    title: str | None,
    repeat: int,
    refresh: bool,
    at_cap: str | None,
    detach: bool,
    yes: bool,
    approve_up_to: int | None,
    trust_config: bool,
    as_json: bool,
) -> int:
    """Check, rehearse and run a plan, and print its result.

    PLAN is a file, a saved plan's name, or `-` for standard input.
    """
    settings = with_approval(app.settings, approve_up_to)
    given, args = given_plan(app, plan), read_arguments(pairs, args_file)
    kits = _kits_for(app, given, target)
    if target:
        require_trust(settings, Path(target), given=trust_config, ask=confirm if interactive() else None)
    job = _job(app, given, kits, target, args=args, cap=cap, repeat=repeat - 1, refresh=refresh)
    if title:
        job = attrs.evolve(job, title=title)
    desk = JobDesk(
        registry=app.registry,
        settings=settings,
        job=job,
        console=say_console(),
        confirm=confirm,
        yes=yes,
        on_cap="wait" if at_cap == "wait" else "stop",
    )
    priced = desk.price(given.source, given.name)
    desk.approve(priced)
    if detach:
        return begin_detached(app, desk.leave(priced), at_cap)
    return wrap_up(desk, desk.run(priced), "", as_json=as_json)


def _paths(target: str | None) -> tuple[str, str]:
    """Return the path to work on and the text that names it, which a path of odd bytes is not."""
    path = str(Path(target).resolve()) if target else ""
    return path, visible(path)
