"""The event loop commits what is small and quick, and a thread the rest: each in turn, and in the order of asking."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.stores import Event
from planloom.testing.store_samples import JOB, a_question, a_reply, a_run, a_thread, grant
from planloom_sqlite import SqliteStore, check_store, open_store
from planloom_sqlite._writer import Writer

HERE, THREAD = "MainThread", "planloom-store"
MANY_TEXTS = "".join(f"a finding in line {number}; " for number in range(20_000))


def committed_by(store: SqliteStore, *, in_s: float = 0.0) -> list[str]:
    """Return the names of the threads that commit from now on, each after waiting as for a disk."""
    threads: list[str] = []

    def traced(sql: str) -> None:
        if sql == "COMMIT":
            threads.append(threading.current_thread().name)
            time.sleep(in_s)

    assert isinstance(store._writer, Writer)
    store._writer._commits._connection.set_trace_callback(traced)
    return threads


def test_a_small_lot_is_committed_on_the_loop_and_long_texts_on_the_thread(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 100)
        threads = committed_by(store)
        call = await grant(store, a_question(1))
        assert threads == [HERE]
        await store.settle(call, a_reply(MANY_TEXTS))
        await grant(store, a_question(2, MANY_TEXTS))
        assert threads == [HERE, THREAD, THREAD]
        await store.close()

    asyncio.run(scenario())


def test_where_the_disk_is_slow_the_loop_leaves_it_to_the_thread(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 1_000)
        threads = committed_by(store, in_s=0.002)
        for number in range(20):
            await grant(store, a_question(number))
        assert threads[:4] == [HERE] * 4
        assert threads[4:].count(THREAD) > 10
        await store.close()

    asyncio.run(scenario())


def test_a_disk_that_takes_very_long_holds_the_loop_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 1_000)
        threads = committed_by(store, in_s=0.05)
        for number in range(10):
            await grant(store, a_question(number))
        assert threads[0] == HERE
        assert set(threads[1:]) == {THREAD}
        await store.close()

    asyncio.run(scenario())


def test_what_workers_came_to_is_packed_on_the_thread_where_it_is_long(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.save_run(a_run())
        threads = committed_by(store)
        await store.save_threads([a_thread(1, result=["short"], raw="short")])
        await store.save_threads([a_thread(number, result=[{"claim": MANY_TEXTS[:1_000]}]) for number in range(100)])
        await store.save_threads([a_thread(1, raw=MANY_TEXTS)])
        assert threads == [HERE, THREAD, THREAD]
        with pytest.raises(TypeError):
            await store.save_threads([a_thread(1, result=object())])
        await store.close()

    asyncio.run(scenario())


def test_a_log_that_a_reader_kept_from_being_emptied_is_emptied_on_the_thread(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "store.db"
        store, reader = open_store(path), sqlite3.connect(path, isolation_level=None)
        await store.open_budget(JOB, 10**9)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM call").fetchall()
        noise = random.Random(1)
        for number in range(4):
            call = await grant(store, a_question(number))
            await store.settle(call, a_reply(noise.randbytes(4_000_000).hex()))
        await asyncio.sleep(0.2)  # as long as the loop pauses at first
        threads = committed_by(store)
        reader.execute("COMMIT")
        reader.close()
        await grant(store, a_question(10))
        assert threads == [THREAD]
        await grant(store, a_question(11))
        await asyncio.sleep(0.5)
        await grant(store, a_question(12))
        assert threads[-1] == HERE
        await store.close()

    asyncio.run(scenario())


def test_while_another_process_writes_the_loop_leaves_it_to_the_thread(tmp_path: Path) -> None:
    async def scenario() -> None:
        path = tmp_path / "store.db"
        store, other = open_store(path), open_store(path)
        await store.open_budget(JOB, 100)
        assert isinstance(other._writer, Writer)
        holder = other._writer._commits._connection
        holder.execute("BEGIN IMMEDIATE")
        threads = committed_by(store)
        waiting = asyncio.ensure_future(grant(store, a_question(1)))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        holder.execute("COMMIT")
        await waiting
        assert threads == [THREAD]
        await other.close()
        await store.close()

    asyncio.run(scenario())


def test_what_is_asked_for_while_the_thread_is_at_work_is_one_commit_when_it_is_done(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 1_000)
        first = await grant(store, a_question(0))
        threads = committed_by(store)
        settling = asyncio.ensure_future(store.settle(first, a_reply(MANY_TEXTS)))
        await asyncio.sleep(0)
        asked = []
        for number in range(1, 6):
            asked.append(asyncio.ensure_future(grant(store, a_question(number))))
            await asyncio.sleep(0)
        await asyncio.gather(settling, *asked)
        # One commit where the thread had not begun before all was asked for.
        assert len(threads) in (1, 2)
        await store.close()

    asyncio.run(scenario())


def test_an_interrupt_within_a_commit_on_the_loop_loses_nothing(tmp_path: Path) -> None:
    """Python raises it wherever the loop's thread is: here where the transaction looks at the clock."""
    interrupts: Iterator[bool] = iter(())

    def clock() -> float:
        if next(interrupts, False):
            raise KeyboardInterrupt
        return time.time()

    loop = asyncio.new_event_loop()
    store = open_store(tmp_path / "store.db", clock=clock)
    loop.run_until_complete(store.open_budget(JOB, 100))
    interrupts = iter([True])
    asked = asyncio.ensure_future(grant(store, a_question(1)), loop=loop)
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(asked)
    call = loop.run_until_complete(asked)
    loop.run_until_complete(store.settle(call, a_reply()))
    loop.run_until_complete(store.close())
    loop.close()
    assert check_store(tmp_path / "store.db") == []


EVENTS, LONG_VALUE, TURN = "events", "long value", "turn"
STEPS = st.one_of(
    st.tuples(st.just(EVENTS), st.integers(1, 400)),
    st.tuples(st.just(LONG_VALUE), st.integers(1, 50_000)),
    st.tuples(st.just(TURN), st.sampled_from([0.0, 0.0005, 0.003])),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(STEPS, max_size=30))
def test_what_one_asks_for_is_in_the_file_in_the_order_of_asking(steps: list[tuple[str, float]]) -> None:
    async def scenario(path: Path) -> None:
        store = open_store(path)
        await store.save_run(a_run())
        run, seq, values, writes = a_run().id, 0, 0, []
        for kind, size in steps:
            if kind == EVENTS:
                lot = [Event(seq=seq + at, t=0.0, type="run.log", data={"at": at}) for at in range(1, int(size) + 1)]
                writes.append(asyncio.ensure_future(store.append_events(run, lot)))
                seq += len(lot)
            elif kind == LONG_VALUE:
                value = [f"{number:x}" for number in range(int(size))]
                writes.append(asyncio.ensure_future(store.write_journal(run, f"{values}", value)))
                values += 1
            else:
                await asyncio.sleep(size)
        await asyncio.gather(*writes)
        assert [event.seq for event in store.events(run)] == list(range(1, seq + 1))
        assert list(store.journal(run)) == [f"{number}" for number in range(values)]
        await store.close()
        assert check_store(path) == []

    with TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "store.db"))
