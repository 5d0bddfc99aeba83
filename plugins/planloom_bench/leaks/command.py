"""``planloom bench leaktest``: whether a benchmark gives its bugs away."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from planloom.wording import counted
from planloom_bench.copying.choosing import Chosen, choose
from planloom_bench.sources import open_source

from .finding import find_leaks
from .leak import describe

_LEAKS = 1


@click.command(name="leaktest")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--against",
    metavar="SOURCE",
    help="The published library: a folder, FOLDER@REVISION or pypi:NAME==VERSION. Every line is compared.",
)
@click.option(
    "--also",
    metavar="PATH",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="Look for words of the key here too, such as in a run's store.",
)
@click.option("--cache", metavar="DIR", type=click.Path(path_type=Path), help="Folder of fetched packages.")
def leaktest_command(directory: Path, against: str | None, also: tuple[Path, ...], cache: Path | None) -> int:
    """Test whether anything that auditors read gives bugs away.

    Every build has passed this test already. DIR is the folder of a benchmark.
    """
    leaks = find_leaks(directory, _published(against, cache) if against else None, also)
    if leaks:
        click.echo(describe(leaks))
        click.echo(f"{counted(len(leaks), 'leak')} in {directory}", err=True)
        return _LEAKS
    click.echo(f"no leak in {directory}" + (f", every line compared with {against}" if against else ""))
    return 0


def _published(written: str, cache: Path | None) -> Chosen:
    with tempfile.TemporaryDirectory(prefix="planloom-") as scratch:
        source = open_source(written, scratch=Path(scratch) / "source", cache=cache)
        return choose(source.root, everything=source.fetched)
