"""``planloom bench build``: plant bugs in a library that the user has."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path

import click

from planloom.plugins import Registry, load_plugins
from planloom_bench._errors import BenchError
from planloom_bench.mutators import Mutator
from planloom_code import Skipped, discover, read_source

from .library import Built, Library
from .search import build
from .writing import is_for_tests, unstrippable, write_benchmark

_STATE = ".build"


@click.command(name="build")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--bugs", metavar="N", type=click.IntRange(min=1), default=72, show_default=True, help="How many bugs.")
@click.option("--seed", metavar="S", type=int, default=7, show_default=True, help="Another seed, other bugs.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), required=True, help="Folder of the benchmark.")
@click.option(
    "--per-file", metavar="K", type=click.IntRange(min=1), default=1, show_default=True, help="At most K bugs a file."
)
@click.option("--at-most", is_flag=True, help="Take fewer bugs where the library does not hold N.")
@click.option("--option", "options", metavar="FLAG", multiple=True, help="A doctest option, such as ELLIPSIS.")
@click.pass_context
def build_command(
    context: click.Context,
    folder: Path,
    bugs: int,
    seed: int,
    out: Path,
    per_file: int,
    at_most: bool,
    options: tuple[str, ...],
) -> None:
    """Plant bugs in a Python library with doctests.

    Its examples are run in a sandbox on this machine. FOLDER is not changed; a build that was stopped goes on when it
    is started again.
    """
    registry = context.find_object(Registry) or load_plugins()
    library = open_library(folder, out)
    built = build(
        library,
        seed=seed,
        bugs=bugs,
        per_file=per_file,
        at_most=at_most,
        mutators=registry.all("mutator", Mutator).values(),
        options=options or None,
        unfit=unstrippable,
        journal=out / _STATE,
        on_progress=_show_progress,
    )
    if not built.entries:
        raise BenchError(f"no bug can be planted in {folder}: {_left_out(built)}")
    write_benchmark(library, built, out, name=library.root.name, seed=seed)
    shutil.rmtree(out / _STATE)
    click.echo(f"{len(built.entries)} bugs planted in {len(library.files)} files: {out}")
    click.echo(f"not planted: {_left_out(built)}")


def open_library(folder: Path, out: Path) -> Library:
    """The library in a folder, without its tests.

    :raises BenchError: the benchmark would lie in the library, or there is one already.
    """
    root = folder.resolve()
    if out.resolve().is_relative_to(root):
        raise BenchError(f"{out} lies in {folder}, which is not changed; give a folder outside it with --out")
    if (out / "hidden").exists() or (out / "audited").exists():
        raise BenchError(f"{out} holds a benchmark already; give another folder with --out, or remove it")
    found = discover(root)
    sources = (read_source(root / file.system_path, file.path) for file in found.files if not is_for_tests(file.path))
    return Library(root=root, files=tuple(source for source in sources if not isinstance(source, Skipped)))


def _left_out(built: Built) -> str:
    reasons = Counter(left.reason for left in built.left_out).most_common()
    return "; ".join(f"{count} {reason}" for reason, count in reasons) or "no file was left out"


def _show_progress(stage: str, done: int, of: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{stage}: {done} of {of} \033[K", nl=done == of, err=True)
