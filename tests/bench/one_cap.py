"""One cap for four processes: ``python -m tests.bench.bench_runtime --only cap``.

Four processes, each with a run of its own, share one store and one budget, and wait when it is used up. Each looks at
the books at every event of its stream; an outside reader adds up the calls' rows in plain SQL as fast as it can. When
all four are paused a fifth process raises the cap with ``planloom raise``, and all four come to their ends.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
from tests.bench.evidence._section import Row, Section, table
from tests.bench.evidence.capped_run import BUDGET, PRICES

from planloom.money import MICRO
from planloom.testing.loopback import LoopbackServer, completion, serving
from planloom_sqlite import check_store

PROCESSES = 4
LATENCY_S = 0.02
PATIENCE_S = 120.0
LOOK_S = 0.02
SAMPLE_S = 0.001
_BOOKS = "SELECT cap, spent, reserved, uncertain FROM budget WHERE name = ?"
_CALLS = (
    "SELECT coalesce(sum(price), 0), coalesce(sum(worst) FILTER (WHERE state IN ('sent', 'uncertain')), 0) FROM call"
)
_PAUSED = "SELECT count(*) FROM run WHERE status = 'paused'"
_NEWEST = "SELECT id FROM run ORDER BY number DESC LIMIT 1"


@attrs.define
class Reader:
    """Samples the books from outside until it is told to stop; only its own thread changes it.

    :ivar wrong: samples in which the books differ from what the calls' rows add up to.
    """

    store: Path
    samples: int = 0
    over: int = 0
    wrong: int = 0
    most: int = 0
    stopped: threading.Event = attrs.field(factory=threading.Event)

    def read(self) -> None:
        """Sample until stopped."""
        while not self.store.exists():
            time.sleep(LOOK_S)
        with closing(sqlite3.connect(self.store, isolation_level=None, timeout=30)) as connection:
            while not self.stopped.wait(SAMPLE_S):
                self._sample(connection)

    def _sample(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")  # both looks see the same moment
        try:
            books = connection.execute(_BOOKS, (BUDGET,)).fetchone()
            spent, held = connection.execute(_CALLS).fetchone()
        except sqlite3.OperationalError:  # it has no tables yet
            books = None
        connection.execute("ROLLBACK")
        if books is None:
            return
        cap, *kept = books
        self.samples += 1
        self.most = max(self.most, spent + held)
        self.over += spent + held > cap or sum(kept) > cap
        self.wrong += [kept[0], kept[1] + kept[2]] != [spent, held]


def one_kind(price: str, workers: int, folder: Path) -> dict[str, Any]:
    """Return what came of four runs at one price, under a cap that two fifths of them use up."""
    store = folder / "store.db"
    whole = workers * PROCESSES
    with serving(completion("yes").after(LATENCY_S)) as server:
        cap = _cap(price, whole)
        reader = Reader(store)
        reading = threading.Thread(target=reader.read, daemon=True)
        reading.start()
        runs = [_begin(store, server.url, number, workers, cap, price, folder) for number in range(PROCESSES)]
        try:
            _until_all_wait(store, runs)
            at_cap = _looked(store) | {"requests": server.total}
            _raise(store, cap * 10)
            for run in runs:
                run.wait(PATIENCE_S)
        finally:
            for run in runs:
                run.kill()
                run.wait()
        reader.stopped.set()
        reading.join()
        told = [json.loads((folder / f"found-{number}.json").read_text()) for number in range(PROCESSES)]
        return {"cap": cap, "workers": whole, "worst": _worst(price)} | _judged(server, store, reader, at_cap, told)


def _cap(price: str, whole: int) -> float:
    """Return the credits that two fifths of the questions cost: for a flat price a whole number of calls."""
    if price == "flat":
        return whole * 2 // 5 * PRICES[price].call / MICRO
    return whole * 2 // 5 * PRICES[price].of(20, 5) / MICRO


def _worst(price: str) -> float:
    """Return what a call is reserved at: the bytes of its question and of the frame, and the most it may answer."""
    return PRICES[price].of(len("question 1234") + 16, 100) / MICRO


def _begin(
    store: Path, url: str, number: int, workers: int, cap: float, price: str, folder: Path
) -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("evidence") / "capped_run.py"
    given = (store, url, number * workers, workers, cap, price, folder / f"found-{number}.json")
    return subprocess.Popen([sys.executable, str(script), *map(str, given)])


def _until_all_wait(store: Path, runs: list[subprocess.Popen[bytes]]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if any(run.poll() is not None for run in runs):
            raise RuntimeError("a run ended before the cap was raised")
        if store.exists() and _looked(store).get("paused") == PROCESSES:
            return
        time.sleep(LOOK_S)
    raise RuntimeError(f"the runs did not come to wait at the cap: {_looked(store)}")


def _looked(store: Path) -> dict[str, int]:
    """Return how many runs are paused, and the books in micro-credits."""
    with closing(sqlite3.connect(store, isolation_level=None, timeout=30)) as connection:
        try:
            (paused,) = connection.execute(_PAUSED).fetchone()
            row = connection.execute(_BOOKS, (BUDGET,)).fetchone()
        except sqlite3.OperationalError:
            return {}
    return {"paused": paused, **dict(zip(("cap", "spent", "reserved", "uncertain"), row or (), strict=False))}


def _raise(store: Path, cap: float) -> None:
    """Raise the cap from a process of its own."""
    with closing(sqlite3.connect(store)) as connection:
        (run,) = connection.execute(_NEWEST).fetchone()
    command = [sys.executable, "-m", "planloom", "raise", run, "--cap", f"{cap:g}", "--store", str(store)]
    subprocess.run(command, check=True, capture_output=True, cwd=store.parent)


def _judged(
    server: LoopbackServer, store: Path, reader: Reader, at_cap: dict[str, int], told: list[dict[str, Any]]
) -> dict[str, Any]:
    end = _looked(store)
    return {
        "spent_at_cap": at_cap["spent"] / MICRO,
        "left_at_cap": (at_cap["cap"] - at_cap["spent"] - at_cap["uncertain"]) / MICRO,
        "reserved_at_cap": at_cap["reserved"] / MICRO,
        "requests_at_cap": at_cap["requests"],
        "most_held": max(reader.most, *(one["most"] for one in told)) / MICRO,
        "events": sum(one["events"] for one in told),
        "events_over": sum(one["over"] for one in told),
        "samples": reader.samples,
        "samples_over": reader.over,
        "samples_wrong": reader.wrong,
        "completed": sum(one["status"] == "completed" and not one["holes"] for one in told),
        "answers": sum(one["result"] or 0 for one in told),
        "requests": server.total,
        "asked_twice": sum(asked > 1 for asked in server.asked.values()),
        "spent": end["spent"] / MICRO,
        "credits_of_events": round(sum(one["ended_credits"] for one in told), 6),
        "faults": check_store(store),
    }


def measure(small: bool = False) -> dict[str, Any]:
    """Return what came of it at a flat price and at one by tokens."""
    found = {}
    for price in PRICES:
        with tempfile.TemporaryDirectory(prefix="planloom-cap-") as folder:
            found[price] = one_kind(price, 50 if small else 500, Path(folder))
    return found


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the figures as rows."""
    for price, one in found.items():
        yield f"**{price}**: {one['workers']:,} questions, cap in credits", f"{one['cap']:,.2f}", ""
        wanted = "0 left" if price == "flat" else f"less than {one['worst']:.2f} left"
        spent = f"{one['spent_at_cap']:,.2f} in {one['requests_at_cap']:,} requests, {one['left_at_cap']:.2f} left"
        yield "spent when all four wait", spent, wanted
        yield "held and spent over the cap, at events", f"{one['events_over']} of {one['events']:,}", "0"
        yield "held and spent over the cap, at outside samples", f"{one['samples_over']} of {one['samples']:,}", "0"
        yield "samples in which books and calls differ", f"{one['samples_wrong']} of {one['samples']:,}", "0"
        yield "runs whole after the raise", f"{one['completed']}, {one['answers']:,} answers", f"{PROCESSES}"
        yield "questions asked twice", str(one["asked_twice"]), "0"
        yield "faults that `store check` finds", str(len(one["faults"])), "0"


SECTION = Section(
    name="cap",
    title="One cap for four processes",
    about=(
        "Four processes with a run each share one budget, and wait when it is used up; a fifth raises it.",
        "Each looks at the books at every event of its stream, and an outside reader adds up the rows of all calls "
        "in plain SQL, in one transaction with the books.",
        "At a flat price what is reserved is what is spent; by tokens it is many times that, so that the cap is held "
        "by what is in flight.",
    ),
    measure=measure,
    lines=table(rows),
)
