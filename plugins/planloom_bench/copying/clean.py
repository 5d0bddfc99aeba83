"""The clean twin of what auditors read: the same files with every bug of the key taken back.

An audit of the twin tells which findings a bug caused. Its lines are numbered alike. It gives the bugs away, so it is
written elsewhere and only on demand.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from planloom_bench._bench import Bench, load_bench
from planloom_bench._errors import BadBenchmark
from planloom_bench._key import KeyEntry
from planloom_bench._line_ends import lines_with_ends
from planloom_code import Skipped, read_source

from .choosing import written
from .writing import FILES_NAME, write_tree

__all__ = ["clean_texts", "recorded_hashes", "with_bugs_taken_back", "write_clean"]


def write_clean(directory: Path, out: Path) -> int:
    """Write the clean twin of a benchmark's ``audited/`` to a new folder; gives the number of files.

    :raises BadBenchmark: ``out`` exists or lies in the benchmark, or the twin is not what bugs were planted in.
    """
    if out.exists():
        raise BadBenchmark(f"{out} exists already; give a folder that does not, with --out")
    if out.resolve().is_relative_to(directory.resolve()):
        raise BadBenchmark(f"{out} lies in the benchmark, whose auditors could read it; give a folder elsewhere")
    bench = load_bench(directory)
    hashes = recorded_hashes(directory)
    contents = {path: _data(bench, path, text) for path, text in clean_texts(bench).items()}
    for path, data in contents.items():
        if path in hashes and hashlib.sha256(data).hexdigest() != hashes[path]["clean"]:
            raise BadBenchmark(f"audited/{path} was changed since the benchmark was built; build it again")
    write_tree(out, contents)
    return len(contents)


def clean_texts(bench: Bench) -> dict[str, str]:
    """The texts of all audited files, with the bugs taken back."""
    return {
        path: with_bugs_taken_back(file.text, bench.key.in_file(path)) for path, file in sorted(bench.files.items())
    }


def with_bugs_taken_back(text: str, bugs: tuple[KeyEntry, ...]) -> str:
    """The text as it was before these bugs were planted."""
    if not bugs:
        return text
    lines = lines_with_ends(text)
    for bug in bugs:
        line = lines[bug.line - 1]
        lines[bug.line - 1] = line.replace(bug.after, bug.before, 1)
    return "".join(lines)


def recorded_hashes(directory: Path) -> dict[str, dict[str, str]]:
    """The hashes of the files, ``clean`` and ``audited``, by path; empty for a benchmark that records none."""
    path = directory / "hidden" / FILES_NAME
    try:
        raw: Any = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: {"clean": str(both["clean"]), "audited": str(both["audited"])} for name, both in raw["files"].items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadBenchmark(f"{path} records no hashes of files: {error}; build the benchmark again") from error


def _data(bench: Bench, path: str, text: str) -> bytes:
    source = read_source(bench.audited / path, path)
    assert not isinstance(source, Skipped)
    return written(source, text)
