"""planloom's front door alone, over the floor's own HTTP client: ledger, reservations and settlements, no plan."""

import asyncio
import time
from collections.abc import Callable

import aiohttp  # noqa: F401 - imported before the clock starts, as everywhere
from tests.bench.runtime._contestant import AT_ONCE, CALLS, FOLDER, Asker, delivered, finish, question

from planloom.money import Usage
from planloom.processes import seldom_collected
from planloom.questions import Question, Reply
from planloom.testing.doors import doorway
from planloom_sqlite import open_store


class Client:
    """Asks as the floor does."""

    def __init__(self) -> None:
        self._asker = Asker()

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        """Ask once."""
        text = await self._asker.ask(int(question.parts[-1].text.split()[-1]))
        if began is not None:
            began()
        usage = Usage(prompt_tokens=20, completion_tokens=5)
        return Reply(text=text, finish_reason="stop", usage=usage, seconds=0.0, model="m-1")

    async def close(self) -> None:
        """Close the connections."""
        await self._asker.close()


async def main() -> None:
    """Ask everything through one door."""
    began = time.perf_counter()
    store, client = open_store(FOLDER / "store.db"), Client()

    async with doorway(store, {"main": client}, cap=10_000, in_flight=AT_ONCE) as door:

        async def one(number: int) -> None:
            await door.ask(question(number))
            delivered(number)

        await asyncio.gather(*(one(number) for number in range(CALLS)))
    await client.close()
    await store.close()
    finish(CALLS, began)


# As the command line runs plans.
with seldom_collected():
    asyncio.run(main())
