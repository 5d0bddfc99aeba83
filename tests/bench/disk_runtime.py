"""What a long run leaves on the disk: ``python -m tests.bench.bench_runtime --only disk`` (or ``disk_large``).

A run of many short questions and some long ones that share their beginning, in twenty phases, stops at its cap a
hundred questions before its end, and goes on when the cap is raised. All along another process follows it with
``planloom follow --json``, and the write-ahead log is looked at a hundred times a second. What the file holds is set
against the distinct texts, each compressed alone, and the events.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from tests.bench.bench import as_installed
from tests.bench.evidence._section import Row, Section, table
from tests.bench.many_kit import distinct_texts
from tests.bench.quick_model import ANSWER

PHASES, LEFT = 20, 100
EVENTS_ADDED = 2 * LEFT + 2 * PHASES + 2
"""What a start tells that goes on: the workers that it asks, the phases, how it began and how it ended."""
CREDITS_A_CALL = 0.001
WAL_MB, OVER_CONTENT, BYTES_AN_EVENT, OPEN_S = 16, 1.3, 400, 2.0
LOOK_S = 0.01
PATIENCE_S = 1_800.0
SIZES = {"disk": (20_000, 200), "disk_large": (100_000, 1_000), "small": (1_000, 10)}
_RUN = "SELECT id FROM run ORDER BY number DESC LIMIT 1"
_DRIVEN = "SELECT run FROM driver LIMIT 1"


@attrs.define
class Watched:
    """The files of a store while a run goes on, and how large its log ever was."""

    store: Path
    wal_bytes: int = 0
    followed: int = 0

    def look(self) -> None:
        """Look at the log once."""
        try:
            self.wal_bytes = max(self.wal_bytes, self.store.with_name(f"{self.store.name}-wal").stat().st_size)
        except FileNotFoundError:
            return


def run_of(store: Path, query: str = _RUN) -> str:
    """Return the id of the newest run, or what the query finds; empty when there is none yet."""
    if not store.exists():
        return ""
    with closing(sqlite3.connect(store, timeout=30)) as connection:
        try:
            row = connection.execute(query).fetchone()
        except sqlite3.OperationalError:  # no tables yet
            return ""
    return row[0] if row else ""


def start(store: Path, short: int, long: int, cap: float, told: Path) -> subprocess.Popen[bytes]:
    """Start the process that drives the run."""
    module = (sys.executable, "-m", "tests.bench.evidence.many_run")
    given = (str(store), str(short), str(long), str(PHASES), f"{cap:.3f}", str(told))
    return subprocess.Popen([*module, *given], env=as_installed())


@contextmanager
def following(store: Path, run: str, events: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have another process follow the run, every event of it."""
    command = [sys.executable, "-m", "planloom", "follow", run, "--json", "--store", str(store)]
    with events.open("ab") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL) as follower:
        yield follower
        follower.wait(60)


def drive(watched: Watched, short: int, long: int, cap: float) -> dict[str, Any]:
    """Drive the run until it ends or stops, followed all along; return what it told.

    :raises RuntimeError: it failed.
    """
    folder = watched.store.parent
    told, events = folder / "told.json", folder / "events.jsonl"
    process = start(watched.store, short, long, cap, told)
    while not run_of(watched.store, _DRIVEN) and process.poll() is None:
        time.sleep(LOOK_S)
    with following(watched.store, run_of(watched.store), events):
        until = time.monotonic() + PATIENCE_S
        while process.poll() is None and time.monotonic() < until:
            watched.look()
            time.sleep(LOOK_S)
    if process.returncode != 0:
        process.kill()
        raise RuntimeError(f"the run ended with {process.returncode}")
    watched.followed = len(set(events.read_bytes().splitlines()))  # it begins with the first every time
    found: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
    return found


def seconds_of(store: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> dict[str, float]:
    """Return how long a command of the command line takes by the clock and the processor, the fastest of three.

    :raises RuntimeError: it ended with another code.
    """
    taken = []
    for _ in range(3):
        command = [sys.executable, "-m", "planloom", *arguments, "--store", str(store)]
        with tempfile.TemporaryFile() as said:
            began_s = time.perf_counter()
            process = subprocess.Popen(command, stdout=said, stderr=said, env=as_installed())
            _, status, used = os.wait4(process.pid, 0)
            wall_s = time.perf_counter() - began_s
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            if process.returncode not in codes:
                raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said.read()[-1_500:]!r}")
        taken.append({"wall_s": wall_s, "cpu_s": used.ru_utime + used.ru_stime})
    return min(taken, key=lambda one: one["wall_s"])


def seconds(taken: dict[str, float]) -> str:
    """Return seconds as text: of the clock, and in brackets of the processor."""
    return f"{taken['wall_s']:.2f} ({taken['cpu_s']:.2f})"


