"""``planloom bench clean``: the clean twin of what auditors read, for counting what a bug caused."""

from __future__ import annotations

from pathlib import Path

import click

from planloom.wording import counted
from planloom_bench._writing import writing

from .clean import write_clean

__all__ = ["clean_command"]


@click.command(name="clean")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", metavar="OTHER", type=click.Path(path_type=Path), required=True, help="A new folder elsewhere.")
def clean_command(directory: Path, out: Path) -> None:
    """Write what auditors read of a benchmark without its bugs.

    Audit the copy in the same way and give its findings to `planloom score --clean`: what is found in both was not
    caused by a bug. The copy gives the bugs away to whoever has both.
    """
    with writing(out):
        count = write_clean(directory, out)
    click.echo(f"{counted(count, 'file')} without bugs: {out}")
