"""``planloom doctor``: is everything fit to run plans, and what to do where it is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import attrs
import click
from rich.text import Text

from planloom.doctor import Check, Visit, checks_of, reachable, visit, worst_price
from planloom.money import credits_of, show_credits, show_enough
from planloom.terminal import interactive

from ._confirm import confirm
from .app import App, app_command, out_console, say_console

__all__ = ["doctor"]

_STYLES = {"ok": "green", "note": "yellow", "bad": "bold red"}


@click.command()
@click.option("--yes", is_flag=True, help="Ask the endpoints without asking you about the cost.")
@click.option("--offline", is_flag=True, help="Ask no endpoint: look at this machine and the configuration alone.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@app_command
def doctor(app: App, yes: bool, offline: bool, as_json: bool) -> int:
    """Say whether configuration, keys, store and models are fit.

    Where something is not, it says what to do.
    """
    checks = checks_of(app.registry, app.settings)
    if not as_json:
        _print(checks)
    targets = [] if offline else reachable(app.registry, app.settings, checks)
    visited = None
    whom = ", ".join(dict.fromkeys(target.endpoint.url or target.endpoint.name for target in targets))
    if targets and _may_ask(worst_price(targets), whom, yes):
        visited = asyncio.run(visit(app.registry, app.settings, targets))
        checks += visited.checks
    if as_json:
        click.echo(json.dumps(_as_data(checks, visited), indent=2))
    elif visited is not None:
        _print(visited.checks)
        unsure = f", {show_credits(visited.uncertain)} for calls of unknown outcome" if visited.uncertain else ""
        say_console().print(f"{show_credits(visited.paid)} credits paid{unsure}")
    return max((check.exit_code for check in checks if check.verdict == "bad"), default=0)


def _may_ask(worst: int, whom: str, yes: bool) -> bool:
    """Return whether the endpoints may be asked; the cost is said first."""
    cost = f"at most {show_enough(worst)} credits" if worst else "nothing"
    if yes:
        say_console().print(Text(f"asking {whom} costs {cost}"))
        return True
    if interactive():
        return confirm(f"Asking {whom} costs {cost}. Ask?")
    say_console().print(Text(f"{whom} was not asked, which costs {cost}; say --yes to ask"))
    return False


def _print(checks: Iterable[Check]) -> None:
    console = out_console()
    for check in checks:
        line = Text(f"{check.verdict:4}  ", style=_STYLES[check.verdict])
        line.append(f"{check.name}: {check.said}", style="default")
        console.print(line)
        if check.step:
            console.print(Text(f"      Next: {check.step}"))


def _as_data(checks: list[Check], visited: Visit | None) -> dict[str, Any]:
    endpoints = [] if visited is None else visited.examined
    return {
        "checks": [attrs.asdict(check, filter=lambda field, _: field.name != "exit_code") for check in checks],
        "endpoints": [
            {
                "endpoint": found.target.endpoint.name,
                "model": found.target.role.model,
                "roles": found.target.roles,
                "error": None if found.error is None else str(found.error),
                "seconds": round(found.seconds, 3),
                "named": found.model,
                "counts": dict(found.counts),
                "thinking": found.thinking,
                "json_modes": dict(found.json_modes),
                "streaming": dict(found.streaming),
            }
            for found in endpoints
        ],
        "paid": credits_of(visited.paid) if visited is not None else 0.0,
        "uncertain": credits_of(visited.uncertain) if visited is not None else 0.0,
    }
