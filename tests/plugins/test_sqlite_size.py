"""What a store weighs: a shared text once, and a write-ahead log that followers do not pin."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path

from planloom.questions import Part, Question, message_of
from planloom.stores import Event, Granted
from planloom.testing.store_samples import JOB, a_question, a_reply, a_run, ask_for
from planloom_sqlite import SqliteTools, open_store

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
