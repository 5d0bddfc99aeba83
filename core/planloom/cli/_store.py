"""``planloom store``: check, weigh, prune and export what is kept."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import attrs
import click
from rich.table import Column, Table
from rich.text import Text

from planloom._errors import Misuse
from planloom.api import open_with
from planloom.money import credits_of, show_credits
from planloom.store_tools import DOCTOR, EXPORTED_KINDS, Pruned, Pruning, Spender, StoreStats, StoreTools
from planloom.stores import Books, StorePlugin
from planloom.wording import counted

from .app import CREDITS, App, app_command, out_console, say_console

__all__ = ["store"]

_STATUSES = ("created", "held", "refused", "paused", "completed", "failed", "cancelled", "interrupted", "runaway")


@click.group()
def store() -> None:
    """Look after the store: check, stats, cap, prune, export."""


def _tools(app: App) -> StoreTools:
    plugin = app.registry.get("store", app.settings.store_kind, StorePlugin)
    if plugin.tools is None:
        raise Misuse(f"stores of the kind `{plugin.name}` bring no tools of planloom's; use those of their own server")
    return plugin.tools(app.settings.store_path)


@store.command()
@app_command
def check(app: App) -> int:
    """Say whether all that is stored is whole.

    Every text is held against its hash, the books against the calls. The exit code is 1 when something is wrong.
    """
    faults = 0
    for fault in _tools(app).check():
        click.echo(fault)
        faults += 1
    if faults:
        found = counted(faults, "fault")
        click.echo(
            f"{found} in {app.settings.store_path}; restore a copy, or move it away and start a new store", err=True
        )
        return 1
    click.echo(f"{app.settings.store_path} is whole: every text fits its hash, and the books fit the calls")
    return 0


@store.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@app_command
def stats(app: App, as_json: bool) -> None:
    """Show what the store weighs, and what jobs spent."""
    found = _tools(app).stats()
    if as_json:
        click.echo(json.dumps(_stats_data(found), indent=2, default=datetime.isoformat))
    else:
        _print_stats(app.settings.store_path, found)


def _stats_data(found: StoreStats) -> dict[str, Any]:
    budgets = {
        name: {
            **{field: credits_of(amount) for field, amount in attrs.asdict(books).items()},
            "runs": [attrs.asdict(spender) for spender in found.spenders.get(name, ())],
        }
        for name, books in found.budgets.items()
    }
    cap = None if found.cap is None else credits_of(found.cap)
    return {**attrs.asdict(found, filter=lambda field, _: field.name != "spenders"), "budgets": budgets, "cap": cap}


def _print_stats(where: str, found: StoreStats) -> None:
    console = out_console()
    console.print(f"{where}: {_bytes(found.size_bytes)}, format {found.format}", soft_wrap=True, markup=False)
    console.print(f"{_bytes(found.log_bytes)} of it in the write-ahead log, {_bytes(found.free_bytes)} unused")
    if found.oldest_at and found.newest_at:
        console.print(f"replies from {found.oldest_at:%Y-%m-%d %H:%M} to {found.newest_at:%Y-%m-%d %H:%M} UTC")
    content = Table("content", Column("count", justify="right"), Column("size", justify="right"), **_PLAIN)
    for weight in found.weights:
        content.add_row(weight.kind, f"{weight.count:,}", _bytes(weight.size_bytes))
    console.print(content)
    if found.budgets:
        console.print(_money(found))
    if found.cap is not None:
        console.print(f"all jobs together may spend {show_credits(found.cap)} credits")
    if found.uncertain:
        one = "call of unknown outcome stays charged at its worst price"
        console.print(counted(found.uncertain, one, "calls of unknown outcome stay charged at their worst prices"))


def _money(found: StoreStats) -> Table:
    amounts = (Column(name, justify="right") for name in ("cap", "spent", "reserved", "uncertain"))
    money = Table(Column("job", overflow="fold"), *amounts, Column("runs", overflow="fold"), **_PLAIN)
    for name, books in found.budgets.items():
        shown = map(show_credits, (books.cap, books.spent, books.reserved, books.uncertain))
        runs = found.spenders.get(name, ())
        more = f" and {len(runs) - 1:,} before" if len(runs) > 1 else ""
        newest = f"{runs[0].run}{more}" if runs else f"none kept ({name})"
        money.add_row(Text(_job(name, runs)), *shown, Text(newest))
    return money


def _job(name: str, runs: Sequence[Spender]) -> str:
    if runs:
        return runs[0].title
    return "planloom doctor" if name.startswith(DOCTOR) else "(pruned)"


_PLAIN: dict[str, Any] = {"box": None, "pad_edge": False}


def _bytes(size: int) -> str:
    amount, unit = float(size), "B"
    for larger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


_NO_CAP = "none"


@store.command()
@click.argument("amount", metavar="[CREDITS|none]", required=False)
@app_command
def cap(app: App, amount: str | None) -> None:
    """Show or set what all jobs together may spend.

    It holds beside the cap of each job. Runs that wait for it go on when it is raised, in every process.
    """
    wanted = None if amount in (None, _NO_CAP) else CREDITS.convert(amount, None, None)

    async def main() -> tuple[str, Books | None]:
        async with open_with(app.registry, app.settings, read_only=amount is None) as loom:
            if amount is not None:
                await loom.store.cap_store(wanted)
            return loom.store.where, loom.store.store_books(app.settings.store_cap if amount is None else None)

    where, books = asyncio.run(main())
    if books is None:
        click.echo(f"{where} has no cap of its own; each job has one (--cap)")
        return
    spent = show_credits(books.spent + books.uncertain)
    click.echo(
        f"all jobs of {where} together may spend {show_credits(books.cap)} credits: {spent} are spent, "
        f"{show_credits(books.reserved)} reserved, {show_credits(books.left)} free"
    )


@store.command()
@click.option("--older-than", metavar="DAYS", type=click.FloatRange(0), help="Runs that began so many days ago.")
@click.option("--run", "runs", metavar="RUN", multiple=True, help="This run; may be repeated.")
@click.option(
    "--status", "statuses", type=click.Choice(_STATUSES), multiple=True, help="Runs of this status; may be repeated."
)
@click.option("--answers", is_flag=True, help="Also the questions and answers of these runs that no other run uses.")
@click.option("--dry-run/--yes", "dry", default=True, help="Only show what would go (the default); --yes removes it.")
@app_command
def prune(
    app: App, older_than: float | None, runs: tuple[str, ...], statuses: tuple[str, ...], answers: bool, dry: bool
) -> None:
    """Remove old runs.

    What every call cost stays, and so do answers unless --answers is said.
    """
    if older_than is None and not runs and not statuses:
        raise Misuse("say which runs may go: --older-than DAYS, --run RUN or --status STATUS")
    before = None if older_than is None else datetime.now(UTC) - timedelta(days=older_than)
    pruning = Pruning(before=before, runs=_ids(app, runs), statuses=statuses, answers=answers)
    _print_pruned(_tools(app).prune(pruning, apply=not dry), dry)


def _ids(app: App, runs: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the runs that a person names."""
    if not runs:
        return ()

    async def main() -> tuple[str, ...]:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            return tuple(loom.run(run).id for run in runs)

    return asyncio.run(main())


