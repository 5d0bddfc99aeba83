"""How fast plans run, beside plain ``exec`` and beside other embedded languages: ``make bench-language``.

Everything is processor time, measured in turns so that a busy machine is busy for all of them, and the best of the
turns is kept. Figures of one machine say little about another, so each is also given as a ratio to ``exec`` of the same
program in the same sitting.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import os
import platform
import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.language_peers import CALLS, LOOP, PEERS, Peer

import planlang
from planlang import Call, Limits, Vocabulary, Word

RESULTS = Path(__file__).parents[2] / "docs" / "reference" / "benchmarks-language.json"
TURNS = int(os.environ.get("TURNS", "5"))
WIDE = Limits(
    steps=1 << 40, memory_bytes=1 << 50, compute_s=600, bytes_to_host=1 << 50, bytes_from_host=1 << 50
)  # nothing is stopped, everything is metered
ROW = {f"field{k}": (k, f"text {k} of a row", k / 7)[k % 3] for k in range(12)}
ROWS = [dict(ROW) for _ in range(1_000)]
GUEST = """\
def plus(x):
    return x + 1
def both(x, y):
    return plus(x) + y
def work(n):
    acc = 0
    for i in range(n):
        acc = both(acc, i) % 999983
    return acc
"""
MAYBE = CALLS.replace("host(", "maybe(")
THIN = "def work(n):\n    return len(parallel([lambda i=i: maybe(i) for i in range(n)]))\n"
DEEP = """\
def ask(x):
    y = once(x)
    return once(y)
def both(x):
    return ask(x)
def work(n):
    return len(parallel([lambda i=i: both(i) for i in range(n)]))
"""
ROWS_IN = "def work(n):\n    for i in range(n):\n        rows = give()\n    return 1\n"
ROWS_OUT = "def work(n):\n    rows = give()\n    for i in range(n):\n        take(rows)\n    return 1\n"


async def maybe(_place: Call, i: int) -> int:
    return i & 7


async def once(_place: Call, i: int) -> int:
    await asyncio.sleep(0)
    return i


async def parallel(place: Call, thunks: Any) -> list[object]:
    return await place.run_tasks(thunks, lambda _path, _error: None)


def _word(name: str, call: Callable[..., Any], suspends: bool = False, runs_tasks: bool = False) -> Word:
    given = inspect.signature(call)
    shape = given.replace(parameters=list(given.parameters.values())[1:])
    return Word(name, call, signature=shape, doc="", suspends=suspends, runs_tasks=runs_tasks)


WORDS = Vocabulary(
    [
        _word("host", lambda _place, i: i & 7),
        _word("maybe", maybe, suspends=True),
        _word("once", once, suspends=True),
        _word("parallel", parallel, suspends=True, runs_tasks=True),
        _word("give", lambda _place: ROWS),
        _word("take", lambda _place, rows: len(rows)),
    ]
)
# what is measured: program, rounds, the most it may take (µs a round, or times `exec`)
TASKS: dict[str, tuple[str, int, str]] = {
    "loop: arithmetic and append": (LOOP, 1_000_000, "12 x exec"),
    "calls of the plan's own functions": (GUEST, 200_000, "16 x exec"),
    "calls of a word": (CALLS, 100_000, "0.5 µs"),
    "calls of a word that may wait and does not": (MAYBE, 100_000, "1.2 µs"),
    "parallel, a thunk that calls one word": (THIN, 100_000, "10 µs"),
    "parallel, a thunk two calls deep that waits twice": (DEEP, 100_000, "40 µs"),
    "1,000 dicts of 12 scalars from the host": (ROWS_IN, 20, ""),
    "1,000 dicts of 12 scalars to the host": (ROWS_OUT, 20, ""),
}


def timed(run: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return the seconds that a call takes."""
    gc.collect()
    started_s = clock()
    run()
    return clock() - started_s


def under_planlang(source: str, rounds: int) -> float:
    """Return the seconds that a plan takes, its check and compilation aside."""
    program = planlang.compile(f"{source}result = work({rounds})\n", WORDS)
    return timed(lambda: asyncio.run(program.run(None, WIDE)))


def under_exec(source: str, rounds: int) -> float | None:
    """Return the seconds that plain Python takes, or ``None`` when the program needs a host of ours."""
    names: dict[str, Any] = {"host": lambda i: i & 7}
    if source is MAYBE:
        names["maybe"] = lambda i: maybe(None, i)  # type: ignore[arg-type]  # it does not look at its place
        exec(source.replace("def work", "async def work").replace("maybe(", "await maybe("), names)
        return timed(lambda: asyncio.run(names["work"](rounds)))
    if source not in (LOOP, CALLS, GUEST):
        return None
    exec(source, names)
    return timed(lambda: names["work"](rounds))


def least(best: dict[str, float], name: str, seconds: float) -> None:
    """Keep the smallest figure."""
    best[name] = min(seconds, best.get(name, seconds))


