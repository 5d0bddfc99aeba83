"""What an install weighs: ``python -m tests.bench.bench_runtime --only install``.

A wheel of this tree is installed into an environment of its own that has nothing but pip, without extras, with the
compiled modules that pip makes. What the environment grew by is counted, file by file, and by distribution.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.evidence._section import Row, Section, table

REPOSITORY = Path(__file__).parents[2]
WANTED_MB = 50
MB = 1_000_000
SMALLEST_MB = 0.5
"""Smaller distributions are told together."""
_BY_DISTRIBUTION = """
import importlib.metadata, json, os
sizes = {}
for distribution in importlib.metadata.distributions():
    paths = [distribution.locate_file(file) for file in distribution.files or ()]
    found = [os.stat(path).st_size for path in paths if os.path.isfile(path)]
    compiled = [os.stat(path).st_size for path in paths if os.path.isfile(path) and str(path).endswith(".pyc")]
    sizes[distribution.metadata["Name"]] = [sum(found), sum(compiled), distribution.version]
print(json.dumps(sizes))
"""


def _size_bytes(folder: Path) -> tuple[int, int]:
    """Return the bytes in a folder's files, and those of the disk's blocks that they take."""
    stats = [path.lstat() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(stat.st_size for stat in stats), sum(stat.st_blocks * 512 for stat in stats)


def _by_distribution(python: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads(subprocess.check_output([python, "-c", _BY_DISTRIBUTION], text=True))
    return found


def measure(small: bool = False) -> dict[str, Any]:
    """Return how much an install adds to an empty environment; there is no smaller way to try it."""
    with tempfile.TemporaryDirectory(prefix="planloom-install-") as scratch:
        folder = Path(scratch)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        before, blocks_before = _size_bytes(folder / "env")
        there = set(_by_distribution(python))
        subprocess.run([*pip, "install", str(REPOSITORY)], check=True)
        after, blocks_after = _size_bytes(folder / "env")
        subprocess.run([folder / "env" / "bin" / "planloom", "--version"], check=True, capture_output=True)
        added = {name: sizes for name, sizes in _by_distribution(python).items() if name not in there}
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "added_mb": (after - before) / MB,
        "blocks_mb": (blocks_after - blocks_before) / MB,
        "compiled_mb": sum(compiled for _, compiled, _ in added.values()) / MB,
        "distributions": {
            name: {"version": version, "mb": whole / MB, "compiled_mb": compiled / MB}
            for name, (whole, compiled, version) in sorted(added.items(), key=lambda item: -item[1][0])
        },
    }


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the figures as rows."""
    yield "**all**, MB", f"{found['added_mb']:.1f}", str(WANTED_MB)
    yield "as blocks of the disk", f"{found['blocks_mb']:.1f}", ""
    yield "of it modules that pip compiled", f"{found['compiled_mb']:.1f}", ""
    rest = []
    for name, one in found["distributions"].items():
        if one["mb"] >= SMALLEST_MB:
            yield f"{name} {one['version']}", f"{one['mb']:.1f}", ""
        else:
            rest.append(one["mb"])
    yield f"{len(rest)} smaller ones", f"{sum(rest):.1f}", ""


SECTION = Section(
    name="install",
    title="What an install adds to an empty environment",
    about=("A wheel of this tree and what it depends on, without extras, in MB of 1,000,000 bytes.",),
    measure=measure,
    lines=table(rows),
)