def _print_pruned(pruned: Pruned, dry: bool) -> None:
    for run in pruned.runs:
        click.echo(run)
    counts = (
        (pruned.threads, "thread"),
        (pruned.events, "event"),
        (pruned.questions, "question"),
        (pruned.replies, "reply", "replies"),
        (pruned.parts, "shared text"),
    )
    rest = ", ".join(counted(*count) for count in counts)
    said = "would go" if dry else "went"
    click.echo(f"{counted(len(pruned.runs), 'run')} {said}: {rest}; {_bytes(pruned.size_bytes)}")
    for run in pruned.driven:
        click.echo(f"{run} stays: a process drives it", err=True)
    if dry:
        click.echo("nothing was changed; say --yes to remove it", err=True)
    elif not pruned.shrunk:
        click.echo(
            "the file keeps its size while another process has it open or there is no room to copy it; "
            "what was freed is used again",
            err=True,
        )


@store.command()
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to a new file (default: standard output).",
)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(EXPORTED_KINDS),
    multiple=True,
    help="Only this kind of record; may be repeated.",
)
@app_command
def export(app: App, out: Path | None, kinds: tuple[str, ...]) -> None:
    """Write all that is stored as JSON, a record a line."""
    records = _tools(app).export(kinds or EXPORTED_KINDS)
    with _opened(out) as file:
        count = _write(file, records)
    say_console().print(counted(count, "record") + (f" in {out}" if out else ""), markup=False)


@contextmanager
def _opened(out: Path | None) -> Iterator[IO[str]]:
    if out is None:
        yield sys.stdout
        return
    try:
        # Questions and answers are for who asked: nobody else may read the file.
        number = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise Misuse(f"{out} is already here; name another file with --out") from error
    except OSError as error:
        raise Misuse(f"{out} cannot be written ({error.strerror}); name another file with --out") from error
    with open(number, "w", encoding="utf-8") as file:
        yield file


def _write(file: IO[str], records: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    for record in records:
        # ASCII: model output may hold what no encoding allows.
        file.write(json.dumps(record, separators=(",", ":")) + "\n")
        count += 1
    return count
