"""A process that is to be suspended while it asks: ``suspended_process.py STORE URL QUESTIONS [FIRST_BYTE_S]``.

Its lease is a third of a second, and each answer has so long to begin. When all is answered it prints a JSON object:
how many answers there are, how many of them were free, how many attempts brought none, and how many seconds passed
between the first answer and the last.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from planloom.clients import Endpoint
from planloom.questions import Reply
from planloom.testing.doors import ENDPOINT, Doorway, doorway
from planloom_openai import open_client
from planloom_sqlite import open_store


async def asked(door: Doorway, text: str) -> tuple[float, Reply]:
    reply = await door.ask(text)
    return asyncio.get_running_loop().time(), reply


async def main(store_path: str, url: str, questions: int, first_byte_s: float) -> None:
    timeouts = {"first_byte": first_byte_s}
    client = open_client(Endpoint(name=ENDPOINT, client="openai", url=url, timeouts=timeouts))
    store = open_store(Path(store_path), lease_s=0.3)
    async with doorway(store, {ENDPOINT: client}) as door:
        answers = await asyncio.gather(*(asked(door, f"q{n}") for n in range(questions)))
    moments = [moment for moment, _ in answers]
    told = {
        "answered": len(answers),
        "free": sum(reply.cached for _, reply in answers),
        "faults": len(door.fields("run.attempt")),
        "took_s": max(moments) - min(moments),
    }
    print(json.dumps(told))
    await client.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float((*sys.argv, "60")[4])))
