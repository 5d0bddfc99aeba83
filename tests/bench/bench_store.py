"""What the store costs, measured on this machine: ``python -m tests.bench.bench_store``.

Nothing is asked of a model: these are the store's own microseconds, beside those of writing each reply in a commit of
its own, which is what a program without a ledger's books would do.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from planloom.questions import Part, Question, Reply, message_of
from planloom.stores import Event, Granted
from planloom.testing.store_samples import JOB, a_question, a_reply, a_run, a_thread, ask_for
from planloom_sqlite import SqliteStore, open_store

RESULTS = Path(__file__).parents[2] / "docs" / "reference" / "benchmarks-store.json"
BATCHES = {1: 500, 8: 2_000, 64: 4_000, 256: 8_000}
REPEATS = 3
REPLY_CHARACTERS = 2_000
SHARDS, SHARD_CHARACTERS, PROMPTS, IN_FLIGHT = 14, 250_000, 588, 32
FOLLOWED_CALLS, POLL_S = 20_000, 0.05
LONG_RUN_WORKERS = 20_000

_WORDS = [f"word{n}" for n in range(3_000)]


def text(seed: int, characters: int) -> str:
    """Return words that compress about as prose does."""
    return " ".join(random.Random(seed).choices(_WORDS, k=characters // 6))[:characters]


def with_store(deed: Callable[[SqliteStore, Path], Coroutine[Any, Any, dict[str, Any]]]) -> dict[str, Any]:
    """Return what a deed measures with a new store and its file."""

    async def scenario(path: Path) -> dict[str, Any]:
        store = open_store(path)
        await store.open_budget(JOB, 10**12)
        try:
            return await deed(store, path)
        finally:
            await store.close()

    with tempfile.TemporaryDirectory(prefix="planloom-bench-") as folder:
        return asyncio.run(scenario(Path(folder) / "store.db"))


async def asked(store: SqliteStore, question: Question, reply: Reply) -> None:
    """Reserve and settle one call."""
    granted = await ask_for(store, question)
    assert isinstance(granted, Granted)
    await store.settle(granted.call_id, reply)


# --- microseconds a call


def cost(batch: int, calls: int) -> dict[str, Any]:
    """Return microseconds a call, reserved and settled with so many at once."""
    questions = [a_question(number) for number in range(calls)]
    replies = [a_reply(text(number, REPLY_CHARACTERS)) for number in range(calls)]

    async def deed(store: SqliteStore, path: Path) -> dict[str, Any]:
        wall, cpu = time.perf_counter(), time.process_time()
        for start in range(0, calls, batch):
            lot = range(start, min(start + batch, calls))
            await asyncio.gather(*(asked(store, questions[n], replies[n]) for n in lot))
        return {
            "wall_us": (time.perf_counter() - wall) / calls * 1e6,
            "cpu_us": (time.process_time() - cpu) / calls * 1e6,
        }

    return _median([with_store(deed) for _ in range(REPEATS)])


def plain(calls: int = 500) -> dict[str, Any]:
    """Return microseconds a reply, each in a commit of its own and nothing else."""
    replies = [text(number, REPLY_CHARACTERS) for number in range(calls)]

    def once(path: Path) -> dict[str, Any]:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE reply (id INTEGER PRIMARY KEY, text TEXT)")
        wall, cpu = time.perf_counter(), time.process_time()
        for reply in replies:
            connection.execute("INSERT INTO reply (text) VALUES (?)", (reply,))
        taken = {
            "wall_us": (time.perf_counter() - wall) / calls * 1e6,
            "cpu_us": (time.process_time() - cpu) / calls * 1e6,
        }
        connection.close()
        return taken

    with tempfile.TemporaryDirectory(prefix="planloom-bench-") as folder:
        return _median([once(Path(folder) / f"{n}.db") for n in range(REPEATS)])


def _median(measured: list[dict[str, float]]) -> dict[str, Any]:
    return {name: statistics.median(one[name] for one in measured) for name in measured[0]}


# --- the event loop


async def _longest_lag_ms(work: Coroutine[Any, Any, None]) -> float:
    """Return how late the loop came at worst to something that was due each millisecond."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            due = time.perf_counter() + 0.001
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - due)

    watching = asyncio.ensure_future(watch())
    await work
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    return longest * 1e3


