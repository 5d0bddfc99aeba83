"""What durability costs, beside other engines: ``make bench-runtime ONLY=peers``.

Every contestant does the same task against the same server (see ``runtime/_contestant.py``): a fan-out of questions
whose answers must survive a ``kill -9``. Walls are medians of some turns, taken in turn, imports excluded; ratios are
to plain aiohttp with one SQLite commit an answer in the same sitting. Then each is killed when the server has answered
two fifths, and started again: which answers that had been delivered does it ask for once more?
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
from tests.bench.evidence._section import Section

REPOSITORY = Path(__file__).parents[2]
MODULE = (sys.executable, "-m")
CONTESTED = "tests.bench.runtime"
FLOOR = "plain aiohttp + SQLite"
CONTESTANTS = {
    FLOOR: "plain",
    "planloom, the door alone": "planloom_door",
    "planloom, a whole run": "planloom_plan",
    "LangGraph": "langgraph_peer",
    "Dask distributed + SQLite": "dask_peer",
    "DBOS on SQLite": "dbos_peer",
}
LATENCIES_MS = (50, 0)
CALLS, AT_ONCE, TURNS = 2_000, 500, 3
KILL_SHARE = 0.4
PATIENCE_S = 180.0
LOOK_S = 0.02


@attrs.frozen(kw_only=True)
class Task:
    """What every contestant is given."""

    calls: int
    at_once: int
    url: str

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment of a contestant."""
        own = {
            "BENCH_URL": self.url,
            "BENCH_CALLS": str(self.calls),
            "BENCH_AT_ONCE": str(self.at_once),
            "BENCH_FOLDER": str(folder),
        }
        return {**os.environ, **own}


@contextmanager
def counting_model(latency_s: float) -> Iterator[str]:
    """Serve the model in another process; gives its address."""
    command = (*MODULE, f"{CONTESTED}.counting_model", str(latency_s))
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def stats(url: str) -> dict[str, Any]:
    """Return what the server has counted."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as answer:
        counts: dict[str, Any] = json.load(answer)
        return counts


def start(script: str, task: Task, folder: Path) -> subprocess.Popen[bytes]:
    """Start a contestant in a session of its own, its output in the folder."""
    with (folder / "said.txt").open("wb") as said:
        return subprocess.Popen(
            (*MODULE, f"{CONTESTED}.{script}"),
            cwd=REPOSITORY,
            env=task.environment(folder),
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def result_of(folder: Path) -> dict[str, Any]:
    """Return what a contestant reported.

    :raises RuntimeError: it reported nothing.
    """
    said = (folder / "said.txt").read_text(encoding="utf-8", errors="replace")
    for line in reversed(said.splitlines()):
        if line.startswith('{"answers"'):
            result: dict[str, Any] = json.loads(line)
            return result
    raise RuntimeError(f"no result: {said[-1_500:]}")


class Peak:
    """The most memory that a process and its children held at any look."""

    def __init__(self, pid: int) -> None:
        import psutil  # of the peers' own environment, which what was measured is shown without

        self._process, self._gone = psutil.Process(pid), psutil.Error
        self.size_bytes = 0

    def look(self) -> None:
        """Look once."""
        try:
            processes = [self._process, *self._process.children(recursive=True)]
            self.size_bytes = max(self.size_bytes, sum(each.memory_info().rss for each in processes))
        except self._gone:
            return


def one_wall(script: str, latency_s: float, calls: int, at_once: int) -> dict[str, Any]:
    """Run a contestant once from nothing and return what it took."""
    folder = Path(tempfile.mkdtemp(prefix="bench-runtime-"))
    try:
        with counting_model(latency_s) as url:
            process = start(script, Task(calls=calls, at_once=at_once, url=url), folder)
            peak, until = Peak(process.pid), time.monotonic() + PATIENCE_S
            while process.poll() is None and time.monotonic() < until:
                peak.look()
                time.sleep(LOOK_S)
            _kill(process)
            counts = stats(url)
        size_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        return {
            **result_of(folder),
            "peak_mb": peak.size_bytes / 2**20,
            "disk_mb": size_bytes / 2**20,
            "requests": counts["total"],
            "max_in_flight": counts["max_in_flight"],
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def one_kill(script: str, latency_s: float, calls: int, at_once: int) -> dict[str, Any]:
    """Kill a contestant in mid-run, start it again, and return what that cost."""
    folder = Path(tempfile.mkdtemp(prefix="bench-runtime-"))
    try:
        with counting_model(latency_s) as url:
            task = Task(calls=calls, at_once=at_once, url=url)
            process = start(script, task, folder)
            while process.poll() is None and stats(url)["total"] - at_once < KILL_SHARE * calls:
                time.sleep(LOOK_S)
            in_flight = stats(url)["in_flight"]
            _kill(process)
            in_hand = set((folder / "delivered.log").read_text(encoding="utf-8").splitlines())
            again = start(script, task, folder)
            again.wait(PATIENCE_S)
            counts = stats(url)
        asked_twice = [question for question in in_hand if counts["asked"].get(question, 0) > 1]
        return {
            "delivered": len(in_hand),
            "delivered_and_asked_again": len(asked_twice),
            "in_flight_at_kill": in_flight,
            "requests": counts["total"],
            "answers": result_of(folder)["answers"],
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def walls(names: Iterable[str], latency_s: float, calls: int, at_once: int, turns: int) -> dict[str, Any]:
    """Return the median of some turns of each of these contestants."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(turns):
        for name in rows:
            row = one_wall(CONTESTANTS[name], latency_s, calls, at_once)
            print(json.dumps({"contestant": name, "latency_s": latency_s, **_rounded(row)}), flush=True)
            rows[name].append(row)
    medians = {name: _median(taken) for name, taken in rows.items()}
    floor_s = medians[FLOOR]["wall_s"]
    return {name: {**row, "over_floor": row["wall_s"] / floor_s} for name, row in medians.items()}


