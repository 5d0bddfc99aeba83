"""A full disk, a held lock, a damaged file: every waiter hears of it, nothing hangs, and work goes on afterwards."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from planloom import StoreError, StoreGone, StoreLocked
from planloom.stores import Books, Granted
from planloom.testing.store_samples import JOB, LONG_TEXT, a_question, a_reply, a_run, a_thread, ask_for, events_of
from planloom_sqlite import SqliteTools, check_store, open_store
from planloom_sqlite._connections import Place, Readers, open_writer
from planloom_sqlite._writer import Writer

_FULL = """
import asyncio, random, resource, sys
from planloom import StoreFull
from planloom.stores import Granted
from planloom.testing.store_samples import JOB, a_question, a_reply, ask_for
from planloom_sqlite import open_store

async def main():
    store = open_store(sys.argv[1])
    await store.open_budget(JOB, 10**9)
    noise = [random.Random(n).randbytes(6000).hex() for n in range(100)]
    calls = await asyncio.gather(*(ask_for(store, a_question(n)) for n in range(100)))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    settling = (store.settle(call.call_id, a_reply(text)) for call, text in zip(calls, noise))
    first = await asyncio.wait_for(asyncio.gather(*settling, return_exceptions=True), 20)
    full = [n for n, error in enumerate(first) if isinstance(error, StoreFull)]
    assert full and all(isinstance(error, (int, StoreFull)) for error in first), first
    assert "free some room" in str(first[full[0]])
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await asyncio.gather(*(store.settle(calls[n].call_id, a_reply(noise[n])) for n in full))
    assert all(store.reply(a_question(n).fingerprint).text == noise[n] for n in range(100))
    print(store.books(JOB).spent, store.books(JOB).reserved)
    await store.close()

