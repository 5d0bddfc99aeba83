"""Runs of very many workers whose model is in the process: ``many_run.py STORE SHORT LONG PHASES CAP TOLD``.

Asks SHORT questions of 2 KB and LONG ones of 250 KB, which share 240 KB, in PHASES phases; goes on with the run where
the store has it. Writes how it went to TOLD: seconds, and those until the first answer that was not there already.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from tests.bench.many_kit import MANY
from tests.bench.quick_model import quick_registry, quick_settings

from planlang import compile as compile_program
from planloom.api import open_with
from planloom.listeners import Listener
from planloom.loom import Job, Loom, Outcome
from planloom.money import micro_of
from planloom.processes import seldom_collected
from planloom.stores import Event
from planloom.words import build_vocabulary

IN_FLIGHT = 500
PLAN = """\
phases = args["phases"]
done = 0
for n in range(phases):
    phase(f"Part {n}")
    short = parallel([lambda i=i: ask_short(i) for i in range(n, args["short"], phases)])
    long = parallel([lambda i=i: ask_long(i) for i in range(n, args["long"], phases)])
    done = done + len([one for one in short + long if one is not None])
result = done
"""


class FirstAnswer:
    """Seconds of clock and processor, from when this is made to the first answer that was not there already."""

    def __init__(self) -> None:
        self._began_s, self._began_cpu_s = time.perf_counter(), time.process_time()
        self.wall_s = self.cpu_s = 0.0

    def hear(self, _run: str, event: Event) -> None:
        """Look for it."""
        if not self.wall_s and event.type == "run.agent_ended" and event.data["cached"] is False:
            self.wall_s, self.cpu_s = time.perf_counter() - self._began_s, time.process_time() - self._began_cpu_s


async def main(store: str, short: int, long: int, phases: int, cap: float) -> dict[str, Any]:
    """Begin the run or go on with it, to its end or to its cap."""
    workers, first = short + long, FirstAnswer()
    registry = quick_registry(Listener(name="first answer", on_event=first.hear))
    began_s = time.perf_counter()
    async with open_with(registry, quick_settings(Path(store), workers, IN_FLIGHT)) as loom:
        runs = loom.runs()
        if runs:
            outcome = await (await loom.resume(runs[0].id, cap=cap))
        else:  # no rehearsal: it would say that the cap is too low
            outcome = await _begin(loom.loom, {"short": short, "long": long, "phases": phases}, cap)
    return {
        "run": outcome.run_id,
        "status": outcome.status,
        "result": outcome.result,
        "asked": outcome.asked,
        "run_s": outcome.seconds,
        "wall_s": time.perf_counter() - began_s,
        "to_first_answer": {"wall_s": first.wall_s, "cpu_s": first.cpu_s},
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


async def _begin(loom: Loom, args: dict[str, int], cap: float) -> Outcome:
    job = Job(title="Many", kits=(MANY,), works={MANY.name: MANY.open("", {})}, args=args, cap=micro_of(cap))
    program = compile_program(PLAN, build_vocabulary(loom.registry, loom.settings, job.kits))
    return await loom.run(job, program, PLAN)


if __name__ == "__main__":
    with seldom_collected():  # as the command line runs plans
        given = sys.argv
        told = asyncio.run(main(given[1], int(given[2]), int(given[3]), int(given[4]), float(given[5])))
    Path(sys.argv[6]).write_text(json.dumps(told), encoding="utf-8")
