"""How long it takes to look at a long run: ``python -m tests.bench.bench_runtime --only looking_on``.

Each command is a process of its own, on a run of 20,000 workers in twenty phases: one that was killed at half, so that
all is counted from what is there, and the same one when it is whole.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.bench.disk_runtime import CREDITS_A_CALL, Watched, drive, run_of, seconds, seconds_of, start
from tests.bench.evidence._section import Row, Section, table

WORKERS = 20_000
WANTED_S = 1.0
LOOK_S = 0.02
_COMMANDS = ("runs", "show", "follow")


def killed_at_half(store: Path, workers: int) -> str:
    """Begin a run, kill its process when half of its answers are there, and return its id."""
    process = start(store, workers, 0, workers * CREDITS_A_CALL, store.with_name("told.json"))
    try:
        while process.poll() is None and _answers(store) < workers // 2:
            time.sleep(LOOK_S)
    finally:
        process.kill()
        process.wait()
    return run_of(store)


def _answers(store: Path) -> int:
    if not run_of(store):
        return 0
    with closing(sqlite3.connect(store, timeout=30)) as connection:
        (count,) = connection.execute("SELECT coalesce(max(id), 0) FROM reply").fetchone()
    return int(count)


def looked_at(store: Path, run: str) -> dict[str, dict[str, float]]:
    """Return the seconds of each command; one that finds nobody driving the run ends with 5."""
    named = {command: (command,) if command == "runs" else (command, run) for command in _COMMANDS}
    return {name: seconds_of(store, *arguments, codes=(0, 5)) for name, arguments in named.items()}


def measure(small: bool = False) -> dict[str, Any]:
    """Return the seconds of each command, on a run that was killed and on a whole one."""
    workers = 1_000 if small else WORKERS
    with tempfile.TemporaryDirectory(prefix="planloom-look-") as scratch:
        store = Path(scratch) / "store.db"
        run = killed_at_half(store, workers)
        interrupted = looked_at(store, run)
        drive(Watched(store), workers, 0, workers * CREDITS_A_CALL)
        return {"workers": workers, "killed": interrupted, "whole": looked_at(store, run)}


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the figures as rows."""
    for state in ("killed", "whole"):
        for command, taken in found[state].items():
            yield f"`planloom {command}`, {state}", seconds(taken), f"{WANTED_S:g}"


SECTION = Section(
    name="looking_on",
    title="Looking at a run of 20,000 workers",
    about=("Seconds of a command in a process of its own (of the processor), the fastest of three.",),
    measure=measure,
    lines=table(rows),
)
