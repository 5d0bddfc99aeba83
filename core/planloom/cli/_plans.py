"""``planloom rehearse`` and ``run``: a plan from text to result."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import click

from planloom._errors import PlanRefused
from planloom._given_job import given_job
from planloom.api import open_with
from planloom.jobs import check_target
from planloom.money import credits_of
from planloom.rehearsal import Rehearsal
from planloom.terminal import interactive, show_rehearsal
from planloom.trust import require_trust

from ._check import given_plan, plan_argument
from .app import (
    App,
    app_command,
    argument_options,
    out_console,
    read_arguments,
    trust_option,
)
from .running import (
    CAP_OPTION,
    approval_options,
    begin_detached,
    confirm,
    desk_of,
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
    check_target(app.registry, app.settings, given.source, given.name, target, "--target PATH")

    async def main() -> Rehearsal:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            return await loom.rehearse(given, target=target, args=args, cap=_credits(cap), takes=seeds)

    rehearsal = asyncio.run(main())
    if as_json:
        click.echo(json.dumps(rehearsal.as_json(), indent=2))
        return 6 if rehearsal.problems else 0
    basis = " at the default prices, since no model is configured" if app.settings.offline else ""
    show_rehearsal(out_console(), rehearsal, f"Rehearsal of {given.name}{basis}")
    if rehearsal.problems:
        raise PlanRefused(f"the plan was refused: {rehearsal.problems[0]}")
    return 0


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
    check_target(app.registry, settings, given.source, given.name, target, "--target PATH")
    if target:
        require_trust(settings, Path(target), given=trust_config, ask=confirm if interactive() else None)
    wanted: dict[str, Any] = {"target": target, "args": args, "cap": _credits(cap), "title": title}
    # Before there is a store: where there is nothing to work on, none is made.
    job = given_job(app.registry, settings, given, **wanted, repeat=repeat, refresh=refresh)
    desk = desk_of(attrs.evolve(app, settings=settings), yes=yes, at_cap=at_cap)
    proposal = desk.do(lambda loom: loom.propose_job(job, given))
    desk.show(proposal)
    proposal = desk.approve(proposal)
    if detach:
        return begin_detached(app, desk.leave(proposal), at_cap)
    return wrap_up(desk, proposal, desk.run(proposal), as_json=as_json)


def _credits(cap: int | None) -> float | None:
    return None if cap is None else credits_of(cap)
