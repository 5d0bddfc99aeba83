"""A store that several event loops ask, at once or one after the other, and what a loop leaves behind."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from planloom import StoreError
from planloom.stores import Granted
from planloom.testing.store_samples import JOB, a_question, a_reply, ask_for, grant
from planloom_sqlite import SqliteStore, check_store, open_store

LONG_TEXT = "".join(f"a finding in line {number}; " for number in range(200_000))


def opened(path: Path) -> SqliteStore:
    """Return a store with a budget."""
    store = open_store(path)
    asyncio.run(_open_budget(store))
    return store


async def _open_budget(store: SqliteStore) -> None:
    await store.open_budget(JOB, 10**9)


def closed(store: SqliteStore, path: Path) -> None:
    """Close a store and check its file."""
    asyncio.run(store.close())
    assert check_store(path) == []


def in_a_thread(deed: Callable[[], Coroutine[Any, Any, None]]) -> threading.Thread:
    thread = threading.Thread(target=lambda: asyncio.run(asyncio.wait_for(deed(), 15)), daemon=True)
    thread.start()
    return thread


def test_two_loops_in_two_threads_are_each_told_on_their_own(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = opened(path)
    told_by: list[set[int]] = []

    async def ask(first: int) -> None:
        here, threads = threading.get_ident(), set()
        for number in range(first, first + 300):
            waiting = asyncio.ensure_future(ask_for(store, a_question(number)))
            waiting.add_done_callback(lambda _: threads.add(threading.get_ident()))
            call = await waiting
            assert isinstance(call, Granted)
            await store.settle(call.call_id, a_reply("yes" if number % 50 else LONG_TEXT[:100_000]))
        assert threads == {here}
        told_by.append(threads)

    threads = [in_a_thread(lambda first=first: ask(first)) for first in (0, 1_000, 2_000)]  # type: ignore[misc]
    for thread in threads:
        thread.join(20)
    assert len(told_by) == 3
    assert store.books(JOB).spent == 4 * 900
    closed(store, path)


def test_what_a_loop_asked_for_and_left_is_written_before_what_the_next_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = opened(path)
    left = asyncio.new_event_loop()
    call = left.run_until_complete(grant(store, a_question(1)))
    settling = left.create_task(store.settle(call, a_reply("left behind")))
    left.call_soon(left.stop)
    left.run_forever()
    left.close()

    async def next_loop() -> None:
        assert await grant(store, a_question(2)) is not None
        reply = store.reply(a_question(1).fingerprint)
        assert reply is not None
        assert reply.text == "left behind"

    asyncio.run(next_loop())
    closed(store, path)
    del settling


def test_what_is_held_for_a_loop_that_is_closed_is_written_though_nobody_asks_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = opened(path)
    loop = asyncio.new_event_loop()
    calls = [loop.run_until_complete(grant(store, a_question(number))) for number in range(2)]
    long = loop.create_task(store.settle(calls[0], a_reply(LONG_TEXT)))
    loop.run_until_complete(asyncio.sleep(0.01))
    short = loop.create_task(store.settle(calls[1], a_reply("short")))
    for _ in range(3):
        loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    patience = time.monotonic() + 10
    while store.reply(a_question(1).fingerprint) is None:
        assert time.monotonic() < patience
        time.sleep(0.005)
    closed(store, path)
    del long, short


def _ask_in_copy(store: SqliteStore, said: Any) -> None:
    async def ask() -> None:
        try:
            await asyncio.wait_for(ask_for(store, a_question(2)), 10)
        except StoreError as error:
            said.put(str(error))
        await asyncio.wait_for(store.close(), 10)
        said.put("closed")

    asyncio.run(ask())


def test_a_copy_of_the_process_is_refused_and_its_original_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = opened(path)
    asyncio.run(grant(store, a_question(1)))
    kind = multiprocessing.get_context("fork")
    said = kind.SimpleQueue()
    copy = kind.Process(target=_ask_in_copy, args=(store, said))
    copy.start()
    copy.join(20)
    assert copy.exitcode == 0
    assert said.get() == f"the store {path} was opened before this process was forked; open it again in it"
    assert said.get() == "closed"
    assert isinstance(asyncio.run(ask_for(store, a_question(2))), Granted)
    closed(store, path)
