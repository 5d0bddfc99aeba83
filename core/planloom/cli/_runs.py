"""``planloom runs``, ``show`` and ``export``: what the store knows of runs."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Column, Table
from rich.text import Text

from planloom._above import told_of_above
from planloom.api import Planloom, Run, open_with
from planloom.exporting import RUN_FILES, event_line
from planloom.money import show_credits
from planloom.settings import Settings
from planloom.status import cancelling_now, has_ended, holes_now, paid_now, status_now, uncertain_text, was_refused
from planloom.stores import RunRow
from planloom.visible import visible
from planloom.wording import counted

from ._failures import failure_lines
from .app import App, app_command, out_console, say_console

__all__ = ["export", "runs", "show"]

_SHOWN_CHARACTERS = 4_000
_NAME_SHOWN = 120


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(1), default=20, help="How many (default 20).")
@click.option("--all", "with_refused", is_flag=True, help="Also list what was refused before anything ran.")
@app_command
def runs(app: App, limit: int, with_refused: bool) -> None:
    """List the newest runs.

    What the check, the rehearsal or the gate refused has not run, and is counted but not listed without --all.
    """
    numbers = (Column(name, justify="right") for name in ("workers", "credits"))
    table = Table(Column("run", overflow="fold"), "status", *numbers, "began (UTC)", box=None, pad_edge=False)

    async def main() -> tuple[int, int, str]:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            rows, refused = (loom.store.runs(limit), 0) if with_refused else _that_ran(loom, limit)
            for row in rows:
                table.add_row(*_cells(loom, row))
            return len(rows), refused, _whole_place(loom.store.where, app.settings)

    listed, refused, where = asyncio.run(main())
    if listed:
        out_console().print(table)
    if refused:
        were = f"{' more' if listed else ''} {'was' if refused == 1 else 'were'}"
        say_console().print(f"{refused:,}{were} refused and did not run; `planloom runs --all` lists them too")
    elif not listed:
        click.echo(
            f"no runs yet; the store {where} has none: `planloom audit PATH` or `planloom run FILE.plan` makes one"
        )
    if not (listed or refused) and (above := told_of_above(app.settings, Path.cwd())):
        click.echo(f"planloom: {visible(above)}", err=True)


def _whole_place(where: str, settings: Settings) -> str:
    """Return what a store is called, from the root on: who is in another folder than they think sees it there."""
    path = settings.store_path
    return os.path.abspath(path) + where.removeprefix(path) if where.startswith(path) else where


def _that_ran(loom: Planloom, limit: int) -> tuple[Sequence[RunRow], int]:
    """Return the newest runs that were not refused, and how many of those that are as new were."""
    looked_at = limit
    while True:
        rows = loom.store.runs(looked_at)
        ran = [row for row in rows if not was_refused(row)]
        if len(ran) >= limit or len(rows) < looked_at:
            newest = ran[:limit]
            among = rows if len(newest) < limit else rows[: rows.index(newest[-1])]
            return newest, sum(map(was_refused, among))
        looked_at *= 4


def _cells(loom: Planloom, row: RunRow) -> tuple[Text, str, str, str, str]:
    """Return a run's row of the list."""
    store = loom.store
    status, progress = status_now(store, row), store.progress(row.id)
    holes, paid = holes_now(store, row, status, progress), paid_now(store, row, status)
    counts = row.facts.get("counts", {}) if has_ended(store, row, status) else {}
    agents = counts.get("agents", progress.agents or None)
    said = f"paused at {row.facts['paused_at']}" if status == "paused" and row.facts.get("paused_at") else status
    if cancelling_now(row, status):
        said += ", being cancelled"
    return (
        Text(row.id),
        f"{said}, {counted(holes, 'hole')}" if holes else said,
        "-" if agents is None else str(agents),
        _credits(paid),
        _began(row),
    )


def _credits(paid: int | None) -> str:
    return "-" if paid is None else show_credits(paid)


def _began(row: RunRow) -> str:
    return row.created_at.replace("T", " ").removesuffix("+00:00")


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--plan", "plan_alone", is_flag=True, help="Print the run's plan alone, to save and change.")
@app_command
def show(app: App, run: str, as_json: bool, plan_alone: bool) -> None:
    """Show one run: status, phases, cost, what failed, and its result.

    RUN is an id that `planloom runs` lists, or its beginning.
    """

    async def main() -> None:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            shown = loom.run(run)
            if plan_alone:
                click.echo(shown.record.plan.rstrip("\n"))
            elif as_json:
                click.echo(json.dumps(_as_data(shown), indent=2, default=str))
            else:
                _print_run(shown)

    asyncio.run(main())


def _as_data(run: Run) -> dict[str, Any]:
    row = run.record
    return {
        **run.as_json(),
        "plan": row.plan,
        "result": row.result,
        "events": [json.loads(event_line(event)) for event in run.events_so_far()],
    }


def _print_run(run: Run) -> None:
    console, row = out_console(), run.record
    is_over = not run.driven and run.status != "interrupted"
    cost, phases = (row.facts.get("cost", {}), row.facts.get("phases", ())) if is_over else ({}, ())
    full = f", {show_credits(cost['full_price'])} at full price" if "full_price" in cost else ""
    console.print(Text(f"{row.id}: {row.title}", style="bold"))
    console.print(Text(run.status_line))
    console.print(Text(f"{_credits(run.paid)} credits paid{full} | began {_began(row)} UTC"))
    if uncertain := run.uncertain:
        how = f"`planloom resume {row.id} --release-uncertain`{', once nobody drives it,' if run.driven else ''}"
        console.print(Text(uncertain_text(uncertain, how)))
    if hedged := run.progress.events.get("run.hedged", 0):
        console.print(f"{counted(hedged, 'call')} hedged: sent a second time, since no answer began (hedge_after_s)")
    if row.error and is_over:
        console.print(Text(row.error))
    for line in run.way_on:
        console.print(Text(line))
    if phases:
        console.print(_phases(phases))
    for line in failure_lines(run):
        console.print(Text(line))
    _print_result(row)


def _phases(phases: Sequence[Mapping[str, Any]]) -> Table:
    """Return the phases as a table; one that lacks something says so, also when the run went on.

    Workers that were cancelled, or never had their turn, have a column where there are any, since else the counts would
    not add up.
    """
    ended = [key for key in ("cancelled", "unstarted") if any(phase.get(key) for phase in phases)]
    names = ("workers", "done", "failed", *ended, "dropped", "undecided")
    numbers = (Column("not started" if name == "unstarted" else name, justify="right") for name in names)
    table = Table("phase", *numbers, "", box=None, pad_edge=False)
    for phase in phases:
        missing = ("failed", "dropped", "undecided", "tasks_failed")
        holes = sum(phase.get(key, 0) for key in missing)
        columns = [str(phase["started"]), f"{phase['done']} of {phase['started']}"]
        columns += [str(phase.get(key, 0)) for key in names[2:]]
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

    async def main() -> Path:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            exported = loom.run(run)
            folder = out or Path(exported.id)
            exported.export(folder)
            return folder

    click.echo(f"wrote {', '.join(RUN_FILES)} below {asyncio.run(main())}")
