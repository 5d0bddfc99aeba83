"""``planloom rehearse`` and ``run``: a plan file from text to result."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import click

from planloom._errors import Misuse, PlanRefused
from planloom.desk import JobDesk
from planloom.jobs import compile_plan, default_price, kits_in
from planloom.kits import Kit, KitWork
from planloom.loom import Job, plan_hash
from planloom.rehearsal import rehearse as rehearse_program
from planloom.terminal import interactive, outcome_line, show_rehearsal
from planloom.trust import require_trust
from planloom.visible import visible
from planloom.words import build_vocabulary

from ._check import plan_argument, plan_name, read_plan
from .app import CREDITS, App, app_command, out_console, read_arguments, say_console, trust_option

__all__ = ["rehearse", "run"]


def _plan_options(function: Any) -> Any:
    for option in (
        click.option("--target", metavar="PATH", help="What the plan works on: a folder for plans that read code."),
        click.option("--arg", "pairs", multiple=True, metavar="NAME=JSON", help="An argument of the plan."),
        click.option(
            "--args-file", metavar="FILE", type=click.Path(path_type=Path), help="Arguments from a file of JSON."
        ),
        click.option("--cap", type=CREDITS, help="The budget in credits (default 150)."),
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
    plan: Path,
    target: str | None,
    pairs: tuple[str, ...],
    args_file: Path | None,
    cap: int | None,
    seeds: int | None,
    as_json: bool,
) -> int:
    """Rehearse a plan: what it would need, for free."""
    source, args = read_plan(plan), read_arguments(pairs, args_file)
    kits = kits_in(app.registry, app.settings, source)
    program, _ = compile_plan(source, build_vocabulary(app.registry, app.settings, kits), plan_name(plan))
    settings = app.settings
    rehearsal = rehearse_program(
        program,
        registry=app.registry,
        settings=settings,
        works=open_works(kits, target),
        prices=default_price if settings.offline else lambda role: settings.role(role).price,
        budget=settings.cap if cap is None else cap,
        args=args,
        takes=seeds,
    )
    if as_json:
        click.echo(json.dumps(rehearsal.as_json(), indent=2))
        return 6 if rehearsal.problems else 0
    basis = " at the default prices, since no model is configured" if settings.offline else ""
    show_rehearsal(out_console(), rehearsal, f"Rehearsal of {plan_name(plan)}{basis}")
    if rehearsal.problems:
        raise PlanRefused(f"the plan was refused: {rehearsal.problems[0]}")
    return 0


def open_works(kits: tuple[Kit, ...], target: str | None) -> Mapping[str, KitWork]:
    """Return the work of each kit that a plan uses.

    :raises Misuse: a kit needs a target and there is none.
    """
    if kits and not target:
        names = ", ".join(kit.name for kit in kits)
        raise Misuse(f"the plan uses words of the kit {names}; say what it works on with --target PATH")
    return {kit.name: kit.open(str(target), {}) for kit in kits}


@click.command()
@plan_argument
@_plan_options
@click.option("--title", metavar="TEXT", help="What to call the run (default: the plan's file name).")
@click.option("--yes", is_flag=True, help="Approve the plan whatever it costs within the budget.")
@click.option("--approve-up-to", type=CREDITS, help="Approve the plan up to that many credits.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@app_command
def run(
    app: App,
    plan: Path,
    target: str | None,
    pairs: tuple[str, ...],
    args_file: Path | None,
    cap: int | None,
    title: str | None,
    yes: bool,
    approve_up_to: int | None,
    trust_config: bool,
    as_json: bool,
) -> int:
    """Check, rehearse and run a plan, and print its result."""
    settings = app.settings
    if approve_up_to is not None:
        settings = attrs.evolve(settings, gate=attrs.evolve(settings.gate, approve_up_to=approve_up_to))
    source, args = read_plan(plan), read_arguments(pairs, args_file)
    kits = kits_in(app.registry, settings, source)
    if target:
        require_trust(settings, Path(target), given=trust_config, ask=_confirm if interactive() else None)
    job = Job(
        title=title or Path(plan_name(plan)).stem,
        kits=kits,
        works=open_works(kits, target),
        # Named as text, which a path of odd bytes is not.
        target=visible(str(Path(target).resolve())) if target else "",
        plan=plan_hash(source),
        args=args,
        cap=settings.cap if cap is None else cap,
    )
    desk = JobDesk(
        registry=app.registry,
        settings=settings,
        job=job,
        console=say_console(),
        confirm=_confirm,
        yes=yes,
    )
    priced = desk.price(source, plan_name(plan))
    desk.approve(priced)
    outcome = desk.run(priced)
    say_console().print(outcome_line(outcome))
    if as_json:
        click.echo(json.dumps({"result": outcome.result, "status": outcome.status, "error": outcome.error}, indent=2))
    elif outcome.result is not None:
        _print_result(outcome.result)
    if outcome.error:
        click.echo(f"planloom: {visible(outcome.error)}", err=True)
    return outcome.exit_code


def _confirm(question: str) -> bool:
    return click.confirm(question, err=True)


def _print_result(result: Any) -> None:
    """Print a text as it is for programs, and with its hidden characters named for a person."""
    text = result if isinstance(result, str) else json.dumps(result, indent=2)
    # Without `color` click would take escape sequences out of what a program reads.
    click.echo(visible(text) if sys.stdout.isatty() else text, color=True)
