"""A process beside the test's own, on the same store: ``budget_process.py STORE URL FIRST COUNT [BUDGET]``.

Asks COUNT questions at once from number FIRST on, stopping at the cap; prints how many were answered.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from planloom.clients import Endpoint
from planloom.questions import Reply
from planloom.testing.doors import BUDGET, ENDPOINT, doorway
from planloom_openai import open_client
from planloom_sqlite import open_store


async def main(store_path: str, url: str, first: int, count: int, budget: str) -> None:
    client = open_client(Endpoint(name=ENDPOINT, client="openai", url=url))
    store = open_store(Path(store_path))
    async with doorway(store, {ENDPOINT: client}, budget=budget, cap=5.0, in_flight=8) as door:
        outcomes = await door.ask_all([f"q{n}" for n in range(first, first + count)])
        print(sum(isinstance(outcome, Reply) for outcome in outcomes))
    await client.close()
    await store.close()


if __name__ == "__main__":
    store_path, url, first, count, *named = sys.argv[1:]
    asyncio.run(main(store_path, url, int(first), int(count), *(named or [BUDGET])))
