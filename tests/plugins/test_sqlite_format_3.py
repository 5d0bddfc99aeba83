"""A store of format 3, whose rows repeated what they now name by number, is brought up to date with all it holds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from planloom import StoreError, StoreLocked
from planloom.processes import this_machine
from planloom.store_tools import Pruning
from planloom.stores import Granted
from planloom.testing.store_samples import a_question, a_reply, ask_for, events_of
from planloom_sqlite import SqliteStore, SqliteTools, check_store, open_store

CASES = Path(__file__).with_name("cases")
HELD = [json.loads(line) for line in (CASES / "store_format_3.jsonl").read_text("utf-8").splitlines()]
"""What the planloom that wrote the store exported of it."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        connection.executescript((CASES / "store_format_3.sql").read_text("utf-8"))
    return tmp_path / "store.db"


def damaged(path: Path, *statements: str) -> None:
    """Change a store behind its back."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(";".join(statements))


def opened(path: Path, look: Callable[[SqliteStore], None] = lambda store: None) -> None:
    """Open a store, which brings it up to date, look at it, and close it again."""

    async def scenario() -> None:
        store = open_store(path)
        try:
            look(store)
        finally:
            await store.close()

    asyncio.run(scenario())


def exported(path: Path) -> list[object]:
    """Return everything that a store holds as plain data."""
    return [json.loads(json.dumps(record)) for record in SqliteTools(path).export()]


def format_of(path: Path) -> int:
    """Return the number of a store's format."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_all_that_it_holds_is_what_it_held(path: Path) -> None:
    opened(path)
    assert exported(path) == HELD
    assert check_store(path) == []


def test_it_is_read_as_before(path: Path) -> None:
    def look(store: SqliteStore) -> None:
        for record in HELD:
            if record["kind"] == "question":
                question = store.question(record["fingerprint"])
                assert (question is None) == record["pruned"]
                assert question is None or question.fingerprint == record["fingerprint"]
        assert [thread.id for thread in store.threads("run-1")] == ["run-1/t001", "run-1/t002"]
        assert [trace.fingerprints for trace in store.traces("run-1")] == [
            tuple(record["fingerprints"]) for record in HELD if record["kind"] == "thread" and record["run"] == "run-1"
        ]
        assert store.newest_thread("run-1") == 4
        assert store.journal("run-1") == {"1.0": 98.5, "2.0": ["a long list"] * 200}
        assert store.journal("run-2") == {"1.0": None}
        assert store.progress("run-1").holes == 1
        assert [event.type for event in store.events("run-1", after=6)] == ["run.resumed", "run.ended"]
        assert [call.thread for call in store.uncertain_calls("job")] == ["run-1/t004"]
        assert store.money("run-1") == {"calls": 4, "spent": 12, "uncertain": 10, "reserved": 0}
        assert [request.what for request in store.requests("run-1")] == ["cancel"]

    opened(path, look)


def test_it_goes_on(path: Path) -> None:
    async def scenario() -> None:
        store = open_store(path)
        answered = await ask_for(store, a_question(3))
        assert not isinstance(answered, Granted)
        granted = await ask_for(store, a_question(9, "asked again, pruned before " * 20))
        assert isinstance(granted, Granted)
        await store.settle(granted.call_id, a_reply())
        await store.append_events("run-2", events_of("run.created", "run.log"))
        assert [event.type for event in store.events("run-2")] == ["run.created", "run.log"]
        await store.close()

    asyncio.run(scenario())
    assert check_store(path) == []
    SqliteTools(path).prune(Pruning(runs=("run-1", "run-2"), answers=True), apply=True)
    assert check_store(path) == []
    assert len([record for record in exported(path) if record["kind"] == "call"]) == 8  # type: ignore[index]


_KILLED = """
import os, signal, sqlite3, sys
from planloom_sqlite import _schema

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that much of it is in the log by then

def die_at(statement):
    if statement.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

connection.set_trace_callback(die_at)
_schema.migrate(connection, "here")
"""


@pytest.mark.parametrize(
    "at", ["CREATE TABLE run_name", "UPDATE question", "DROP TABLE call", "INSERT INTO new_event", "COMMIT"]
)
def test_a_kill_on_the_way_leaves_it_as_it_was(path: Path, at: str) -> None:
    died = subprocess.run([sys.executable, "-c", _KILLED, str(path), at], timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert format_of(path) == 3
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM event WHERE run = 'run-1'").fetchone() == (8,)
    opened(path)
    assert exported(path) == HELD


def test_it_stays_as_it_is_while_a_process_of_an_older_planloom_has_it_open(path: Path) -> None:
    alive = f"UPDATE owner SET lease_until = 9e9, machine = '{this_machine()}', pid = {os.getpid()}"
    damaged(path, f"{alive} WHERE id = 1")
    with pytest.raises(StoreLocked, match="an older planloom has the store"):
        open_store(path)
    assert format_of(path) == 3
    damaged(path, "UPDATE owner SET lease_until = NULL")
    opened(path)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE question SET body = x'00' WHERE id = 2", "question 2 does not fit its fingerprint"),
        ("UPDATE event SET data = '{' WHERE run = 'run-1' AND seq = 3", "event 3 of run run-1 cannot be read"),
        ("UPDATE thread SET fingerprints = '[\"x\"]' WHERE number = 2", "thread run-1/t002 cannot be read"),
        ("UPDATE thread SET result = '{' WHERE number = 2", "thread run-1/t002 cannot be read"),
    ],
)
def test_what_was_damaged_is_found_afterwards_as_before(path: Path, damage: str, found: str) -> None:
    damaged(path, damage)
    opened(path)
    assert check_store(path) == [found]


def test_what_cannot_be_brought_up_to_date_is_told_and_left(path: Path) -> None:
    damaged(path, "UPDATE reply SET created_at = 'yesterday' WHERE id = 2")
    with pytest.raises(StoreError, match="cannot be brought up to date, since it is damaged"):
        open_store(path)
    assert format_of(path) == 3
