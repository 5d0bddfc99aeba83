"""``planloom score`` and ``planloom bench``: scoring a report against a benchmark's key."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click

import planloom_data
from planloom.cli import late_command
from planloom.plugins import Registry, load_plugins

from ._bench import Bench, load_bench
from ._paired import paired
from ._reports import load_report
from ._score import Score, score
from ._showing import Rival, render_score, to_markdown
from .scorers import FIVE_LINES, Scorer


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
    "--against",
    metavar="OTHER",
    type=click.Path(path_type=Path),
    help="Other findings on the same benchmark: whether the two can be told apart.",
)
@click.option(
    "--clean",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Findings of the same audit on the copy that `planloom bench clean` writes: what the bugs caused.",
)
@click.option(
    "--scorer", metavar="NAME", default=FIVE_LINES.name, show_default=True, help="Rule for when a finding counts."
)
@click.option("--json", "as_json", is_flag=True, help="Print the score as JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the score as Markdown.")
@click.pass_context
def score_command(
    context: click.Context,
    findings: Path,
    benchmark: Path | None,
    against: Path | None,
    clean: Path | None,
    scorer: str,
    as_json: bool,
    as_markdown: bool,
) -> None:
    """Score findings on a benchmark with a hidden key.

    FINDINGS is a findings.json, a SARIF file of any tool, or JSON objects with `file` and `line`, as a list or one a
    line.
    """
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown are two forms of the same; give one of them")
    rule = (context.find_object(Registry) or load_plugins()).get("scorer", scorer, Scorer)
    bench = load_bench(benchmark or planloom_data.shelf_benchmark())
    scored = _scored(findings, bench, rule, clean)
    rival = _rival(findings, scored, against, bench, rule) if against else None
    if as_json:
        click.echo(json.dumps(to_json(scored, rival), indent=2))
    elif as_markdown:
        click.echo(to_markdown(scored, rival), nl=False)
    else:
        from rich.console import Console

        Console(highlight=False).print(render_score(scored, rival))


def _scored(findings: Path, bench: Bench, rule: Scorer, clean: Path | None = None) -> Score:
    report = load_report(findings, bench.names, bench.audited)
    clean_report = load_report(clean, bench.names) if clean else None
    return score(report, bench, clean=clean_report, scorer=rule)


def _rival(findings: Path, scored: Score, against: Path, bench: Bench, rule: Scorer) -> Rival:
    other = _scored(against, bench, rule)
    name, other_name = _told_apart(findings, against)
    return Rival(score=other, paired=paired(scored.tally, other.tally), name=name, against=other_name)


def _told_apart(one: Path, other: Path) -> tuple[str, str]:
    """The shortest ends of two paths that differ."""
    for depth in range(1, max(len(one.parts), len(other.parts))):
        names = "/".join(one.parts[-depth:]), "/".join(other.parts[-depth:])
        if names[0] != names[1]:
            return names
    return str(one), str(other)


def to_json(scored: Score, rival: Rival | None = None) -> dict[str, object]:
    """The score as plain JSON values, with the numbers that are worked out from the counts."""
    plain: dict[str, object] = attrs.asdict(scored)
    for name, tally in (("tally", scored.tally), ("strict", scored.strict)):
        plain[name] = {**attrs.asdict(tally), "recall": tally.recall, "precision": tally.precision}
    plain["recall_interval"] = scored.recall_interval
    plain["precision_interval"] = scored.precision_interval
    if rival is not None:
        plain["against"] = to_json(rival.score)
        told = {"told_apart": rival.paired.told_apart, "sentence": rival.sentence}
        plain["paired"] = attrs.asdict(rival.paired) | told
    return plain
