"""The tools of the store of one SQLite file keep the contract of tools, and what is its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from planloom import StoreError
from planloom.store_tools import Pruning, StoreTools
from planloom.stores import Store
from planloom.testing.store_samples import JOB, LONG_TEXT, Opener, a_question, a_reply, a_run, events_of, grant
from planloom.testing.store_tools_contract import ALL, StoreToolsContract, filled
from planloom_sqlite import SqliteTools, open_store


class TestSqliteTools(StoreToolsContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Opener:
        return lambda: open_store(tmp_path / "store.db")

    @pytest.fixture
    def open_tools(self, tmp_path: Path) -> Callable[[], StoreTools]:
        return lambda: SqliteTools(tmp_path / "store.db")


def test_a_store_in_memory_has_no_tools() -> None:
    with pytest.raises(StoreError, match="a store in memory ends with its process"):
        SqliteTools(":memory:")


def test_looking_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def deed(store: Store) -> None:
        await store.settle(await grant(store, a_question(1, LONG_TEXT)), a_reply())

    filled(lambda: open_store(path), deed)
    before = path.read_bytes()
    tools = SqliteTools(path)
    tools.prune(Pruning(before=ALL.before, answers=True), apply=False)
    tools.stats()
    assert list(tools.check()) == []
    assert len(list(tools.export())) == 5
    assert path.read_bytes() == before


def test_pruning_gives_room_back_to_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def deed(store: Store) -> None:
        for number in range(200):
            await store.append_events(f"run-{number}", events_of(*["run.log"] * 50))
            await store.save_run(a_run(number))

    filled(lambda: open_store(path), deed)
    before = path.stat().st_size
    assert SqliteTools(path).prune(ALL, apply=True).shrunk
    assert path.stat().st_size < before / 2


def test_pruning_while_a_process_has_the_store_open_frees_room_for_what_comes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def deed(store: Store) -> None:
        await store.append_events("run-1", events_of(*["run.log"] * 2000))
        await store.save_run(a_run(1))
        assert not SqliteTools(path).prune(ALL, apply=True).shrunk
        assert SqliteTools(path).stats().free_bytes > 30_000
        assert store.events("run-1") == []

    filled(lambda: open_store(path), deed)


def test_a_text_that_was_pruned_by_another_is_stored_again_when_it_is_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario() -> None:
        store = open_store(path)
        await store.open_budget(JOB, 100)
        await store.settle(await grant(store, a_question(1, LONG_TEXT)), a_reply())
        connection = sqlite3.connect(path)  # as the tools do when no process is seen to have it open
        connection.executescript(
            "UPDATE question SET body = x'', codec = 255; UPDATE reply SET body = x'', codec = 255;"
            "DELETE FROM part; UPDATE meta SET value = value + 1 WHERE key = 'pruned'"
        )
        connection.close()
        await grant(store, a_question(2, LONG_TEXT))
        await store.close()

    asyncio.run(scenario())
    assert list(SqliteTools(path).check()) == []