asyncio.run(main())
"""


def test_a_full_disk_is_told_to_all_and_work_goes_on_when_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    done = subprocess.run([sys.executable, "-c", _FULL, str(path)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["400", "0"], done.stderr
    assert check_store(path) == []


def test_a_lock_that_is_held_too_long_fails_the_batch_and_not_the_store(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db", busy_timeout_s=0.1)
        await store.open_budget(JOB, 100)
        holder = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        results = await asyncio.gather(*(ask_for(store, a_question(n)) for n in range(3)), return_exceptions=True)
        assert [type(result) for result in results] == [StoreLocked] * 3
        holder.execute("ROLLBACK")
        holder.close()
        assert isinstance(await ask_for(store, a_question()), Granted)
        assert store.books(JOB) == Books(cap=100, spent=0, reserved=10, uncertain=0)
        await store.close()

    asyncio.run(scenario())


def test_a_call_that_nobody_has_is_released_once_the_store_can_be_written_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db", busy_timeout_s=0.05)
        await store.open_budget(JOB, 100)
        granted = await ask_for(store, a_question(1))
        assert isinstance(granted, Granted)
        assert isinstance(store._writer, Writer)
        holder = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        store._writer.abandon(granted)
        with pytest.raises(StoreLocked):
            await ask_for(store, a_question(2))
        holder.execute("ROLLBACK")
        holder.close()
        await store.open_budget(JOB, 100)  # which the thread writes, and what it owes with it
        assert store.books(JOB).reserved == 0
        await store.close()

    asyncio.run(scenario())


def test_the_event_loop_does_not_wait_for_a_lock(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 100)
        holder = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(ask_for(store, a_question()))
        began = time.monotonic()
        await asyncio.sleep(0.05)
        assert store.reply(a_question().fingerprint) is None
        assert time.monotonic() - began < 1
        assert not waiting.done()
        holder.execute("ROLLBACK")
        holder.close()
        assert isinstance(await waiting, Granted)
        await store.close()

    asyncio.run(scenario())


def test_a_loop_that_was_closed_does_not_end_the_writer(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")

    async def leave_early() -> None:
        await store.open_budget(JOB, 100)
        for number in range(5):
            asyncio.ensure_future(ask_for(store, a_question(number))).add_done_callback(lambda _: None)
        await asyncio.sleep(0)

    async def come_back() -> None:
        while store.books(JOB).reserved:
            await asyncio.sleep(0.001)
        assert isinstance(await ask_for(store, a_question()), Granted)
        await store.close()

    asyncio.run(leave_early())
    asyncio.run(come_back())


def test_a_close_that_is_cancelled_still_ends_the_writer(tmp_path: Path) -> None:
    async def scenario() -> None:
        others = set(threading.enumerate())
        store = open_store(tmp_path / "store.db")
        (writer,) = set(threading.enumerate()) - others
        closing = asyncio.ensure_future(store.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        await asyncio.to_thread(writer.join, 10)
        assert not writer.is_alive()

    asyncio.run(scenario())


def _store_with_an_answer(path: Path) -> None:
    async def scenario() -> None:
        store = open_store(path)
        await store.open_budget(JOB, 100)
        result = await ask_for(store, a_question(1, LONG_TEXT))
        assert isinstance(result, Granted)
        await store.settle(result.call_id, a_reply(LONG_TEXT))
        await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE reply SET body = x'00'", "reply 1 does not fit its hash"),
        ("UPDATE part SET codec = 9", "part 1 does not fit its hash"),
        ("UPDATE question SET body = x'00'", "question 1 does not fit its fingerprint"),
        ("UPDATE frame SET text = replace(text, 'small', 'large')", "question 1 does not fit its fingerprint"),
        ("UPDATE question SET frame = NULL", "question 1 does not fit its fingerprint"),
        ("DELETE FROM part", "question 1 lacks the text of 1 of its parts"),
        (
            "UPDATE budget SET spent = spent + 1",
            "budget `job` says 5 micro-credits are spent, and its calls add up to 4",
        ),
        (
            "UPDATE budget SET reserved = 10",
            "budget `job` says 10 micro-credits are reserved, and its calls add up to 0",
        ),
        ("DELETE FROM reply", "call 1 is settled and has no reply"),
        ("UPDATE reply SET price = 1", "call 1 was billed 4 micro-credits, which none of its replies cost"),
        (
            "UPDATE call SET state = 'released'; UPDATE budget SET spent = 4",
            "call 1 is released and was billed 4 micro-credits",
        ),
        ("UPDATE call SET owner = 77", "row 1 of table call names a row of table owner that is not there"),
    ],
)
def test_the_check_finds_what_was_changed_behind_the_stores_back(tmp_path: Path, damage: str, found: str) -> None:
    path = tmp_path / "store.db"
    _store_with_an_answer(path)
    connection = sqlite3.connect(path)
    connection.executescript(damage)
    connection.close()
    assert check_store(path) == [found]


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE run SET facts = x'00', facts_codec = 0", "run run-1 cannot be read"),
        ("UPDATE run SET result = x'00', result_codec = 1", "run run-1 cannot be read"),
        ("UPDATE thread SET fingerprints = x'00'", "thread run-1/t001 cannot be read"),
        ("UPDATE event SET data = '{' WHERE seq = 2", "event 2 of run run-1 cannot be read"),
        ("UPDATE event SET data = '[]' WHERE seq = 2", "event 2 of run run-1 cannot be read"),
    ],
)
def test_a_record_that_is_damaged_is_found_and_told_to_who_reads_it(tmp_path: Path, damage: str, found: str) -> None:
    path = tmp_path / "store.db"

    async def write() -> None:
        store = open_store(path)
        await store.save_run(a_run())
        await store.save_threads([a_thread()])
        await store.append_events("run-1", events_of("run.created", "run.ended"))
        await store.close()

    async def read() -> None:
        store = open_store(path)
        try:
            with pytest.raises(StoreError, match=r"a (record|text) in the store is damaged"):
                _ = store.run("run-1"), list(store.traces("run-1")), store.events("run-1")
        finally:
            await store.close()

    asyncio.run(write())
    assert check_store(path) == []
    connection = sqlite3.connect(path)
    connection.executescript(damage)
    connection.close()
    assert check_store(path) == [found]
    asyncio.run(read())


def test_a_damaged_answer_is_told_and_never_given(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    _store_with_an_answer(path)
    connection = sqlite3.connect(path)
    connection.executescript("UPDATE reply SET body = substr(body, 1, 20)")
    connection.close()

    async def scenario() -> None:
        store = open_store(path)
        with pytest.raises(StoreError, match="damaged"):
            store.reply(a_question(1, LONG_TEXT).fingerprint)
        with pytest.raises(StoreError, match="damaged"):
            await ask_for(store, a_question(1, LONG_TEXT))
        await store.close()

    asyncio.run(scenario())


def test_a_file_that_was_overwritten_ends_in_a_message_and_not_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def ask_it() -> None:
        store = open_store(path)
        try:
            await asyncio.wait_for(ask_for(store, a_question()), 20)
        finally:
            await store.close()

    _store_with_an_answer(path)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    with pytest.raises(StoreError, match="is damaged"):
        asyncio.run(ask_it())


def test_looking_on_never_keeps_the_log_from_being_emptied(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario() -> None:
        store = open_store(path)
        await store.open_budget(JOB, 10**9)
        for number in range(3):
            result = await ask_for(store, a_question(number, LONG_TEXT))
            assert isinstance(result, Granted)
            await store.settle(result.call_id, a_reply())
        exported, checked = SqliteTools(path).export(), SqliteTools(path).check()
        next(exported)
        assert list(checked) == []
        for look in (store.version, store.runs, lambda: store.books(JOB), lambda: store.progress("run-1")):
            look()
        other = sqlite3.connect(path)
        busy, _, _ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        other.close()
        assert busy == 0
        await store.close()

    asyncio.run(scenario())


def test_a_python_with_an_old_sqlite_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 26, 0))
    with pytest.raises(StoreError, match=r"needs 3\.33 or newer"):
        open_store(tmp_path / "store.db")
    assert list(tmp_path.iterdir()) == []


def test_the_check_refuses_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        check_store(tmp_path / "store.db")
    (tmp_path / "store.db").touch()
    with pytest.raises(StoreError, match="format 0"):
        check_store(tmp_path / "store.db")


@pytest.mark.parametrize("replaced", [False, True], ids=["deleted", "replaced"])
def test_a_store_that_is_gone_grants_no_call(tmp_path: Path, replaced: bool) -> None:
    path = tmp_path / "folder" / "store.db"

    async def scenario() -> None:
        store = open_store(path)
        await store.open_budget(JOB, 100)
        path.parent.rename(tmp_path / "away")
        if replaced:
            await open_store(path).close()
        with pytest.raises(StoreGone, match="was deleted or replaced"):
            await ask_for(store, a_question(1))
        if not replaced:
            (tmp_path / "away").rename(path.parent)
            assert isinstance(await ask_for(store, a_question(1)), Granted)
        await store.close()

    asyncio.run(scenario())


_FULL_AT_ONCE = """
import asyncio, resource, sys
from planloom import StoreFull
from planloom.testing.store_samples import JOB, a_question, a_reply, ask_for
from planloom_sqlite import open_store