def _median(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}


def measure(small: bool = False) -> dict[str, Any]:
    """Return what every contestant took, and what a kill cost it."""
    calls, at_once, turns = (200, 50, 1) if small else (CALLS, AT_ONCE, TURNS)
    results: dict[str, Any] = {"calls": calls, "at_once": at_once}
    for latency_ms in LATENCIES_MS:
        results[f"walls_{latency_ms}_ms"] = walls(CONTESTANTS, latency_ms / 1_000, calls, at_once, turns)
    results["kills_50_ms"] = {}
    for name, script in CONTESTANTS.items():
        row = one_kill(script, 0.05, calls, at_once)
        print(json.dumps({"contestant": name, "killed": row}), flush=True)
        results["kills_50_ms"][name] = row
    return results


def lines(results: dict[str, Any]) -> Iterator[str]:
    """Yield the results as lines of Markdown."""
    for latency_ms in LATENCIES_MS:
        yield from (f"### Answers that take {latency_ms} ms", "", *_walls_table(results[f"walls_{latency_ms}_ms"]), "")
    yield from ("### Killed at two fifths, and started again", "", *_kills_table(results["kills_50_ms"]))


def _walls_table(rows: dict[str, Any]) -> Iterator[str]:
    yield "| | seconds | times the floor | most memory, MB | on the disk, MB |"
    yield "|---|---:|---:|---:|---:|"
    for name, row in rows.items():
        wall, memory = f"{row['wall_s']:.2f} | {row['over_floor']:.2f}", f"{row['peak_mb']:.0f} | {row['disk_mb']:.1f}"
        yield f"| {name} | {wall} | {memory} |"


def _kills_table(rows: dict[str, Any]) -> Iterator[str]:
    yield "| | delivered at the kill | of them asked again | requests in all | in flight at the kill |"
    yield "|---|---:|---:|---:|---:|"
    for name, row in rows.items():
        again, in_flight = row["delivered_and_asked_again"], row["in_flight_at_kill"]
        yield f"| {name} | {row['delivered']} | {again} | {row['requests']:,} | {in_flight} |"


SECTION = Section(
    name="peers",
    title="Beside other engines",
    about=(
        "2,000 different questions, 500 at once, each answer on the disk; imports are not counted, the server shares "
        "the cores.",
        "The door alone asks over the floor's own HTTP client; a whole run is a plan with the client that ships. "
        "Both collect garbage seldom, as the command line does; the others keep Python's settings.",
    ),
    measure=measure,
    lines=lines,
)


def main() -> None:
    """Measure the floor and some contestants, and print it: to look at, not to keep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--only", default="", help="contestants whose name holds one of these, by commas")
    options = parser.parse_args()
    wanted = [part for part in options.only.split(",") if part]
    names = [name for name in CONTESTANTS if name == FLOOR or not wanted or any(part in name for part in wanted)]
    for latency_ms in LATENCIES_MS:
        found = walls(names, latency_ms / 1_000, options.calls, options.at_once, options.turns)
        print(json.dumps({f"walls_{latency_ms}_ms": found}, indent=2), flush=True)


if __name__ == "__main__":
    main()
