"""The floor: asyncio, aiohttp and one SQLite commit an answer, with no budget, ledger, events or plan."""

import asyncio
import time

import aiohttp  # noqa: F401 - imported before the clock starts, as everywhere
from tests.bench.runtime._contestant import AT_ONCE, CALLS, Asker, answers_table, delivered, finish


async def main() -> None:
    """Ask everything that has no row yet."""
    began = time.perf_counter()
    table, asker, slots = answers_table(), Asker(), asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> str:
        known = table.execute("SELECT text FROM answer WHERE number = ?", (number,)).fetchone()
        if known is not None:
            return str(known[0])
        async with slots:
            text = await asker.ask(number)
            table.execute("INSERT INTO answer VALUES (?, ?)", (number, text))
        delivered(number)
        return text

    answers = await asyncio.gather(*(one(number) for number in range(CALLS)))
    await asker.close()
    finish(len(answers), began)


asyncio.run(main())