async def main():
    first = open_store(sys.argv[1])
    await first.open_budget(JOB, 10**9)
    call = await ask_for(first, a_question(1))
    await first.settle(call.call_id, a_reply("yes"))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    second = open_store(sys.argv[1])
    assert second.reply(a_question(1).fingerprint).text == "yes"
    assert second.books(JOB).spent > 0
    try:
        await ask_for(second, a_question(2))
    except StoreFull:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        await second.settle((await ask_for(second, a_question(2))).call_id, a_reply("now"))
        print("full, then written")
    await second.close()
    await first.close()

asyncio.run(main())
"""


def test_a_store_on_a_full_disk_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    done = subprocess.run([sys.executable, "-c", _FULL_AT_ONCE, str(path)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "full, then written\n", done.stderr
    assert check_store(path) == []


def test_a_store_is_closed_while_another_thread_reads_which_is_told_so(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    place = Place(str(tmp_path / "store.db"), 5.0)
    open_writer(place).close()
    readers = Readers(place, None)
    said: list[str] = []

    def read() -> None:
        readers.row("SELECT 1")
        begun.set()
        try:
            readers.row(endless)
        except StoreError as error:
            said.append(str(error))

    begun = threading.Event()
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    assert begun.wait(10)
    readers.close()
    thread.join(10)
    assert said == [f"the store {place.location} is closed; open it again"]


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


def test_what_a_thread_read_through_ends_with_it(tmp_path: Path) -> None:
    place = Place(str(tmp_path / "store.db"), 5.0)
    open_writer(place).close()
    readers, opened = Readers(place, None), open_files()
    readers.row("SELECT 1")
    once = open_files()
    assert once > opened
    for _ in range(5):
        thread = threading.Thread(target=readers.row, args=("SELECT 1",))
        thread.start()
        thread.join()
    assert open_files() == once
    readers.close()
    assert open_files() == opened
