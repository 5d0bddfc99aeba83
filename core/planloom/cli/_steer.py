"""``planloom follow``, ``cancel`` and ``raise``: a run that another process drives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from planloom.exporting import event_line
from planloom.money import show_credits
from planloom.outcomes import exit_code_of
from planloom.resuming import find_run
from planloom.status import status_line, status_now
from planloom.steering import cancel_run, follow_events, raise_cap
from planloom.stores import Event, RunRow, Store, StorePlugin
from planloom.terminal import event_text

from .app import CREDITS, App, app_command, out_console

__all__ = ["cancel", "follow", "raise_"]

_LINE_REFRESH_S = 0.5
_NO_LONGER_RUNNING = 5


@asynccontextmanager
async def _open_store(app: App) -> AsyncIterator[Store]:
    store = app.registry.get("store", app.settings.store_kind, StorePlugin).open(app.settings.store_path)
    try:
        yield store
    finally:
        await store.close()


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print every event as one line of JSON.")
@app_command
def follow(app: App, run: str, as_json: bool) -> int:
    """Show how a run goes until it ends; exits as the run did."""

    async def main() -> int:
        async with _open_store(app) as store:
            row = find_run(store, run)
            await (_print_events(store, run) if as_json else _watch(store, row))
            row = find_run(store, run)
            if not as_json:
                out_console().print(Text(status_line(store, row)))
            return _exit_code(store, row)

    return asyncio.run(main())


def _exit_code(store: Store, row: RunRow) -> int:
    status = status_now(store, row)
    if status in ("created", "interrupted"):
        click.echo(f"planloom: nobody drives {row.id}; `planloom resume {row.id}` goes on", err=True)
        return _NO_LONGER_RUNNING
    if row.error:
        click.echo(f"planloom: {row.error}", err=True)
    return exit_code_of(row)


async def _print_events(store: Store, run_id: str) -> None:
    async for event in follow_events(store, run_id):
        click.echo(event_line(event))


async def _watch(store: Store, row: RunRow) -> None:
    """Show the status line as it changes, on a terminal, and a line for whatever a person should know."""
    console = out_console()
    if store.driver(row.id) is None:
        return
    with Live(Text(status_line(store, row)), console=console, transient=True, auto_refresh=False) as live:
        drawing = asyncio.ensure_future(_keep_drawing(live, store, row.id)) if console.is_terminal else None
        try:
            async for event in follow_events(store, row.id, after=store.progress(row.id).seq):
                _say(console, event)
        finally:
            if drawing is not None:
                drawing.cancel()


async def _keep_drawing(live: Live, store: Store, run_id: str) -> None:
    while True:
        await asyncio.sleep(_LINE_REFRESH_S)
        live.update(Text(status_line(store, find_run(store, run_id))), refresh=True)


def _say(console: Console, event: Event) -> None:
    text = event_text(event)
    if text:
        console.print(Text(text))


@click.command()
@click.argument("run")
@app_command
def cancel(app: App, run: str) -> int:
    """Cancel a run, whoever drives it; every answer that came is kept."""

    async def main() -> tuple[str, str]:
        async with _open_store(app) as store:
            row = find_run(store, run)
            return status_now(store, row), await cancel_run(store, row)

    before, after = asyncio.run(main())
    if after == "cancelled" and before != "cancelled":
        click.echo(f"{run} is cancelled, every answer that came is kept; `planloom resume {run}` goes on")
        return 0
    if after == before and after not in ("running", "paused"):
        click.echo(f"{run} is {after} already; nothing was cancelled")
        return 0
    click.echo(f"planloom: {run} is {after}; look again with `planloom follow {run}`", err=True)
    return 1


@click.command(name="raise")
@click.argument("run")
@click.option("--cap", type=CREDITS, required=True, help="The budget in credits from now on.")
@app_command
def raise_(app: App, run: str, cap: int) -> int:
    """Raise the budget of a run; one that waits for money goes on by itself."""

    async def main() -> tuple[Any, bool]:
        async with _open_store(app) as store:
            row = find_run(store, run)
            books = await raise_cap(store, row, cap)
            return books, store.driver(row.id) is not None

    books, driven = asyncio.run(main())
    free = f"{show_credits(books.left)} of {show_credits(books.cap)} credits are free"
    way_on = "it goes on" if driven else f"nobody drives it: `planloom resume {run}` goes on"
    click.echo(f"{run}: {free}; {way_on}")
    return 0
