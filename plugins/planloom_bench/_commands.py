"""``planloom score`` and ``planloom bench``: scoring a report against a benchmark's key."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click

import planloom_data
from planloom.cli import late_command
from planloom.plugins import Registry, load_plugins

from ._bench import load_bench
from ._reports import load_report
from ._score import Score, score
from ._showing import render_score, to_markdown
from .scorers import FIVE_LINES, Scorer

_FORMATS = ("text", "markdown", "json")


@click.group(name="bench")
def bench_command() -> None:
    """Benchmarks of planted bugs."""


_PARTS = (
    ("build", "Plant bugs in a Python library with doctests.", "building.command:build_command"),
    ("clean", "Write what auditors read of a benchmark without its bugs.", "copying.command:clean_command"),
    ("leaktest", "Test whether anything that auditors read gives bugs away.", "leaks.command:leaktest_command"),
    ("show", "Show what a benchmark is made of.", "_show:show_command"),
)
for _name, _summary, _place in _PARTS:
    bench_command.add_command(late_command(_name, _summary, f"planloom_bench.{_place}"))


@bench_command.command(name="path")
def path_command() -> None:
    """Print the folder of the benchmark that comes with planloom."""
    click.echo(planloom_data.shelf_benchmark())


@click.command(name="score")
@click.argument("findings", type=click.Path(path_type=Path))
@click.option(
    "--bench",
    "benchmark",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the benchmark (default: the shelf, which comes with planloom).",
)
@click.option(
    "--clean", metavar="FILE", type=click.Path(path_type=Path), help="Findings of the same audit on the clean copy."
)
@click.option(
    "--scorer", metavar="NAME", default=FIVE_LINES.name, show_default=True, help="Rule for when a finding counts."
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.pass_context
def score_command(
    context: click.Context, findings: Path, benchmark: Path | None, clean: Path | None, scorer: str, form: str
) -> None:
    """Score findings on a benchmark with a hidden key.

    FINDINGS is a findings.json, or a JSON list of objects with `file` and `line` that any tool may have made.
    """
    rule = (context.find_object(Registry) or load_plugins()).get("scorer", scorer, Scorer)
    bench = load_bench(benchmark or planloom_data.shelf_benchmark())
    clean_report = load_report(clean, bench.names) if clean else None
    scored = score(load_report(findings, bench.names), bench, clean=clean_report, scorer=rule)
    if form == "json":
        click.echo(json.dumps(to_json(scored), indent=2))
    elif form == "markdown":
        click.echo(to_markdown(scored), nl=False)
    else:
        from rich.console import Console

        Console().print(render_score(scored))


def to_json(scored: Score) -> dict[str, object]:
    """The score as plain JSON values, with the numbers that are worked out from the counts."""
    plain: dict[str, object] = attrs.asdict(scored)
    for name, tally in (("tally", scored.tally), ("strict", scored.strict)):
        plain[name] = {**attrs.asdict(tally), "recall": tally.recall, "precision": tally.precision}
    plain["recall_interval"] = scored.recall_interval
    plain["precision_interval"] = scored.precision_interval
    return plain