def lag() -> dict[str, Any]:
    """Return the longest lag of the loop while long prompts are hashed, packed and stored, and what they weigh."""
    shards = [text(number, SHARD_CHARACTERS) for number in range(SHARDS)]

    async def deed(store: SqliteStore, path: Path) -> dict[str, Any]:
        parts = [Part(shard) for shard in shards]
        waiting = iter(range(PROMPTS))

        async def worker() -> None:
            for number in waiting:
                message = message_of("user", parts[number % SHARDS], f"What of {number}?")
                question = Question(endpoint="e", model="m", messages=(message,), parameters={})
                await asked(store, question, a_reply(text(number, REPLY_CHARACTERS)))

        async def all_workers() -> None:
            await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))

        longest = await _longest_lag_ms(all_workers())
        size_bytes = sum(file.stat().st_size for file in path.parent.iterdir())
        return {"prompts": PROMPTS, "longest_lag_ms": longest, "file_and_log_mb": size_bytes / 1e6}

    return with_store(deed)


# --- followers

_FOLLOWER = """
import sys, time
from planloom_sqlite import open_store
store, seen = open_store(sys.argv[1]), 0
print("ready", flush=True)
while True:
    seen += len(store.events("run-1", after=seen))
    store.progress("run-1")
    time.sleep(float(sys.argv[2]))
"""


def followed() -> dict[str, Any]:
    """Return how large the write-ahead log grows while another process follows a run."""

    async def deed(store: SqliteStore, path: Path) -> dict[str, Any]:
        follower = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _FOLLOWER, str(path), str(POLL_S), stdout=asyncio.subprocess.PIPE
        )
        assert follower.stdout is not None
        await follower.stdout.readline()
        log, largest = path.with_name(path.name + "-wal"), 0
        for start in range(0, FOLLOWED_CALLS, 50):
            numbers = range(start, start + 50)
            await asyncio.gather(
                *(asked(store, a_question(n), a_reply(text(n, REPLY_CHARACTERS))) for n in numbers),
                store.append_events("run-1", [event for n in numbers for event in _events_of(n)]),
            )
            largest = max(largest, log.stat().st_size)
        follower.kill()
        await follower.wait()
        return {"calls": FOLLOWED_CALLS, "poll_s": POLL_S, "largest_log_mb": largest / 1e6}

    return with_store(deed)


def _events_of(worker: int) -> list[Event]:
    fields = {"thread": f"run-1/t{worker:05}", "label": "worker", "phase": "scan"}
    return [
        Event(seq=2 * worker + n, t=worker / 100, type=kind, data=fields)
        for n, kind in ((1, "run.agent_started"), (2, "run.agent_ended"))
    ]


def progress() -> dict[str, Any]:
    """Return what looking at a long run costs."""

    async def deed(store: SqliteStore, path: Path) -> dict[str, Any]:
        await store.save_run(a_run())
        for start in range(0, LONG_RUN_WORKERS, 500):
            numbers = range(start, start + 500)
            await asyncio.gather(
                store.save_threads([a_thread(n, label="a label of some length") for n in numbers]),
                store.append_events("run-1", [event for n in numbers for event in _events_of(n)]),
            )
        looks: dict[str, Callable[[], object]] = {
            "progress_ms": lambda: store.progress("run-1"),
            "failed_threads_ms": lambda: store.threads("run-1", status="failed"),
            "last_events_ms": lambda: store.events("run-1", after=2 * LONG_RUN_WORKERS - 20),
            "all_events_ms": lambda: store.events("run-1"),
        }
        return {"workers": LONG_RUN_WORKERS} | {name: _milliseconds(look) for name, look in looks.items()}

    return with_store(deed)


def _milliseconds(look: Callable[[], object]) -> float:
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        look()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1e3


# --- all of it


def main() -> None:
    """Measure everything, print it and keep it with the documentation."""
    load = os.getloadavg()[0]
    results: dict[str, Any] = {
        "machine": {
            "system": platform.platform(),
            "processors": os.cpu_count(),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "load_before": load,
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        "a_commit_each": plain(),
        "calls_at_once": {str(batch): cost(batch, calls) for batch, calls in BATCHES.items()},
        "long_prompts": lag(),
        "with_a_follower": followed(),
        "looking_on": progress(),
    }
    shown = json.dumps(_rounded(results), indent=2)
    print(shown)
    RESULTS.write_text(shown + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 2) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
