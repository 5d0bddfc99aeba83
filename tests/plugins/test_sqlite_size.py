"""What a store weighs: a shared text once, and a write-ahead log that followers do not pin."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from planloom.questions import Part, Question, message_of
from planloom.store_tools import Pruning
from planloom.stores import Event, Granted
from planloom.testing.store_samples import JOB, a_question, a_reply, a_run, a_thread, ask_for
from planloom_sqlite import SqliteTools, check_store, open_store

_WORDS = [f"word{n}" for n in range(3000)]


def _text(size: int) -> str:
    return " ".join(random.Random(size).choices(_WORDS, k=size // 8))[:size]


def test_a_long_text_that_many_questions_share_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shard = Part(_text(250_000))

    def ask_about(number: int) -> Question:
        return Question(
            endpoint="local",
            model="small",
            messages=(message_of("user", shard, f"What of line {number}?"),),
            parameters={},
        )

    async def scenario() -> None:
        store = open_store(path)
        await store.open_budget(JOB, 10**9)
        results = await asyncio.gather(*(ask_for(store, ask_about(n)) for n in range(500)))
        assert all(isinstance(result, Granted) for result in results)
        stored = store.question(ask_about(499).fingerprint)
        assert stored is not None
        assert stored.messages[0].parts[0].text == shard.text
        await store.close()

    asyncio.run(scenario())
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM part").fetchone() == (1,)
    connection.close()
    assert path.stat().st_size < 1_000_000


def test_large_arguments_and_results_of_a_run_are_packed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    run = a_run(facts={"args": {"text": _text(1_000_000)}}, result=[_text(500_000)])

    async def scenario() -> None:
        store = open_store(path)
        await store.save_run(run)
        assert store.run(run.id) == run
        await store.close()

    asyncio.run(scenario())
    assert path.stat().st_size < 750_000
    (record,) = SqliteTools(path).export(["run"])
    assert (record["facts"], record["result"]) == (run.facts, run.result)


def test_large_results_of_workers_and_entries_of_the_journal_are_packed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    threads = [a_thread(number, result={"text": _text(50_000)}) for number in range(10)]
    entries = {f"{number}.0": [_text(50_000)] for number in range(10)}

    async def scenario() -> None:
        store = open_store(path)
        await store.save_threads(threads)
        for place, value in entries.items():
            await store.write_journal("run-1", place, value)
        assert store.threads("run-1") == threads
        assert store.journal("run-1") == entries
        await store.close()

    asyncio.run(scenario())
    assert path.stat().st_size < 500_000


def _with_schema(number: int) -> Question:
    """Return a question whose parameters are large, as a schema or a list of tools is."""
    return Question(
        endpoint="local",
        model="small",
        messages=(message_of("system", "Read closely."), message_of("user", f"What of line {number}?")),
        parameters={"response_format": {"schema": _text(20_000)}},
        sample=(0, number),
    )


def test_what_is_sent_with_every_question_of_a_kind_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario() -> None:
        store = open_store(path)
        await store.open_budget(JOB, 10**9)
        for number in range(100):
            granted = await ask_for(store, _with_schema(number))
            assert isinstance(granted, Granted)
            await store.settle(granted.call_id, a_reply())
        stored = store.question(_with_schema(42).fingerprint)
        assert stored is not None
        assert stored.fingerprint == _with_schema(42).fingerprint
        await store.close()

    asyncio.run(scenario())
    assert path.stat().st_size < 250_000
    everything = Pruning(before=datetime(2100, 1, 1, tzinfo=UTC), answers=True)
    assert SqliteTools(path).prune(everything, apply=True).shrunk
    assert b"response_format" not in path.read_bytes()

    async def once_more() -> None:
        store = open_store(path)
        assert isinstance(await ask_for(store, _with_schema(42)), Granted)
        await store.close()

    asyncio.run(once_more())
    assert check_store(path) == []


def test_what_every_event_of_a_type_repeats_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    run = "a-run-with-a-rather-long-title-1a2b3c"
    data = {"thread": f"{run}/t001", "a field with a rather long name": 1, "and a second one": 2}

    async def scenario() -> None:
        store = open_store(path)
        events = [Event(seq=number, t=0.0, type="run.agent_ended", data=data) for number in range(1, 2001)]
        await store.append_events(run, events)
        assert store.events(run) == events
        await store.close()

    asyncio.run(scenario())
    # In pages as full as SQLite fills them: a row has its number, its time, its shape, and three values.
    assert path.stat().st_size < 2_000 * 50 + 33 * 4096


def test_a_run_that_cannot_be_written_keeps_no_answer_of_its_batch_from_being_written(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 100)
        granted = await ask_for(store, a_question())
        assert isinstance(granted, Granted)
        unwritable = store.save_run(a_run(facts={"args": object()}))
        fault, version = await asyncio.gather(
            unwritable, store.settle(granted.call_id, a_reply("yes")), return_exceptions=True
        )
        assert isinstance(fault, TypeError)
        reply = store.reply(a_question().fingerprint)
        assert reply is not None
        assert (reply.version, reply.text) == (version, "yes")
        await store.close()

    asyncio.run(scenario())


def test_a_follower_does_not_pin_the_write_ahead_log(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario() -> int:
        writer, follower = open_store(path), open_store(path)
        await writer.open_budget(JOB, 10**9)
        largest, seen = 0, 0
        for number in range(150):
            result = await ask_for(writer, a_question(number))
            assert isinstance(result, Granted)
            events = [
                Event(seq=number * 20 + n, t=0.0, type="run.log", data={"message": "m" * 400}) for n in range(1, 21)
            ]
            await asyncio.gather(
                writer.settle(result.call_id, a_reply(_text(80_000 + number))),
                writer.append_events("run-1", events),
            )
            seen += len(follower.events("run-1", after=seen))
            largest = max(largest, (tmp_path / "store.db-wal").stat().st_size)
        assert seen == 3000
        await writer.close()
        await follower.close()
        return largest

    assert asyncio.run(scenario()) < 8_000_000
