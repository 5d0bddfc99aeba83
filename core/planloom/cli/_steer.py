"""``planloom follow``, ``cancel`` and ``raise``: a run that another process drives."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from planloom._pauses import AT_THE_STORES_BUDGET
from planloom.api import Run, open_with
from planloom.control import DRAIN_S
from planloom.exporting import event_line
from planloom.money import credits_of, micro_of, show_credits, show_enough
from planloom.outcomes import exit_code_of
from planloom.status import ENDED, cancelling_text, uncertain_text
from planloom.stores import Books, Event, RunHolder
from planloom.terminal import EventLines
from planloom.visible import visible
from planloom.wording import counted

from ._failures import failure_lines
from .app import CREDITS, App, app_command, out_console

__all__ = ["cancel", "follow", "raise_"]

_LINE_REFRESH_S = 0.5
_NO_LONGER_RUNNING = 5
_LOOKED_AWAY = 130


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print every event as one line of JSON.")
@app_command
def follow(app: App, run: str, as_json: bool) -> int:
    """Show how a run goes until it ends; exits as the run did.

    RUN is an id that `planloom runs` lists, or its beginning. Ctrl-C ends the looking on, not the run.
    """

    async def main() -> int:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            followed = loom.run(run)
            await (_print_events(followed) if as_json else _watch(followed))
            if not as_json:
                _print_end(followed)
            return _exit_code(followed)

    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        # What the command line says of other commands would be untrue: nothing was cancelled.
        click.echo(f"planloom: looks on no longer; `planloom cancel {run}` ends the run itself", err=True)
        return _LOOKED_AWAY


def _print_end(run: Run) -> None:
    """Print how a run stands, why workers failed, and where its result is."""
    console = out_console()
    console.print(Text(run.status_line))
    for line in failure_lines(run):
        console.print(Text(visible(line)))
    if run.record.result is not None:
        console.print(Text(f"`planloom show {run.id}` shows its result"))


def _exit_code(run: Run) -> int:
    status, error = run.status, run.record.error
    if status in ("created", "interrupted"):
        click.echo(f"planloom: nobody drives {run.id}; `planloom resume {run.id}` goes on", err=True)
        return _NO_LONGER_RUNNING
    for line in (*([error] if error else []), *run.way_on):
        click.echo(f"planloom: {visible(line)}", err=True)
    return exit_code_of(run.record)


async def _print_events(run: Run) -> None:
    async for event in run.events():
        click.echo(event_line(event))


async def _watch(run: Run) -> None:
    """Show the status line as it changes, on a terminal, and a line for whatever a person should know."""
    console, last, lines = out_console(), run.last_event, EventLines(run.id)
    cancelling = run.cancelling
    if cancelling is not None:
        _say(console, cancelling_text(run.id, cancelling))
    elif run.status == "paused" and run.driven:
        _say(console, run.way_on[0])
    with Live(Text(run.status_line), console=console, transient=True, auto_refresh=False) as live:
        drawing = asyncio.ensure_future(_keep_drawing(live, run)) if console.is_terminal else None
        try:
            async for event in run.events(after=last):
                _say(console, lines.line(event))
        finally:
            if drawing is not None:
                drawing.cancel()


async def _keep_drawing(live: Live, run: Run) -> None:
    while True:
        await asyncio.sleep(_LINE_REFRESH_S)
        live.update(Text(run.status_line), refresh=True)


def _say(console: Console, text: str) -> None:
    if text:
        console.print(Text(visible(text)))


@click.command()
@click.argument("run")
@app_command
def cancel(app: App, run: str) -> int:
    """Cancel a run, whoever drives it; every answer that came is kept.

    No worker starts any more, and calls in flight get 30 s to end, which this waits for; Ctrl-C ends the waiting, not
    the cancel. A second `planloom cancel RUN` meanwhile ends those calls at once: what they may cost stays charged.

    RUN is an id that `planloom runs` lists, or its beginning; `planloom resume RUN` goes on with it.
    """
    asked: list[str] = []

    async def main() -> int:
        whole_id = await _found(app, run)
        async with open_with(app.registry, app.settings) as loom:
            return await _cancel(loom.run(whole_id), asked)

    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        click.echo(f"planloom: {_waits_no_longer(asked[0]) if asked else 'nothing was cancelled'}", err=True)
        return _LOOKED_AWAY


async def _cancel(run: Run, asked: list[str]) -> int:
    """Cancel a run and say what is waited for and what came of it; return the exit code.

    :param asked: takes the run's id once the cancel can no longer be taken back.
    """
    before, unsure, cancelling = run.status, {call.call_id for call in run.uncertain}, run.cancelling
    if cancelling is not None:
        click.echo(f"{run.id}: a cancel is under way; the calls that it lets end are ended now", err=True)
    if run.driven:
        asked.append(run.id)
    after = await run.cancel(lambda now: None if cancelling else _say_what_is_waited_for(run, now))
    cut = [call for call in run.uncertain if call.run == run.id and call.call_id not in unsure]
    frees = f"`planloom resume {run.id} --release-uncertain`"
    charged = f"; {uncertain_text(cut, frees)}" if cut else ""
    if after == "cancelled" and before != "cancelled":
        click.echo(
            f"{run.id} is cancelled, every answer that came is kept{charged}; `planloom resume {run.id}` goes on"
        )
        return 0
    if (holder := run.driver) is not None and after not in ENDED:
        click.echo(f"planloom: {_unheard(run.id, after, holder)}", err=True)
        return 1
    late = " already" if after == before else ": it came to its end before the cancel took hold"
    click.echo(f"{run.id} is {after}{late}; nothing was cancelled{charged}")
    return 0


def _say_what_is_waited_for(run: Run, cancelling: Mapping[str, Any] | None) -> None:
    if cancelling is not None:
        number = cancelling["calls"]
        have, them = ("has", "it") if number == 1 else ("have", "them")
        said = (
            f"{counted(number, 'call')} in flight {have} up to {DRAIN_S:.0f} s to end; a second `planloom cancel "
            f"{run.id}` ends {them} at once, charged as of unknown outcome"
        )
        click.echo(f"{run.id} is being cancelled: {said}", err=True)
    elif (holder := run.driver) is not None:
        who = f"process {holder.pid} on {holder.machine.split(' ')[0]}, which drives it"
        click.echo(f"{run.id}: {who}, was asked to cancel it and has not answered yet; waiting for it", err=True)


def _waits_no_longer(run: str) -> str:
    return (
        f"waits no longer, and the cancel stands: {run} ends once its calls in flight have, which get 30 s; `planloom "
        f"follow {run}` shows it, another `planloom cancel {run}` ends them at once, charged as of unknown outcome"
    )


async def _found(app: App, run: str) -> str:
    """Return the id of a run that is to be steered; who looks for one where there is no store makes none."""
    async with open_with(app.registry, app.settings, read_only=True) as loom:
        return loom.run(run).id


def _unheard(run: str, status: str, holder: RunHolder) -> str:
    host = holder.machine.split(" ")[0]
    return (
        f"{run} is {status} still: process {holder.pid} on {host}, which drives it, was asked to cancel it and "
        "has not answered, as a process does that is suspended; it cancels the run once it goes on, and "
        f"when you end it, `planloom cancel {run}` does"
    )


@click.command(name="raise")
@click.argument("run")
@click.option("--cap", type=CREDITS, required=True, help="The budget in credits from now on.")
@app_command
def raise_(app: App, run: str, cap: int) -> int:
    """Raise a run's budget; one that waits for money goes on.

    RUN is an id that `planloom runs` lists, or its beginning.
    """

    async def main() -> tuple[str, Books, str]:
        whole_id = await _found(app, run)
        async with open_with(app.registry, app.settings) as loom:
            raised = loom.run(whole_id)
            pause = raised.progress.pause if raised.status == "paused" else None
            books = await raised.raise_cap(credits_of(cap))
            return raised.id, books, _too_little(raised, books, pause) or _way_on(raised)

    run_id, books, way_on = asyncio.run(main())
    free = f"{show_credits(books.left)} of {show_credits(books.cap)} credits are free"
    click.echo(f"{run_id}: {free}; {way_on}")
    return 0


def _too_little(run: Run, books: Books, pause: Event | None) -> str:
    """Return that a raise does not do for the call that waits, and what does; empty where it does, or none waits."""
    if pause is None or pause.type != "run.budget_paused" or pause.data.get("of") == "store":
        return ""
    asked = micro_of(pause.data["asked"])
    if asked <= books.left:
        return ""
    enough = books.cap - books.left + asked
    goes_on = f"`planloom raise {run.id} --cap {show_enough(enough)}` or more does"
    return f"that does not do for the next call, which may cost {show_credits(asked)}; {goes_on}"


def _way_on(run: Run) -> str:
    if run.driven:
        at_store = run.record.facts.get("paused_at") == AT_THE_STORES_BUDGET
        return "it waits for the budget of the store, which `planloom store cap` raises" if at_store else "it goes on"
    if not run.record.plan:
        return "it has no plan yet: the command that began it goes on, with this --cap"
    return f"nobody drives it: `planloom resume {run.id}` goes on"
