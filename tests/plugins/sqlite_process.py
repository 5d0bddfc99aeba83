"""A process beside the test's own, on the same store: ``sqlite_process.py PATH LEASE_S COMMAND``.

``burst``: asks ever new questions, 200 at once, and prints each question's number when its settlement is committed.
``spend``: asks 150 questions of its own at a worst price of 9 and settles them at 9; prints how many were granted.
``same``: asks the 1,000 questions that every such process asks, in its own order; prints how many were granted.
``linger``: asks 20 questions and drives ``run-1``, says so, waits for a line, settles them, asks 5 more, and waits for
another line.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import sys
from collections.abc import Iterable

from planloom.stores import Granted, OpenElsewhere
from planloom.testing.store_samples import JOB, a_question, a_reply, ask_for
from planloom_sqlite import SqliteStore, open_store


async def ask(store: SqliteStore, number: int) -> bool:
    """Ask one question until it is answered, by this process or another; whether this one was granted."""
    while isinstance(result := await ask_for(store, a_question(number), 9), OpenElsewhere):
        await asyncio.sleep(0.005)
    if not isinstance(result, Granted):
        return False
    await store.settle(result.call_id, a_reply(f"answer {number} " * 100, price=9))
    return True


async def ask_all(store: SqliteStore, numbers: Iterable[int], at_once: int, *, tell: bool) -> int:
    waiting = iter(numbers)
    granted = 0

    async def one_after_another() -> None:
        nonlocal granted
        for number in waiting:
            was_granted = await ask(store, number)
            granted += was_granted
            if tell:
                os.write(1, f"{number}\n".encode())

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(one_after_another())
    return granted


async def linger(store: SqliteStore) -> None:
    await store.claim_run("run-1")
    calls = [await ask_for(store, a_question(number), 9) for number in range(20)]
    print("granted", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for number, call in enumerate(calls):
        assert isinstance(call, Granted)
        await store.settle(call.call_id, a_reply(f"late {number}", price=5))
    holder = store.driver("run-1")
    assert holder is not None
    assert holder.here
    for number in range(20, 25):
        assert isinstance(await ask_for(store, a_question(number), 9), Granted)
    print("settled", flush=True)
    await asyncio.to_thread(sys.stdin.readline)


async def main(path: str, lease_s: float, command: str) -> None:
    store = open_store(path, lease_s=lease_s)
    own = os.getpid() * 1_000_000
    if command == "burst":
        await ask_all(store, itertools.count(own), 200, tell=True)
    elif command == "spend":
        print(await ask_all(store, range(own, own + 150), 50, tell=False))
    elif command == "linger":
        await linger(store)
    else:
        numbers = list(range(1000))
        random.Random(own).shuffle(numbers)
        print(await ask_all(store, numbers, 50, tell=False))
    print(store.books(JOB), file=sys.stderr)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), sys.argv[3]))