def bytes_a_task(waits: bool) -> float:
    """Return what one thunk holds: of 20,000 that queue behind one seat, or of 5,000 that wait at once."""
    count = 5_000 if waits else 20_000
    arrived: list[int] = []
    held: list[int] = []
    open_gate = asyncio.Event()

    async def gate(_place: Call, i: int) -> int:
        arrived.append(i)
        if len(arrived) == (count if waits else 1):
            held.append(tracemalloc.get_traced_memory()[0])
            open_gate.set()
        await open_gate.wait()
        return i

    words = Vocabulary([_word("once", gate, suspends=True), WORDS.words["parallel"]])
    limits = Limits(tasks_in_flight=count if waits else 1, memory_bytes=1 << 40, steps=1 << 40, compute_s=600)
    program = planlang.compile(f"{DEEP}result = work({count})\n", words)
    tracemalloc.start()
    asyncio.run(program.run(None, limits))
    tracemalloc.stop()
    return held[0] / count


def peer_times(peer: Peer, best: dict[str, float], faults: dict[str, str]) -> None:
    """Measure one peer once; what it refuses is noted."""
    for task in ("loop", "calls"):
        name = f"{peer.name}: {task}"
        if name in faults:
            continue
        try:
            least(best, name, timed(partial(peer.run, task, peer.rounds), peer.clock) / peer.rounds)
        except Exception as error:
            faults[name] = f"{type(error).__name__}: {error}"[:200]


def measure() -> dict[str, Any]:
    """Return all figures."""
    ours: dict[str, float] = {}
    plain: dict[str, float] = {}
    peers: dict[str, float] = {}
    faults: dict[str, str] = {}
    for turn in range(TURNS):
        for name, (source, rounds, _) in TASKS.items():
            least(ours, name, under_planlang(source, rounds) / rounds)
            seconds = under_exec(source, rounds)
            if seconds is not None:
                least(plain, name, seconds / rounds)
        if turn < 2:  # they are slow, and their figures differ by more than noise
            for peer in PEERS:
                if peer.present:
                    peer_times(peer, peers, faults)
    return {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        "turns": TURNS,
        "planlang": {
            name: {"us_a_round": _us(seconds), "times_exec": _ratio(seconds, plain.get(name)), "goal": TASKS[name][2]}
            for name, seconds in ours.items()
        },
        "bytes_a_queued_thunk": round(bytes_a_task(waits=False)),
        "bytes_a_waiting_task": round(bytes_a_task(waits=True)),
        "peers": _peers(peers, plain, faults),
    }


def _peers(best: dict[str, float], plain: dict[str, float], faults: dict[str, str]) -> dict[str, Any]:
    floor = {"loop": plain["loop: arithmetic and append"], "calls": plain["calls of a word"]}
    table: dict[str, Any] = {}
    for peer in PEERS:
        row: dict[str, Any] = {"note": peer.note if peer.present else "not installed"}
        for task in ("loop", "calls"):
            name = f"{peer.name}: {task}"
            if name in best:
                row[task] = {"us_a_round": _us(best[name]), "times_exec": _ratio(best[name], floor[task])}
            elif name in faults:
                row[task] = {"refused": faults[name]}
        table[peer.name] = row
    return table


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def _ratio(seconds: float, floor: float | None) -> float | None:
    return None if floor is None else round(seconds / floor, 1)


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def page(figures: dict[str, Any]) -> str:
    """Return the figures as a page of the reference."""
    machine = figures["machine"]
    lines = [
        "# How fast plans run",
        "",
        "Written by `make bench-language`; the figures are in `benchmarks-language.json`.",
        f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}, {figures['measured_at'][:10]}.",
        "Processor time, best of interleaved turns, everything metered.",
        "The ratio is to `exec` of the same program in the same sitting.",
        "",
        "| What | µs | times `exec` | at most |",
        "|---|---:|---:|---|",
    ]
    for name, row in figures["planlang"].items():
        ratio = "" if row["times_exec"] is None else f"{row['times_exec']:.1f}"
        lines.append(f"| {name} | {row['us_a_round']:,.2f} | {ratio} | {row['goal']} |")
    lines += [
        f"| bytes a queued thunk | {figures['bytes_a_queued_thunk']:,} | | 1,000 |",
        f"| bytes a waiting task | {figures['bytes_a_waiting_task']:,} | | 8,000 |",
        "",
        "## Others",
        "",
        "Each in the same process and sitting; `loop` and `calls` as above, or the nearest expression.",
        "",
        "| | loop, µs | times `exec` | calls of the host, µs | times `exec` | |",
        "|---|---:|---:|---:|---:|---|",
        _row("planlang", *_own(figures), "everything metered"),
    ]
    for name, row in figures["peers"].items():
        lines.append(_row(name, row.get("loop", {}), row.get("calls", {}), row["note"]))
    return "\n".join([*lines, ""])


def _own(figures: dict[str, Any]) -> tuple[Any, Any]:
    ours = figures["planlang"]
    return ours["loop: arithmetic and append"], ours["calls of a word"]


def _row(name: str, loop: Any, calls: Any, note: str) -> str:
    cells = [
        f"{cell.get(key):,}" if key in cell else "" for cell in (loop, calls) for key in ("us_a_round", "times_exec")
    ]
    return f"| {name} | {' | '.join(cells)} | {note} |"


if __name__ == "__main__":
    found = measure()
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    RESULTS.with_suffix(".md").write_text(page(found), encoding="utf-8")
    sys.stdout.write(page(found))
