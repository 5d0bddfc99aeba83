"""A run in a process of its own, to be killed: ``run_process.py STORE URL COUNT``.

Asks COUNT questions, eight at once, with a lease of a second, so that the next such process need not wait long for the
calls of one that was killed; prints how many workers brought an answer, or how the run ended without a result.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from planloom.loom import Loom
from planloom.plugins import load_plugins
from planloom.testing.looms import run_plan, settings_at
from planloom_sqlite import open_store

PLAN = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(args["count"])])\n'


async def main(store_path: str, url: str, count: int) -> None:
    store = open_store(Path(store_path), lease_s=1.0)
    loom = Loom(load_plugins(), settings_at(url, store_path, in_flight=8), store)
    outcome = await run_plan(loom, PLAN, args={"count": count}, budget="books")
    print(outcome.status if outcome.result is None else len([answer for answer in outcome.result if answer]))
    await loom.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
