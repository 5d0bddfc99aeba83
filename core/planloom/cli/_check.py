"""``planloom check``, the command that is run most: it imports nothing that runs plans."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from planlang import check as check_source
from planloom._errors import Misuse
from planloom._given_plan import Plan
from planloom.kits import Kit
from planloom.saved_plans import plan_named, saved_plans
from planloom.visible import visible
from planloom.wording import counted
from planloom.words import build_vocabulary

from .app import App, settings_command

if TYPE_CHECKING:
    from planlang import Problem

__all__ = ["check", "given_plan", "plan_argument"]

# Not a `Path`, which takes `./fixed` for `fixed`: the one is a file, the other may be a saved plan.
plan_argument = click.argument("plan", metavar="PLAN", type=click.Path())
_STANDARD_INPUT = "-"
_LONGEST_BYTES = 1_000_000


def given_plan(app: App, given: str) -> Plan:
    """Return the plan that a person names: a file, a saved plan, or `-` for standard input.

    :raises Misuse: there is none of that name or two, or it is no readable text of at most a megabyte.
    """
    if given == _STANDARD_INPUT:
        return Plan(_read_plan(given, "standard input"), "standard input")
    saved = plan_named(given, saved_plans(app.registry.all("kit", Kit).values(), app.settings))
    if saved is not None:
        return Plan(saved.source, saved.name)
    name = str(Path(given))
    return Plan(_read_plan(given, name), name)


def _read_plan(given: str, name: str) -> str:
    data = _read(given, name)
    if len(data) > _LONGEST_BYTES:
        raise Misuse(f"{name} is larger than a megabyte; a plan has at most 32,000 characters")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Misuse(f"{name} is not UTF-8 text: byte {error.start} cannot be read; save it as UTF-8") from error


def _read(given: str, name: str) -> bytes:
    """Return at most one byte more than a plan may have: what follows is never read, and may have no end."""
    try:
        path = Path(given)
        if given == _STANDARD_INPUT:
            return sys.stdin.buffer.read(_LONGEST_BYTES + 1)
        if not path.exists():
            raise Misuse(f"there is no file {name}; name a plan file, a saved plan, or `-` for standard input")
        if not path.is_file():
            raise Misuse(f"{name} is not a file; name a plan file, a saved plan, or `-` for standard input")
        with path.open("rb") as file:
            return file.read(_LONGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise Misuse(
            f"cannot read {name}: {said}; name a plan file, a saved plan, or `-` for standard input"
        ) from error


@click.command()
@plan_argument
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON.")
@settings_command
def check(app: App, plan: str, as_json: bool) -> int:
    """Check a plan: every problem, its place, and what to write.

    PLAN is a file, a saved plan's name, or `-` for standard input.
    """
    given = given_plan(app, plan)
    source = given.source
    kits = tuple(app.registry.all("kit", Kit).values())
    problems = check_source(source, build_vocabulary(app.registry, app.settings, kits))
    if as_json:
        click.echo(json.dumps([problem._asdict() for problem in problems], indent=2))
    else:
        _print_problems(problems, source, given.name)
    return 6 if any(problem.severity == "problem" for problem in problems) else 0


def _print_problems(problems: list[Problem], source: str, name: str) -> None:
    for problem in problems:
        click.echo(visible(problem.render(source, name)) + "\n")
    blocking = sum(problem.severity == "problem" for problem in problems)
    advice = len(problems) - blocking
    aside = f", {counted(advice, 'piece')} of advice" if advice else ""
    click.echo(f"{name}: {counted(blocking, 'problem') if blocking else 'no problems'}{aside}")
