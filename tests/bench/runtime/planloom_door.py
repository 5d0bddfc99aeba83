"""planloom's front door alone: ledger, reservations, settlements and the shipped client, without a plan."""

import asyncio
import time

from tests.bench.runtime._contestant import AT_ONCE, CALLS, FOLDER, URL, delivered, finish, question

import planloom.wire._transport  # noqa: F401 - imported before the clock starts, as everywhere
from planloom.clients import Endpoint
from planloom.testing.doors import doorway
from planloom_openai import open_client
from planloom_sqlite import open_store


async def main() -> None:
    """Ask everything through one door."""
    began = time.perf_counter()
    store = open_store(FOLDER / "store.db")
    client = open_client(Endpoint(name="main", client="openai", url=URL))

    async with doorway(store, {"main": client}, cap=10_000, in_flight=AT_ONCE) as door:

        async def one(number: int) -> None:
            await door.ask(question(number))
            delivered(number)

        await asyncio.gather(*(one(number) for number in range(CALLS)))
    await client.close()
    await store.close()
    finish(CALLS, began)


asyncio.run(main())
