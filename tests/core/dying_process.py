"""A run that ends by ``kill -9`` between two writes of its store: ``dying_process.py STORE URL WRITES``.

It dies when the store was written to WRITES times and is about to be again; prints how many writes there were when it
lives to the end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planloom.loom import Loom
from planloom.plugins import load_plugins
from planloom.testing.looms import run_plan, settings_at
from planloom_sqlite import open_store

PLAN = """
phase("One")
first = agent("a")
left = budget()
phase("Two")
result = [first, left, parallel([lambda: agent("b"), lambda: agent("c")])]
"""
WRITES = (
    "append_events",
    "claim_run",
    "mark_sent",
    "mark_uncertain",
    "mark_waiting",
    "open_budget",
    "release",
    "release_run",
    "reserve",
    "save_run",
    "save_threads",
    "settle",
    "write_journal",
)


class Counted:
    """Counts a store's writes, and ends the process in place of one."""

    def __init__(self, store: Any, most: int) -> None:
        self.count, self._most = 0, most
        for name in WRITES:
            setattr(store, name, self._counted(getattr(store, name)))

    def _counted(self, write: Callable[..., Any]) -> Callable[..., Any]:
        async def counted(*args: Any, **kwargs: Any) -> Any:
            if self.count == self._most:
                os.kill(os.getpid(), signal.SIGKILL)
            self.count += 1
            return await write(*args, **kwargs)

        return counted


async def main(store_path: str, url: str, most: int) -> None:
    store: Any = open_store(Path(store_path), lease_s=1.0)
    counted = Counted(store, most)
    loom = Loom(load_plugins(), settings_at(url, store_path, in_flight=8), store)
    await run_plan(loom, PLAN)
    print(counted.count)
    await loom.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
