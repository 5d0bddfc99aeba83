"""A run of long prompts that share their text: ``long_prompts_run.py STORE URL TREE SHARDS ROUNDS``.

Each folder of the tree is a shard; every round reads each through three lenses. Prints how late the event loop
came at worst to something that was due each millisecond, in seconds of the clock and of this thread's processor time
meanwhile, and the longest single steps with what they ran.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import sys
import time
from asyncio.events import Handle
from typing import Any

import attrs
import jsonschema  # noqa: F401 - imported before the clock starts, as everywhere

import planloom.wire._transport  # noqa: F401 - likewise
from planloom.api import open_with
from planloom.plugins import load_plugins
from planloom.processes import seldom_collected
from planloom.testing.looms import settings_at

IN_FLIGHT = 32
DUE_S = 0.001
STEPS_TOLD = 5
PLAN = """\
rounds = [n for n in range(args["rounds"])]
lenses = ["boundaries", "logic", "state"]
pieces = [[path for path in work() if path.startswith(f"part{n:02}/")] for n in range(args["shards"])]
found = parallel([lambda s=s, l=l, n=n: scan(s, l, sample=n) for n in rounds for l in lenses for s in pieces])
result = len([one for one in found if one is not None])
"""


@attrs.define
class Lags:
    """How late the loop was, in milliseconds; one task of the loop changes it."""

    longest_ms: float = 0.0
    longest_cpu_ms: float = 0.0
    late: int = 0

    async def watch(self) -> None:
        """Watch until cancelled."""
        while True:
            due, cpu = time.perf_counter() + DUE_S, time.thread_time()
            await asyncio.sleep(DUE_S)
            lag_ms = (time.perf_counter() - due) * 1e3
            self.longest_ms = max(self.longest_ms, lag_ms)
            self.longest_cpu_ms = max(self.longest_cpu_ms, (time.thread_time() - cpu) * 1e3)
            self.late += lag_ms > 20


class Steps:
    """The longest steps of the loop in processor time of its thread, found by timing every callback."""

    def __init__(self) -> None:
        self._longest: list[tuple[float, int, str]] = []
        self._count = 0

    def begin(self) -> None:
        """Time callbacks from now on."""
        run = Handle._run  # the one place through which all of them go

        def timed(handle: Handle) -> None:
            began = time.thread_time()
            try:
                run(handle)
            finally:
                self._note((time.thread_time() - began) * 1e3, handle)

        setattr(Handle, "_run", timed)  # noqa: B010 - mypy knows that no method may be assigned to

    def _note(self, took_ms: float, handle: Any) -> None:
        self._count += 1
        if len(self._longest) < STEPS_TOLD or took_ms > self._longest[0][0]:
            push = heapq.heappush if len(self._longest) < STEPS_TOLD else heapq.heappushpop
            push(self._longest, (took_ms, self._count, _named(handle)))

    def told(self) -> list[Any]:
        """Return the longest: milliseconds, and what ran."""
        return [[round(took_ms, 1), name] for took_ms, _, name in sorted(self._longest, reverse=True)]


def _named(handle: Any) -> str:
    owner = getattr(handle._callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return str(getattr(owner.get_coro(), "__qualname__", owner))
    return str(getattr(handle._callback, "__qualname__", handle._callback))


async def main(store: str, url: str, tree: str, shards: int, rounds: int) -> dict[str, Any]:
    """Run the plan to its end."""
    lags, steps = Lags(), Steps()
    async with open_with(load_plugins(), settings_at(url, store, in_flight=IN_FLIGHT)) as loom:
        args = {"shards": shards, "rounds": rounds}
        run = await loom.start(PLAN, kit="audit", target=tree, args=args, cap=10_000, approve=True)
        steps.begin()
        watching = asyncio.ensure_future(lags.watch())
        outcome = await run
        watching.cancel()
    return {
        "answers": outcome.result,
        "status": outcome.status,
        "seconds": outcome.seconds,
        **attrs.asdict(lags),
        "longest_steps_ms": steps.told(),
    }


if __name__ == "__main__":
    given = sys.argv
    with seldom_collected():
        print(json.dumps(asyncio.run(main(given[1], given[2], given[3], int(given[4]), int(given[5])))))
