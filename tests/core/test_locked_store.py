"""A store that another process keeps locked while calls end: what they come to is written down all the same."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from planloom import RunCancelled
from planloom.clients import Endpoint
from planloom.loom import Loom
from planloom.plugins import load_plugins
from planloom.questions import Reply
from planloom.stores import Store
from planloom.testing.doors import BUDGET, ENDPOINT, Doorway, doorway
from planloom.testing.looms import run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, Script, completion, echo, json_answer
from planloom_openai import open_client
from planloom_sqlite import check_store, open_store

PRICE = 200_000


@asynccontextmanager
async def impatient(path: Path) -> AsyncIterator[Store]:
    """Give a store that waits a twentieth of a second for others."""
    store = open_store(path, busy_timeout_s=0.05)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def door_on(store: Store, server: LoopbackServer, **options: Any) -> AsyncIterator[Doorway]:
    client = open_client(Endpoint(name=ENDPOINT, client="openai", url=server.url))
    try:
        async with doorway(store, {ENDPOINT: client}, **options) as door:
            yield door
    finally:
        await client.close()


@contextmanager
def lock_on(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection for another process's lock, which :func:`locked` takes."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    try:
        yield connection
    finally:
        connection.close()


def locking(connection: sqlite3.Connection, answer: Script) -> Callable[[Any], Any]:
    """Return a script that has the store locked when a question has come."""

    def script(request: Any) -> Any:
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")
        return answer

    return script


async def stopped_as_it_writes(door: Doorway, server: LoopbackServer) -> asyncio.Task[Reply]:
    """Return who asks at a run that is stopped while an answer waits to be written down."""
    asking = asyncio.ensure_future(door.ask("q"))
    while not server.total or server.in_flight:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.1)
    door.abort.set(RunCancelled("stopped"))
    return asking


def money(store: Store) -> tuple[int, int, int]:
    books = store.books(BUDGET)
    return books.spent, books.reserved, books.uncertain


def refused(status: int) -> Any:
    return json_answer({"error": {"message": "no"}}, status=status)


@pytest.mark.parametrize("status", [400, 401])
def test_a_refusal_that_cannot_be_written_down_at_once_owes_nothing(tmp_path: Path, status: int) -> None:
    path = tmp_path / "store.db"

    async def scenario() -> None:
        async with impatient(path) as store, LoopbackServer() as server:
            with lock_on(path) as lock:
                server.answer = locking(lock, refused(status))
                async with door_on(store, server) as door:
                    asking = asyncio.ensure_future(door.ask("q"))
                    await asyncio.sleep(0.5)
                    assert not asking.done()
                    lock.rollback()
                    with pytest.raises(Exception, match=r"no|locked"):
                        await asking
            assert money(store) == (0, 0, 0)

    asyncio.run(scenario())
    assert check_store(path) == []


def test_an_answer_that_is_being_written_down_is_kept_when_its_call_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario() -> None:
        async with impatient(path) as store, LoopbackServer() as server:
            with lock_on(path) as lock:
                server.answer = locking(lock, completion("yes"))
                async with door_on(store, server) as door:
                    asking = await stopped_as_it_writes(door, server)
                    cutting = asyncio.ensure_future(door.door.cut())
                    await asyncio.sleep(0.1)
                    lock.rollback()
                    await cutting
                    assert (await asking).text == "yes"
                    assert (door.door.paid, door.door.unclaimed) == (PRICE, PRICE)
            assert money(store) == (PRICE, 0, 0)

    asyncio.run(scenario())


def test_an_answer_whose_call_is_cut_again_as_it_is_written_down_was_paid_here(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario() -> None:
        store = open_store(path)  # which waits for others longer than this takes
        async with LoopbackServer() as server:
            with lock_on(path) as lock:
                server.answer = locking(lock, completion("yes"))
                async with door_on(store, server) as door:
                    asking = await stopped_as_it_writes(door, server)
                    cutting = [asyncio.ensure_future(door.door.cut()) for _ in range(2)]
                    await asyncio.sleep(0.1)
                    lock.rollback()
                    await asyncio.gather(asking, *cutting, return_exceptions=True)
                    assert door.door.paid == PRICE
            assert money(store) == (PRICE, 0, 0)
        await store.close()

    asyncio.run(scenario())


@pytest.mark.slow  # what is in hand is tried for five seconds
@pytest.mark.parametrize("answer", [refused(400), completion("lost")], ids=["refused", "answered"])
def test_what_could_not_be_written_down_is_nothing_that_the_next_run_waits_for(tmp_path: Path, answer: Any) -> None:
    """In the same process, whose calls nobody takes for dead."""
    path, source = tmp_path / "store.db", 'result = agent("q")'

    async def scenario() -> None:
        async with impatient(path) as store, LoopbackServer() as server:
            loom = Loom(load_plugins(), settings_at(server.url, path), store)
            with lock_on(path) as lock:
                server.answer = locking(lock, answer)
                first = await run_plan(loom, source, budget=BUDGET)
                assert first.status in ("paused", "failed"), first
                lock.rollback()
            server.answer = echo
            async with asyncio.timeout(20):
                second = await run_plan(loom, source, budget=BUDGET)
            assert second.result == "ok: q"
            owed = 0 if answer.status == 400 else PRICE
            assert money(store) == (PRICE, 0, owed)
            await loom.close()

    asyncio.run(scenario())
    assert check_store(path) == []
