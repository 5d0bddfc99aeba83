"""``planloom bench show``: what a benchmark is, and on demand what is in its key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import click

import planloom_data
from planloom_code import split_lines

from ._bench import Bench, load_bench
from ._errors import BadBenchmark
from ._key import KeyEntry

__all__ = ["show_command"]

_AROUND = 2


@click.command(name="show")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path), required=False)
@click.option("--reveal", is_flag=True, help="Show the bugs too, each as a difference.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest, and with --reveal the key, as JSON.")
def show_command(directory: Path | None, reveal: bool, as_json: bool) -> None:
    """Show what a benchmark is made of.

    DIR is the folder of a benchmark; the shelf, which comes with planloom, where none is given. Where its bugs are is
    told with --reveal alone.
    """
    directory = directory or planloom_data.shelf_benchmark()
    manifest = read_manifest(directory)
    bench = load_bench(directory) if reveal else None
    if as_json:
        click.echo(json.dumps(manifest | ({"key": _key(bench)} if bench else {}), indent=2))
        return
    for line in (*_facts(manifest), *(_bugs(bench) if bench else ())):
        click.echo(line)


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a benchmark.

    :raises BadBenchmark: the folder holds none.
    """
    path = directory / "manifest.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadBenchmark(f"{path} cannot be read ({reason}); give the folder of a benchmark") from error
    except ValueError as error:
        raise BadBenchmark(f"{path} is no manifest: {error}; give the folder of a benchmark") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise BadBenchmark(f"{path} is no manifest with a name; give the folder of a benchmark")
    return raw


def _facts(manifest: Mapping[str, Any]) -> Iterator[str]:
    source, planted = _part(manifest, "source"), _part(manifest, "planted")
    rows = {
        "benchmark": manifest["name"],
        "version": source.get("version"),
        "licence": source.get("licence"),
        "source": source.get("kind"),
        "commit": source.get("commit"),
        "archive": source.get("archive"),
        "sha256": source.get("archive_sha256") or source.get("sha256"),
        "planted by": planted.get("by"),
        "seed": planted.get("seed"),
        "Python": manifest.get("python"),
        "files": manifest.get("files"),
        "lines": manifest.get("lines"),
        "bytes": manifest.get("size_bytes"),
        "bugs": planted.get("bugs"),
        "noticed": _noticed(_part(manifest, "type_checker")),
    }
    for name, value in rows.items():
        if value is not None:
            yield f"{name:12}{f'{value:,}' if isinstance(value, int) and name != 'seed' else value}"
    for title, name in (("kinds", "kinds"), ("not planted", "left_out"), ("not copied", "not_copied")):
        counts = _part(manifest, name)
        if counts:
            yield f"\n{title}:"
            yield from (f"  {count:>5}  {reason}" for reason, count in counts.items())


def _noticed(checker: Mapping[str, Any]) -> str | None:
    return f"{checker.get('noticed')} by {checker.get('name')}" if checker else None


def _part(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}


def _bugs(bench: Bench) -> Iterator[str]:
    for entry in bench.key.entries:
        yield f"\n{entry.id}  {entry.kind}  {entry.examples_failed} of {entry.examples_total} examples fail"
        yield f"{entry.path}:{entry.line} in {entry.function}"
        yield from _difference(entry, bench.files[entry.path].text)


def _difference(entry: KeyEntry, text: str) -> Iterator[str]:
    lines = split_lines(text)
    for number in range(max(entry.line - _AROUND, 1), min(entry.line + _AROUND, len(lines)) + 1):
        line = lines[number - 1]
        if number == entry.line:
            yield f"  - {number:>5}  {line.replace(entry.after, entry.before, 1)}"
            yield f"  + {number:>5}  {line}"
        else:
            yield f"    {number:>5}  {line}"


def _key(bench: Bench) -> list[dict[str, Any]]:
    return [attrs.asdict(entry) for entry in bench.key.entries]
