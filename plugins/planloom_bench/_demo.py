"""``planloom demo``: audit the shelf that comes with planloom, and score what was found against its hidden key."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

import planloom_data
from planloom.plugins import Registry

from ._bench import load_bench
from ._reports import load_report
from ._score import score
from ._showing import render_score

_INTRODUCTION = (
    "The shelf is a small library with two dozen planted bugs, each proved by a doctest. "
    "Its key is hidden from the audit."
)

# Exit code of an audit that completed though some workers are missing; it has a report all the same.
_WITH_HOLES = 3


@click.command(name="demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    default=Path(".planloom/demo"),
    show_default=True,
    help="Write the report's files below DIR.",
)
@click.option("--cap", metavar="CREDITS", help="The budget in credits, where a model is configured.")
@click.option("--yes", is_flag=True, help="Approve the plan whatever it costs within the budget.")
@click.pass_context
def demo_command(context: click.Context, out: Path, cap: str | None, yes: bool) -> int:
    """Audit a small library with planted bugs and score the findings."""
    registry = context.find_object(Registry)
    assert registry is not None
    audit = registry.get("command", "audit", click.Command)
    benchmark = planloom_data.shelf_benchmark()
    click.echo(_INTRODUCTION, err=True)
    arguments = [str(benchmark), "--out", str(out), *(["--cap", cap] if cap else []), *(["--yes"] if yes else [])]
    code = audit.main(arguments, prog_name="planloom audit", standalone_mode=False, obj=registry)
    if code not in (0, _WITH_HOLES):
        return int(code)
    bench = load_bench(benchmark)
    scored = score(load_report(out / "findings.json", bench.names), bench)
    console = Console(highlight=False)
    console.print()
    console.print(render_score(scored))
    return int(code)
