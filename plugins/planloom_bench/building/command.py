"""``planloom bench build``: plant bugs in a library."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from planloom.plugins import Registry, load_plugins
from planloom.wording import counted
from planloom_bench._errors import BenchError, LeaksFound, TooFewBugs
from planloom_bench._key import Key
from planloom_bench._writing import writing
from planloom_bench.copying import (
    Chosen,
    CopiedFile,
    choose,
    copied_files,
    key_of,
    manifest_of,
    noticed_by_mypy,
    write_benchmark,
)
from planloom_bench.leaks import describe, find_leaks
from planloom_bench.mutators import Mutator
from planloom_bench.proving import sandbox_lacks
from planloom_bench.sources import Source, is_folder, open_source

from .library import Built, LeftOut, Library
from .reasons import DOCTESTS_WANTED, by_file, by_reason
from .search import build, too_few

_STATE = ".build"
_PARTS = ("audited", "hidden", "manifest.json")
Shown = Callable[[Sequence[LeftOut]], Iterable[str]]


@click.command(name="build")
@click.argument("source")
@click.option("--bugs", metavar="N", type=click.IntRange(min=1), default=72, show_default=True, help="How many bugs.")
@click.option("--seed", metavar="S", type=int, default=7, show_default=True, help="Another seed, other bugs.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), required=True, help="Folder of the benchmark.")
@click.option("--revision", metavar="REV", help="A revision of the checkout in SOURCE.")
@click.option(
    "--per-file", metavar="K", type=click.IntRange(min=1), default=1, show_default=True, help="At most K bugs a file."
)
@click.option("--at-most", is_flag=True, help="Take fewer bugs where the library does not hold N.")
@click.option("--option", "options", metavar="FLAG", multiple=True, help="A doctest option, such as ELLIPSIS.")
@click.option("--cache", metavar="DIR", type=click.Path(path_type=Path), help="Folder of fetched packages.")
@click.option(
    "--from-source",
    is_flag=True,
    help="Fetch a package's source archive, not its wheel. pip runs the archive's own build code to read it.",
)
@click.option("--type-checker", is_flag=True, help="Count in the manifest how many bugs mypy notices.")
@click.option("--reasons", is_flag=True, help="Say file by file why nothing is planted in it.")
@click.pass_context
def build_command(
    context: click.Context,
    source: str,
    bugs: int,
    seed: int,
    out: Path,
    revision: str | None,
    per_file: int,
    at_most: bool,
    options: tuple[str, ...],
    cache: Path | None,
    from_source: bool,
    type_checker: bool,
    reasons: bool,
) -> None:
    """Plant bugs in a Python library with doctests.

    SOURCE is a folder, a revision of a git checkout as FOLDER@REVISION, or a package as pypi:NAME==VERSION. It is not
    changed. Its examples are run in a sandbox on this machine. A build that was stopped goes on when it is started
    again.
    """
    registry = context.find_object(Registry) or load_plugins()
    shown: Shown = by_file if reasons else by_reason
    with writing(out):
        _check_place(source, out)
        scratch = out / _STATE / "source"
        opened = open_source(source, scratch=scratch, cache=cache, revision=revision, from_source=from_source)
        chosen = choose(opened.root, everything=opened.fetched)
        if not chosen.files and not chosen.left_out:
            raise BenchError(f"{source} holds no Python file; give the folder of a library")
        say_what_is_not_held(sandbox_lacks())
        built = build(
            Library(root=opened.root, files=chosen.files),
            seed=seed,
            bugs=bugs,
            per_file=per_file,
            at_most=True,  # what there is can be shown, also where it is too little
            mutators=registry.all("mutator", Mutator).values(),
            options=options or None,
            journal=out / _STATE,
            on_progress=_show_progress,
        )
        if not built.entries:
            raise BenchError(_nothing(source, chosen, built, shown))
        if len(built.entries) < bugs and not at_most:
            named = by_file(built.left_out) if reasons else ()
            raise TooFewBugs("\n".join([too_few(built, bugs), *named]))
        files = copied_files(chosen, built.entries)
        key = key_of(files, built.entries, opened.name)
        manifest = manifest_of(opened, chosen, built, files, seed=seed)
        if type_checker:
            manifest["type_checker"] = noticed_by_mypy(files, key)
        _deliver(out, files, key, manifest, chosen)
    _report(opened, chosen, built, out, shown)


def say_what_is_not_held(lacks: Sequence[str]) -> None:
    """Tell a person what the sandbox of proofs cannot do on this system, if anything."""
    if lacks:
        click.echo(
            f"sandbox: this system holds only Python code from {', '.join(lacks)}; code beside Python, as in extension "
            "modules, is not held from it",
            err=True,
        )


def _nothing(source: str, chosen: Chosen, built: Built, shown: Shown) -> str:
    lines = [f"no bug can be planted in {source}; copied, and nothing planted in:", *shown(built.left_out)]
    if chosen.left_out:
        lines += ["not copied:", *shown(chosen.left_out)]
    return "\n".join([*lines, DOCTESTS_WANTED])


def _check_place(source: str, out: Path) -> None:
    """The benchmark would lie neither in the library nor over another benchmark.

    :raises BenchError: it would.
    """
    folder = Path(source)
    if is_folder(folder) and out.resolve().is_relative_to(folder.resolve()):
        raise BenchError(f"{out} lies in {folder}, which is not changed; give a folder outside it with --out")
    if any((out / part).exists() for part in _PARTS):
        raise BenchError(f"{out} holds a benchmark already; give another folder with --out, or remove it")


def _deliver(out: Path, files: Iterable[CopiedFile], key: Key, manifest: Mapping[str, Any], chosen: Chosen) -> None:
    """Write the benchmark, test it, and only then put it in its place.

    :raises LeaksFound: something in it would give bugs away.
    """
    made = out / _STATE / "made"
    shutil.rmtree(made, ignore_errors=True)
    write_benchmark(made, files, key, manifest)
    leaks = find_leaks(made, chosen)
    if leaks:
        raise LeaksFound(f"the benchmark would give bugs away and was not put into {out}:\n{describe(leaks)}")
    for part in _PARTS:
        (made / part).rename(out / part)
    shutil.rmtree(out / _STATE)


def _report(source: Source, chosen: Chosen, built: Built, out: Path, shown: Shown) -> None:
    bugs, files = counted(len(built.entries), "bug"), counted(len(chosen.files), "file")
    click.echo(f"{bugs} planted in a copy of {files}: {out}")
    for title, left_out in (("copied, and nothing planted in", built.left_out), ("not copied", chosen.left_out)):
        click.echo("\n".join([f"{title}:", *shown(left_out)]))
    click.echo(f"licence: {source.licence or 'none was found; see that you may use this library'}")


def _show_progress(stage: str, done: int, of: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{stage}: {done} of {of} \033[K", nl=done == of, err=True)
    elif done == of:
        click.echo(f"{stage}: {of}", err=True)
