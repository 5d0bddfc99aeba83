"""DBOS: one durable workflow with a step a question, on SQLite."""

import asyncio
import sqlite3
import sys
import time

import aiohttp  # noqa: F401 - imported before the clock starts, as everywhere
from tests.bench.runtime._contestant import AT_ONCE, CALLS, FOLDER, Asker, delivered, finish

if sqlite3.sqlite_version_info < (3, 42):  # it asks SQLite for `unixepoch('subsec')`
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3

from dbos import DBOS, SetWorkflowID

DBOS(
    config={
        "name": "bench",
        "application_version": "1",
        "executor_id": "local",
        "log_level": "ERROR",
        "run_admin_server": False,
        "system_database_url": f"sqlite:///{FOLDER}/dbos.db",
    }
)
_shared: list[tuple[Asker, asyncio.Semaphore]] = []


@DBOS.step()
async def ask(number: int) -> str:
    """Ask one question as a durable step."""
    if not _shared:
        _shared.append((Asker(), asyncio.Semaphore(AT_ONCE)))
    asker, slots = _shared[0]
    async with slots:
        text = await asker.ask(number)
    delivered(number)
    return text


@DBOS.workflow()
async def fan_out(calls: int) -> int:
    """Ask everything at once."""
    return len(await asyncio.gather(*(ask(number) for number in range(calls))))


async def main() -> None:
    """Start the workflow, or wait for the one that is recovered."""
    began = time.perf_counter()
    DBOS.launch()
    with SetWorkflowID("one"):
        handle = await DBOS.start_workflow_async(fan_out, CALLS)
    finish(await handle.get_result(), began)
    DBOS.destroy()


asyncio.run(main())
