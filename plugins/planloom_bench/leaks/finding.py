"""The whole test of one benchmark.

With the published library at hand, every line of what auditors read is accounted for. Without it, the hashes that the
build recorded take its place: they tell that nothing was changed since every line was.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from planloom_bench._bench import Bench, misfit_of, open_bench
from planloom_bench._line_ends import lines_with_ends
from planloom_bench.copying.choosing import Chosen
from planloom_bench.copying.clean import recorded_hashes

from .comparing import comments_with_originals, differences
from .examples import prompts_left
from .folder import besides_sources, telling_times
from .leak import Leak
from .words import words_of_the_key, words_of_the_manifest

__all__ = ["find_leaks"]


def find_leaks(directory: Path, published: Chosen | None = None, also: Iterable[Path] = ()) -> tuple[Leak, ...]:
    """Everything in a benchmark that gives its bugs away, by file and line.

    :param published: the published library's files, stripped.
    :param also: further files and folders, such as a run's store, in which no word of the key may occur.
    :raises BadBenchmark: the folder is no benchmark.
    """
    bench = open_bench(directory)
    manifest: Any = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    found = {
        *besides_sources(bench.audited),
        *telling_times(bench.audited, manifest.get("file_time")),
        *_words(bench, directory, also),
        *words_of_the_manifest(bench.key, directory / "manifest.json"),
        *_in_texts(bench),
        *_misfits(bench),
        *(_by_hashes(bench, directory) if published is None else _by_lines(bench, published)),
    }
    return tuple(sorted(found, key=lambda leak: (leak.path, leak.line or 0, leak.message)))


def _words(bench: Bench, directory: Path, also: Iterable[Path]) -> Iterator[Leak]:
    """Words of the key in what auditors and anybody may read."""
    hashes = recorded_hashes(directory)
    own: list[tuple[str, Path]] = []
    others = [("manifest.json", directory / "manifest.json")]
    for path in _files(bench.audited):
        name = path.relative_to(bench.audited).as_posix()
        as_built = name in hashes and _sha256(path) == hashes[name]["audited"]
        (own if as_built else others).append((f"audited/{name}", path))
    others += [(str(path), path) for given in also for path in _files(given)]
    yield from words_of_the_key(bench.key, own, file_too=False)
    yield from words_of_the_key(bench.key, others, file_too=True)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (found for found in sorted(path.rglob("*")) if found.is_file())
    else:
        yield path


def _misfits(bench: Bench) -> Iterator[Leak]:
    """Entries of the key that do not fit: something was changed before them."""
    for entry in bench.key.entries:
        misfit = misfit_of(entry, bench.files)
        if misfit is not None:
            yield Leak(path=f"audited/{entry.path}", line=entry.line, message=f"{misfit}; build the benchmark again")


def _in_texts(bench: Bench) -> Iterator[Leak]:
    for path, file in bench.files.items():
        yield from prompts_left(path, file.text)
        yield from _odd_line_ends(path, file.text, {bug.line for bug in bench.key.in_file(path)})


def _odd_line_ends(path: str, text: str, bugs: set[int]) -> Iterator[Leak]:
    """Lines of bugs that end as no other line of the file does."""
    if not bugs:
        return
    ends = {number: line[len(line.rstrip("\r\n")) :] for number, line in enumerate(lines_with_ends(text), start=1)}
    usual = Counter(end for number, end in ends.items() if number not in bugs and end)
    for line in sorted(bugs):
        if usual and ends[line] and ends[line] not in usual:
            message = f"ends in {ends[line]!r}, as no other line of the file does; build the benchmark again"
            yield Leak(path=f"audited/{path}", line=line, message=message)


def _by_lines(bench: Bench, published: Chosen) -> Iterator[Leak]:
    yield from differences(bench.audited, published, bench.key, _texts(bench))


def _by_hashes(bench: Bench, directory: Path) -> Iterator[Leak]:
    hashes = recorded_hashes(directory)
    for path, file in bench.files.items():
        if hashes and path not in hashes:
            yield Leak(
                path=f"audited/{path}", line=None, message="was not there when the benchmark was built; remove it"
            )
        elif not hashes or _sha256(bench.audited / path) != hashes[path]["audited"]:
            yield from comments_with_originals(path, file.text, bench.key.entries)
            if hashes:
                yield Leak(path=f"audited/{path}", line=None, message="was changed since the benchmark was built")
    for path in sorted(hashes.keys() - bench.files.keys()):
        yield Leak(path=f"audited/{path}", line=None, message="is gone since the benchmark was built")


def _texts(bench: Bench) -> Mapping[str, str]:
    return {path: file.text for path, file in bench.files.items()}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
