"""A process that begins a run when it is told to: ``begin_process.py FOLDER PLAN``.

It works out all that the run begins with, says so, waits for a line, and begins. Prints how the run ended.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import planloom
from planloom._proposals import start_of


async def main(folder: str, plan: str) -> None:
    async with planloom.open(folder) as loom:
        start = start_of(loom.loom, await loom.propose(Path(folder) / plan, refresh=True))
        print("ready", flush=True)
        sys.stdin.readline()
        outcome = await loom.loom.run(**start)
        print(outcome.status)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
