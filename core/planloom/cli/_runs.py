"""``planloom runs``, ``show`` and ``export``: what the store knows of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Column, Table
from rich.text import Text

from planloom.exporting import RUN_FILES, event_line, export_run, run_as_json
from planloom.money import show_credits
from planloom.resuming import find_run
from planloom.status import UNDER_WAY, paid_now, status_line, status_now, uncertain_text
from planloom.stores import RunRow, Store
from planloom.wording import counted

from .app import App, app_command, opened_store, out_console

__all__ = ["export", "runs", "show"]

_SHOWN_CHARACTERS = 4_000
_FAILED_SHOWN = 20
_NAME_SHOWN = 120


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(1), default=20, help="How many (default 20).")
@app_command
def runs(app: App, limit: int) -> None:
    """List the newest runs."""
    numbers = (Column(name, justify="right") for name in ("workers", "credits"))
    table = Table(Column("run", overflow="fold"), "status", *numbers, "began (UTC)", box=None, pad_edge=False)
    with opened_store(app, read_only=True) as store:
        rows = store.runs(limit)
        for row in rows:
            table.add_row(Text(row.id), _status(store, row), _workers(store, row), _paid(store, row), _began(row))
    if not rows:
        click.echo("no runs yet; `planloom audit PATH` or `planloom run FILE.plan` makes one")
        return
    out_console().print(table)


def _status(store: Store, row: RunRow) -> str:
    status, holes = status_now(store, row), row.facts.get("counts", {}).get("holes", 0)
    return f"{status}, {counted(holes, 'hole')}" if holes else status


def _began(row: RunRow) -> str:
    return row.created_at.replace("T", " ").removesuffix("+00:00")


def _workers(store: Store, row: RunRow) -> str:
    agents = row.facts.get("counts", {}).get("agents")
    if agents is None or _under_way(store, row):
        agents = store.progress(row.id).agents or None
    return "-" if agents is None else str(agents)


def _paid(store: Store, row: RunRow) -> str:
    paid = paid_now(store, row, status_now(store, row))
    return "-" if paid is None else show_credits(paid)


def _under_way(store: Store, row: RunRow) -> bool:
    return status_now(store, row) in UNDER_WAY


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--plan", "plan_alone", is_flag=True, help="Print the run's plan alone, to save and change.")
@app_command
def show(app: App, run: str, as_json: bool, plan_alone: bool) -> None:
    """Show one run: status, phases, cost, what failed, and its result.

    RUN is an id that `planloom runs` lists, or its beginning.
    """
    with opened_store(app, read_only=True) as store:
        row = find_run(store, run)
        if plan_alone:
            click.echo(row.plan.rstrip("\n"))
        elif as_json:
            click.echo(json.dumps(_as_data(store, row), indent=2, default=str))
        else:
            _print_run(store, row)


def _as_data(store: Store, row: RunRow) -> dict[str, Any]:
    return {
        **run_as_json(store, row),
        "plan": row.plan,
        "result": row.result,
        "events": [json.loads(event_line(event)) for event in store.events(row.id)],
    }


def _print_run(store: Store, row: RunRow) -> None:
    console = out_console()
    going = _under_way(store, row)
    cost, phases = ({}, ()) if going else (row.facts.get("cost", {}), row.facts.get("phases", ()))
    full = f", {show_credits(cost['full_price'])} at full price" if "full_price" in cost else ""
    console.print(Text(f"{row.id}: {row.title}", style="bold"))
    console.print(Text(status_line(store, row)))
    console.print(Text(f"{_paid(store, row)} credits paid{full} | began {_began(row)} UTC"))
    uncertain = store.uncertain_calls(row.budget) if row.budget else ()
    if uncertain:
        console.print(Text(uncertain_text(uncertain, f"`planloom resume {row.id} --release-uncertain`")))
    if hedged := store.progress(row.id).events.get("run.hedged", 0):
        console.print(f"{counted(hedged, 'call')} hedged: sent a second time, since no answer began (hedge_after_s)")
    if row.error:
        console.print(Text(row.error))
    if phases:
        console.print(_phases(phases))
    failed = store.threads(row.id, status="failed", limit=_FAILED_SHOWN)
    for thread in failed:
        console.print(Text(f"{thread.id} {thread.label}: {thread.error}"))
    hidden = store.progress(row.id).threads.get("failed", 0) - len(failed)
    if hidden:
        console.print(f"and {hidden:,} more; `planloom export {row.id}` has them all")
    _print_result(row)


def _phases(phases: Sequence[Mapping[str, Any]]) -> Table:
    """Return the phases as a table; one that lacks something says so, also when the run went on."""
    numbers = (Column(name, justify="right") for name in ("workers", "done", "failed", "dropped", "undecided"))
    table = Table("phase", *numbers, "", box=None, pad_edge=False)
    for phase in phases:
        missing = ("failed", "dropped", "undecided", "tasks_failed")
        holes = sum(phase.get(key, 0) for key in missing)
        columns = [str(phase["started"]), f"{phase['done']} of {phase['started']}"]
        columns += [str(phase[key]) for key in missing[:-1]]
        table.add_row(Text(_short(phase["name"] or "(no phase)")), *columns, f"HOLES {holes}" if holes else "")
    return table


def _short(name: str) -> str:
    # A column is as wide as its widest cell.
    return name if len(name) <= _NAME_SHOWN else f"{name[: _NAME_SHOWN - 1]}…"


def _print_result(row: RunRow) -> None:
    if row.result is None:
        return
    text = json.dumps(row.result, indent=2, default=str)
    click.echo(text[:_SHOWN_CHARACTERS])
    if len(text) > _SHOWN_CHARACTERS:
        more = len(text) - _SHOWN_CHARACTERS
        click.echo(f"... {more:,} characters more; `planloom export {row.id}` writes them all to result.json")


@click.command()
@click.argument("run")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the files below DIR (default: a folder named as the run).",
)
@app_command
def export(app: App, run: str, out: Path | None) -> None:
    """Write all of a run as files.

    They hold its record, plan, result, events and transcripts, whole.
    RUN is an id that `planloom runs` lists, or its beginning.
    """
    with opened_store(app, read_only=True) as store:
        row = find_run(store, run)
        folder = out or Path(row.id)
        export_run(store, row, folder)
    click.echo(f"wrote {', '.join(RUN_FILES)} below {folder}")
