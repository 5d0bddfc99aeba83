"""How one run of very many workers spends CPU and memory, and how fast it replays.

    python -m tests.bench.scale_run [--workers 50000] [--slices 10] [--in-flight 500] [--profile run|replay]

The model is a client in the same process that answers at once, so that all CPU measured is planloom's own. Each size is
run in a process of its own. Printed: CPU a worker by slices of the run (start-up is before the first), of the loop's
thread and of the others, peak memory, seconds of a replay, and of the same job again, which the ledger answers.

Where others use the cores and their caches, the same work takes up to twice the CPU from one second to the next. So a
fixed piece of work is timed all along the run, and slices are compared in its terms too; and when the run has ended, a
shorter one begins in the same process on a store of its own: what the last slices took beside it is what had grown.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tests.bench.quick_model import quick_registry, quick_settings

from planlang import compile as compile_program
from planloom.former import read_former
from planloom.listeners import Listener
from planloom.loom import Job, Loom, open_loom
from planloom.money import MICRO
from planloom.processes import seldom_collected
from planloom.stores import Event
from planloom.words import build_vocabulary

PLAN = 'phase("Many")\nresult = len(parallel([lambda i=i: agent(f"question {i}") for i in range(args["n"])]))\n'


_WORKERS_A_LOOK = 100
_FIXED = {str(number): number for number in range(2_000)}


def _fixed_work_us() -> float:
    """Return the CPU that a fixed piece of work takes now, in microseconds."""
    began, total = time.thread_time(), 0
    for _ in range(3):
        for text in _FIXED:
            total += len(str(_FIXED[text] + total))
    return (time.thread_time() - began) * 1e6


class _Slices:
    """CPU of equal slices of a run's workers; hears the run on its loop's thread."""

    def __init__(self, workers: int, slices: int) -> None:
        self._size = workers // slices
        self._ended = 0
        self._fixed_us: list[float] = []
        self._fixed_sum_us = 0.0
        self._began: tuple[float, float, float] | None = None
        self.slices: list[dict[str, float]] = []

    def on_event(self, run: str, event: Event) -> None:
        if event.type != "run.agent_ended":
            return
        self._ended += 1
        if self._ended % _WORKERS_A_LOOK == 0:
            self._fixed_us.append(_fixed_work_us())
            self._fixed_sum_us += self._fixed_us[-1]
        if self._ended % self._size == 1:
            self._cut()

    def _cut(self) -> None:
        """End a slice and begin the next."""
        now = time.thread_time() * 1e6, time.process_time() * 1e6, self._fixed_sum_us
        if self._began is not None:
            loop, process, fixed = (after - before for before, after in zip(self._began, now, strict=True))
            self.slices.append(
                {
                    "loop_us": round((loop - fixed) / self._size, 1),
                    "others_us": round((process - loop) / self._size, 1),
                    "fixed_work_us": round(statistics.median(self._fixed_us), 1),
                }
            )
        self._began, self._fixed_us = now, []

    def late_us(self) -> float:
        """Return the CPU of a worker in the last three slices but the very last, in microseconds."""
        return statistics.mean(each["loop_us"] + each["others_us"] for each in self.slices[-3:])

    def slowest_over_quickest(self, *, in_fixed_work: bool) -> float:
        """Return how much more CPU a worker took in the slowest slice; the last has no end of its own."""
        costs = [
            (each["loop_us"] + each["others_us"]) / (each["fixed_work_us"] if in_fixed_work else 1.0)
            for each in self.slices
        ]
        return round(max(costs) / min(costs), 2)


async def _timed(work: Coroutine[Any, Any, Any], profile: bool) -> tuple[float, float, Any]:
    profiler = cProfile.Profile()
    if profile:
        profiler.enable()
    wall, cpu = time.perf_counter(), time.process_time()
    value = await work
    took = time.perf_counter() - wall, time.process_time() - cpu
    if profile:
        profiler.disable()
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(45)
    return *took, value


async def _measure(options: argparse.Namespace, store: Path) -> dict[str, Any]:
    registry = quick_registry()
    settings = quick_settings(store, options.workers, options.in_flight)
    program = compile_program(PLAN, build_vocabulary(registry, settings, ()))
    job = Job(title="Many", args={"n": options.workers}, cap=1_000_000 * MICRO)
    slices = _Slices(options.workers, options.slices)
    async with open_loom(registry, settings) as loom:

        async def run(**more: Any) -> Any:
            outcome = await loom.run(job, program, PLAN, **more)
            assert outcome.status == "completed", outcome
            return outcome

        listener = Listener(name="slices", on_event=slices.on_event)
        wall, cpu, outcome = await _timed(run(listeners=[listener]), options.profile == "run")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        fresh = await _fresh(options, store.with_name("fresh.db"))
        replay = await _timed(_replay(loom, run, outcome.run_id), options.profile == "replay")
        again = await _timed(run(), options.profile == "again")
        assert again[2].asked == 0
    return {
        "workers": options.workers,
        "run_s": round(wall, 2),
        "run_cpu_s": round(cpu, 2),
        "slices": slices.slices,
        "slowest_over_quickest_slice": slices.slowest_over_quickest(in_fixed_work=False),
        "slowest_over_quickest_slice_in_fixed_work": slices.slowest_over_quickest(in_fixed_work=True),
        "last_slices_over_fresh_ones": round(slices.late_us() / fresh.late_us(), 2),
        "peak_mb": peak,
        "replay_s": round(replay[0], 2),
        "replay_cpu_s": round(replay[1], 2),
        "again_s": round(again[0], 2),
        "again_cpu_s": round(again[1], 2),
        "peak_mb_after_all": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


async def _fresh(options: argparse.Namespace, store: Path) -> _Slices:
    """Run slices of the same size on a new store, five of them."""
    workers = options.workers // options.slices * 5
    registry, settings = quick_registry(), quick_settings(store, workers, options.in_flight)
    slices = _Slices(workers, 5)
    async with open_loom(registry, settings) as loom:
        program = compile_program(PLAN, build_vocabulary(registry, settings, ()))
        job = Job(title="Fresh", args={"n": workers}, cap=1_000_000 * MICRO)
        await loom.run(job, program, PLAN, listeners=[Listener(name="slices", on_event=slices.on_event)])
    return slices


async def _replay(loom: Loom, run: Callable[..., Coroutine[Any, Any, Any]], run_id: str) -> None:
    row = loom.store.run(run_id)
    assert row is not None
    replayed = await run(former=read_former(loom.store, row), mode="replay")
    assert replayed.result == row.result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=0, help="one size, in this process")
    parser.add_argument("--slices", type=int, default=10)
    parser.add_argument("--in-flight", type=int, default=500)
    parser.add_argument("--profile", choices=("run", "replay", "again"))
    options = parser.parse_args()
    if not options.workers:
        for workers in (2_000, 20_000, 50_000):
            subprocess.run([sys.executable, "-m", "tests.bench.scale_run", "--workers", str(workers)], check=True)
        return
    with tempfile.TemporaryDirectory() as folder, seldom_collected():  # as the command line runs plans
        print(json.dumps(asyncio.run(_measure(options, Path(folder) / "store.db"))), flush=True)


if __name__ == "__main__":
    main()
