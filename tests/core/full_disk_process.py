"""A run on a disk that is full for a while: ``full_disk_process.py STORE room|cancel``.

Twelve questions, four at once, whose replies do not compress. The size of this process's files is limited once the run
is under way; when it is paused there is room again, or it is cancelled. Prints one line of JSON: how the run stood
while the disk was full, and how it ended.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
from pathlib import Path
from typing import Any

from planloom.loom import Loom, RunControl
from planloom.status import status_line
from planloom.testing.looms import loom_at, run_plan
from planloom.testing.loopback import LoopbackServer, Received, completion

PLAN = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(12)])'
REPLY_BYTES = 300_000
SPARE_BYTES = 200_000


def long_reply(request: Received) -> Any:
    return completion(random.Random(request.question).randbytes(REPLY_BYTES).hex())


async def while_full(loom: Loom, server: LoopbackServer) -> dict[str, Any]:
    """Wait until the run is paused, and a second more; return how it stands and what it asked."""
    while (row := loom.store.runs()[0]).status != "paused":
        await asyncio.sleep(0.02)
    asked = server.total
    await asyncio.sleep(1.0)
    return {"line": status_line(loom.store, row), "asked": asked, "asked_later": server.total}


async def main(path: Path, then: str) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with LoopbackServer(long_reply) as server, loom_at(server.url, path, in_flight=4) as loom:
        control = RunControl()
        running = asyncio.ensure_future(run_plan(loom, PLAN, control=control, roles=("worker",)))
        await control.begun.wait()
        limit = Path(f"{path}-wal").stat().st_size + SPARE_BYTES
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        found = await asyncio.wait_for(while_full(loom, server), 20)
        if then == "room":
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        else:
            control.cancel()
        outcome = await asyncio.wait_for(running, 20)
        found |= {
            "status": outcome.status,
            "workers": len(outcome.result or ()),
            "asked_most": max(server.asked.values()),
        }
        found |= {"events": [event.data["full"] for event in loom.store.events(outcome.run_id) if "full" in event.data]}
        found |= {"row": loom.store.runs()[0].status, "asked_in_all": server.total}
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
