"""What a store knows without a look at the file: that a question was never asked."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom import StoreError
from planloom.questions import Question, Reply
from planloom.stores import Granted
from planloom.testing.doors import ENDPOINT, doorway
from planloom.testing.store_samples import JOB, a_question, a_reply, ask_for, grant
from planloom_sqlite import SqliteStore, _ledger, open_store

_QUESTIONS = [a_question(number) for number in range(6)]


async def _asked(store: SqliteStore, question: Question, open_calls: list[str]) -> None:
    result = await ask_for(store, question, 0)
    if isinstance(result, Granted):
        open_calls.append(result.call_id)


async def _asked_again(store: SqliteStore, question: Question, open_calls: list[str]) -> None:
    result = await ask_for(store, question, 0, look=False)
    if isinstance(result, Granted):
        open_calls.append(result.call_id)


async def _settled(store: SqliteStore, question: Question, open_calls: list[str]) -> None:
    if open_calls:
        number = open_calls.pop()
        await store.settle(number, a_reply(f"to call {number}", price=0))


async def _released(store: SqliteStore, question: Question, open_calls: list[str]) -> None:
    if open_calls:
        await store.release(open_calls.pop())


async def _uncertain(store: SqliteStore, question: Question, open_calls: list[str]) -> None:
    if open_calls:
        await store.mark_uncertain(open_calls[-1])


async def _refused(store: SqliteStore, question: Question, open_calls: list[str]) -> None:
    with pytest.raises(TypeError):
        await asyncio.gather(ask_for(store, question, 10**9), store.post_request("r", "x", object()))


_DEEDS = (_asked, _asked_again, _settled, _released, _uncertain, _refused)
_STEPS = st.lists(st.tuples(st.booleans(), st.sampled_from(_DEEDS), st.sampled_from(_QUESTIONS)), max_size=20)


def _in_the_file(reader: sqlite3.Connection, question: Question) -> str | None:
    """Return what a question's answer is, without any of the store's memory."""
    row = reader.execute(_ledger.ANSWER, (bytes.fromhex(question.fingerprint),)).fetchone()
    return None if row is None else _ledger.reply_from(row).text


async def _interleaved(path: Path, steps: list[tuple[bool, Any, Question]]) -> None:
    one, two = open_store(path), open_store(path)
    reader = sqlite3.connect(path)
    try:
        await one.open_budget(JOB, 10**6)
        open_calls: list[str] = []
        for is_own, deed, question in steps:
            await deed(one if is_own else two, question, open_calls)
            if not is_own:
                await one.set_cap(JOB, 10**6)
            for each in _QUESTIONS:
                was_asked = one.question(each.fingerprint) is not None
                reply = one.reply(each.fingerprint)
                assert (None if reply is None else reply.text) == _in_the_file(reader, each)
                assert reply is None or not one.lacks(each.fingerprint)
                assert one.lacks(each.fingerprint) is not was_asked or deed is _refused
    finally:
        reader.close()
        await one.close()
        await two.close()


@settings(max_examples=40)
@given(_STEPS)
def test_what_a_store_knows_is_what_the_file_says_once_it_has_written(steps: list[tuple[bool, Any, Question]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_interleaved(Path(folder) / "store.db", steps))


def _with_open(path: Path | str, deed: Callable[[SqliteStore], Coroutine[Any, Any, None]]) -> None:
    async def scenario() -> None:
        store = open_store(path)
        try:
            await store.open_budget(JOB, 10**9)
            await deed(store)
        finally:
            await store.close()

    asyncio.run(scenario())


async def _answer(store: SqliteStore, number: int) -> None:
    await store.settle(await grant(store, a_question(number)), a_reply())


def test_a_store_in_memory_knows_too() -> None:
    async def scenario(store: SqliteStore) -> None:
        await _answer(store, 1)
        assert not store.lacks(a_question(1).fingerprint)
        assert store.lacks(a_question(2).fingerprint)

    _with_open(":memory:", scenario)


def test_a_closed_store_claims_nothing_and_says_that_it_is_closed(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        assert store.lacks(a_question().fingerprint)
        await store.close()
        assert not store.lacks(a_question().fingerprint)
        with pytest.raises(StoreError, match="closed"):
            store.reply(a_question().fingerprint)

    asyncio.run(scenario())


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A store of more answers than are marked for nothing."""

    async def scenario(store: SqliteStore) -> None:
        await asyncio.gather(*(_answer(store, number) for number in range(600)))

    _with_open(tmp_path / "store.db", scenario)
    return tmp_path / "store.db"


def test_a_large_ledger_is_read_once_looks_have_paid_for_it(large: Path) -> None:
    async def scenario(store: SqliteStore) -> None:
        unknown = a_question(10_000).fingerprint
        assert not store.lacks(unknown)
        for number in range(10_001, 10_013):
            assert store.reply(a_question(number).fingerprint) is None
        await store.set_cap(JOB, 10**9)
        assert store.lacks(unknown)
        assert not any(store.lacks(a_question(number).fingerprint) for number in range(600))

    _with_open(large, scenario)


class _Counting:
    """A client that counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        self.asked.append(question.messages[-1].text)
        return a_reply(f"answer {len(self.asked)}", price=0)

    async def close(self) -> None:
        pass


def test_what_another_process_answered_in_this_moment_is_not_asked_again(tmp_path: Path) -> None:
    path, client = tmp_path / "store.db", _Counting()

    async def scenario(store: SqliteStore) -> None:
        other = open_store(path)
        async with doorway(store, {ENDPOINT: client}, budget=JOB) as here:
            await here.ask("first")
            async with doorway(other, {ENDPOINT: client}, budget=JOB) as there:
                answer = await there.ask("second")
            assert store.lacks(here.question("second").fingerprint)
            again = await here.ask("second")
        assert (again.text, again.cached) == (answer.text, True)
        assert (here.door.asked, here.door.reused) == (1, 1)
        await other.close()

    _with_open(path, scenario)
    assert client.asked == ["first", "second"]


def test_who_cannot_pay_is_told_the_answer_that_another_process_stored_in_this_moment(tmp_path: Path) -> None:
    path, client = tmp_path / "store.db", _Counting()

    async def scenario(store: SqliteStore) -> None:
        other = open_store(path)
        async with doorway(store, {}, budget=JOB) as poor, doorway(store, {}, budget=JOB, mode="replay") as replay:
            async with doorway(other, {ENDPOINT: client}, budget=JOB) as rich:
                answer = await rich.ask("a question")
            assert store.lacks(poor.question("a question").fingerprint)
            assert (await poor.ask("a question")).text == answer.text
            assert (await replay.ask("a question")).text == answer.text
        await other.close()

    _with_open(path, scenario)
