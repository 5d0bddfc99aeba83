"""``planloom runs`` and ``show``: what the store knows of runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from rich.table import Column, Table
from rich.text import Text

from planloom._errors import UnknownNameError
from planloom.money import show_credits
from planloom.status import status_line, status_now
from planloom.stores import RunRow, Store, StorePlugin

from .app import App, app_command, out_console

__all__ = ["runs", "show"]

_SHOWN_CHARACTERS = 4_000
_FAILED_SHOWN = 20


@contextmanager
def _opened_store(app: App) -> Iterator[Store]:
    store = app.registry.get("store", app.settings.store_kind, StorePlugin).open(app.settings.store_path)
    try:
        yield store
    finally:
        asyncio.run(store.close())


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(1), default=20, help="How many (default 20).")
@app_command
def runs(app: App, limit: int) -> None:
    """List the newest runs."""
    with _opened_store(app) as store:
        rows = store.runs(limit)
    if not rows:
        click.echo("no runs yet; `planloom audit PATH` or `planloom run FILE.plan` makes one")
        return
    table = Table(
        Column("run", overflow="fold"), "status", "workers", "credits", "began (UTC)", box=None, pad_edge=False
    )
    for row in rows:
        counts, cost = row.facts.get("counts", {}), row.facts.get("cost", {})
        table.add_row(Text(row.id), _status(row), str(counts.get("agents", "-")), _paid(cost), _began(row))
    out_console().print(table)


def _status(row: RunRow) -> str:
    holes = row.facts.get("counts", {}).get("holes", 0)
    return f"{status_now(row)}, {holes} hole{'' if holes == 1 else 's'}" if holes else status_now(row)


def _began(row: RunRow) -> str:
    return row.created_at.replace("T", " ").removesuffix("+00:00")


def _paid(cost: Mapping[str, Any]) -> str:
    return show_credits(cost["paid"]) if "paid" in cost else "-"


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--plan", "plan_alone", is_flag=True, help="Print the run's plan alone, to save and change.")
@app_command
def show(app: App, run: str, as_json: bool, plan_alone: bool) -> None:
    """Show one run: status, phases, cost, what failed, and its result."""
    with _opened_store(app) as store:
        row = store.run(run)
        if row is None:
            raise UnknownNameError("run", run, [known.id for known in store.runs(200)])
        if plan_alone:
            click.echo(row.plan.rstrip("\n"))
        elif as_json:
            click.echo(json.dumps(_as_data(store, row), indent=2, default=str))
        else:
            _print_run(store, row)


def _as_data(store: Store, row: RunRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "status": status_now(row),
        "created_at": row.created_at,
        "facts": row.facts,
        "plan": row.plan,
        "result": row.result,
        "error": row.error,
        "events": [{"seq": e.seq, "t": e.t, "type": e.type, **e.data} for e in store.events(row.id)],
    }


def _print_run(store: Store, row: RunRow) -> None:
    console = out_console()
    cost = row.facts.get("cost", {})
    full = f", {show_credits(cost['full_price'])} at full price" if "full_price" in cost else ""
    console.print(Text(f"{row.id}: {row.title}", style="bold"))
    console.print(Text(status_line(store, row)))
    console.print(Text(f"{_paid(cost)} credits paid{full} | began {_began(row)} UTC"))
    if row.error:
        console.print(Text(row.error))
    table = Table("phase", "workers", "done", "failed", "dropped", "undecided", box=None, pad_edge=False)
    for phase in row.facts.get("phases", ()):
        columns = [str(phase[key]) for key in ("started", "done", "failed", "dropped", "undecided")]
        table.add_row(Text(phase["name"] or "(no phase)"), *columns)
    console.print(table)
    failed = [thread for thread in store.threads(row.id) if thread.error]
    for thread in failed[:_FAILED_SHOWN]:
        console.print(Text(f"{thread.id} {thread.label}: {thread.error}"))
    if len(failed) > _FAILED_SHOWN:
        console.print(f"and {len(failed) - _FAILED_SHOWN} more; --json has them all")
    _print_result(row)


def _print_result(row: RunRow) -> None:
    if row.result is None:
        return
    text = json.dumps(row.result, indent=2, default=str)
    click.echo(text[:_SHOWN_CHARACTERS])
    if len(text) > _SHOWN_CHARACTERS:
        click.echo(f"... {len(text) - _SHOWN_CHARACTERS:,} characters more; --json has them all")