def measure(size: str, small: bool = False) -> dict[str, Any]:
    """Return what a run of this size leaves, and how long it takes to open and to go on with."""
    short, long = SIZES["small" if small else size]
    workers = short + long
    with tempfile.TemporaryDirectory(prefix="planloom-disk-") as scratch:
        watched = Watched(Path(scratch) / "store.db")
        stopped = drive(watched, short, long, (workers - LEFT) * CREDITS_A_CALL)
        show_stopped = seconds_of(watched.store, "show", stopped["run"])
        events_stopped, stored_stopped_mb = _events(watched.store), _stored_mb(watched.store)
        resumed = drive(watched, short, long, workers * CREDITS_A_CALL)
        if (stopped["status"], resumed["status"]) != ("paused", "completed"):
            raise RuntimeError(f"the run stopped as {stopped} and went on to {resumed}")
        return {
            "short": short,
            "long": long,
            "status": [stopped["status"], resumed["status"]],
            "answers": resumed["result"],
            "asked": [stopped["asked"], resumed["asked"]],
            "run_s": stopped["run_s"],
            "peak_mb": stopped["peak_mb"],
            "wal_mb": watched.wal_bytes / 1e6,
            "show_stopped": show_stopped,
            "to_first_answer": resumed["to_first_answer"],
            "show": seconds_of(watched.store, "show", resumed["run"]),
            "resume_whole": seconds_of(watched.store, "resume", resumed["run"]),
            "followed": watched.followed,
            "events_stopped": events_stopped,
            "stored_stopped_mb": stored_stopped_mb,
            **_weighed(watched.store, short, long),
        }


def _weighed(store: Path, short: int, long: int) -> dict[str, Any]:
    """Return what the store weighs, and what it may."""
    events = _events(store)
    with closing(sqlite3.connect(store)) as connection:
        pages = (
            connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 12").fetchall()
            if _has_dbstat(connection)
            else []
        )
    distinct = sum(len(zlib.compress(text.encode())) for text in (*distinct_texts(short, long), ANSWER))
    return {
        "stored_mb": _stored_mb(store),
        "distinct_mb": distinct / 1e6,
        "events": events,
        "allowed_mb": (OVER_CONTENT * distinct + BYTES_AN_EVENT * events) / 1e6,
        "tables_mb": {name: size / 1e6 for name, size in pages},
    }


def _stored_mb(store: Path) -> float:
    return sum(path.stat().st_size for path in store.parent.glob(f"{store.name}*")) / 1e6


def _events(store: Path) -> int:
    with closing(sqlite3.connect(store)) as connection:
        (events,) = connection.execute("SELECT count(*) FROM event").fetchone()
    return int(events)


def _has_dbstat(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1 FROM dbstat LIMIT 1")
    except sqlite3.OperationalError:  # not every Python's SQLite has it
        return False
    return True


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the figures as rows."""
    yield "largest write-ahead log, MB, while followed", f"{found['wal_mb']:.1f}", str(WAL_MB)
    yield (
        f"store and log, whole, MB, with {found['events']:,} events",
        f"{found['stored_mb']:.1f}",
        f"{found['allowed_mb']:.1f}",
    )
    yield "the same when it stopped", f"{found['stored_stopped_mb']:.1f}", ""
    yield "of it distinct texts, each compressed alone (zlib)", f"{found['distinct_mb']:.1f}", ""
    yield "seconds (of the processor) to show it, stopped", seconds(found["show_stopped"]), f"{OPEN_S:g}"
    yield "to show it, whole", seconds(found["show"]), f"{OPEN_S:g}"
    yield "to resume it, whole", seconds(found["resume_whole"]), f"{OPEN_S:g}"
    yield f"to go on with it, to the first of its last {LEFT} answers", seconds(found["to_first_answer"]), f"{OPEN_S:g}"
    asked = f"{found['asked'][0]:,} + {found['asked'][1]:,}"
    yield "questions asked before the stop and after", asked, f"{found['short'] + found['long']:,} in all"
    added = found["events"] - found["events_stopped"]
    yield "events that going on added", f"{added:,}", f"{EVENTS_ADDED:,}"
    yield "events that the follower saw", f"{found['followed']:,}", f"{found['events']:,}"
    yield "seconds of the run, most memory in MB", f"{found['run_s']:.1f}, {found['peak_mb']:.0f}", ""


ABOUT = (
    "A run of many questions of 2 KB and some of 250 KB that share 240 KB, in twenty phases, followed by another "
    "process all along; it stops at its cap a hundred questions before its end, and goes on.",
    "The store may weigh 1.3 times the distinct texts, each compressed alone, and 400 bytes an event.",
)
SECTION = Section(
    name="disk",
    title="On the disk: 20,000 short questions, 200 long ones",
    about=ABOUT,
    measure=partial(measure, "disk"),
    lines=table(rows),
)
LARGE = Section(
    name="disk_large",
    title="On the disk: 100,000 short questions, 1,000 long ones",
    about=ABOUT,
    measure=partial(measure, "disk_large"),
    lines=table(rows),
    opt_in=True,
)
