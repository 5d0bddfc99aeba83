"""A process that asks what others ask too: ``flight_process.py STORE URL QUESTIONS ASKERS``.

Each of the questions is asked by so many askers at once; prints a JSON object with how many were answered, how many
shared another's call, and what was paid.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from planloom.clients import Endpoint
from planloom.questions import Reply
from planloom.testing.doors import ENDPOINT, doorway
from planloom_openai import open_client
from planloom_sqlite import open_store


async def main(store_path: str, url: str, questions: int, askers: int) -> None:
    client = open_client(Endpoint(name=ENDPOINT, client="openai", url=url))
    store = open_store(Path(store_path))
    async with doorway(store, {ENDPOINT: client}) as door:
        outcomes = await door.ask_all([f"q{n % questions}" for n in range(questions * askers)])
        replies = [outcome for outcome in outcomes if isinstance(outcome, Reply)]
        paid = sum(reply.price for reply in replies if not reply.cached)
        print(json.dumps({"answered": len(replies), "shared": len(door.fields("run.shared")), "paid": paid}))
    await client.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
