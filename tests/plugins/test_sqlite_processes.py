"""Several processes on one file: one cap, one asker a question, and nothing lost when one of them is killed."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from planloom.stores import Books
from planloom.testing.store_samples import JOB, a_question
from planloom_sqlite import SqliteStore, check_store, open_store

LEASE_S = 0.6


def beside(path: Path, command: str, lease_s: float = 60) -> subprocess.Popen[str]:
    """Start a process that does one command on the store."""
    script = Path(__file__).with_name("sqlite_process.py")
    arguments = [sys.executable, str(script), str(path), str(lease_s), command]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def with_open(path: Path, deed: Callable[[SqliteStore], Coroutine[Any, Any, None]], lease_s: float = 60) -> None:
    async def scenario() -> None:
        store = open_store(path, lease_s=lease_s)
        try:
            await deed(store)
        finally:
            await store.close()

    asyncio.run(scenario())


def granted_by(processes: list[subprocess.Popen[str]]) -> list[int]:
    """Wait for processes; return how many calls each was granted."""
    counts = []
    for process in processes:
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        counts.append(int(output))
    return counts


_GUARD = """
CREATE TRIGGER over_the_cap AFTER UPDATE ON budget WHEN NEW.spent + NEW.reserved + NEW.uncertain > NEW.cap
BEGIN SELECT RAISE(ABORT, 'the cap is passed'); END
"""


def test_one_cap_holds_for_four_processes_at_every_commit(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario(store: SqliteStore) -> None:
        await store.open_budget(JOB, 1000)
        guard = sqlite3.connect(path)
        guard.executescript(_GUARD)
        guard.close()
        assert sum(granted_by([beside(path, "spend") for _ in range(4)])) == 1000 // 9
        assert store.books(JOB) == Books(cap=1000, spent=999, reserved=0, uncertain=0)

    with_open(path, scenario)
    assert check_store(path) == []


def test_a_question_that_several_processes_have_is_asked_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario(store: SqliteStore) -> None:
        await store.open_budget(JOB, 10**6)
        assert sum(granted_by([beside(path, "same") for _ in range(2)])) == 1000
        assert store.books(JOB).spent == 9000

    with_open(path, scenario)


def _killed_in_a_burst(path: Path, after_s: float) -> set[int]:
    """Kill a process in the middle of its burst; return the questions whose settlement it had been told of."""
    process = beside(path, "burst", LEASE_S)
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(after_s)
    process.kill()
    output, _ = process.communicate(timeout=30)
    # The last line may be cut.
    return {int(line) for line in (first + output).splitlines(keepends=True) if line.endswith("\n")}


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.3])
def test_a_kill_loses_no_settled_reply_and_the_books_balance(tmp_path: Path, after_s: float) -> None:
    path = tmp_path / "store.db"

    async def before(store: SqliteStore) -> None:
        await store.open_budget(JOB, 10**9)

    async def after(store: SqliteStore) -> None:
        lost = [number for number in settled if store.reply(a_question(number).fingerprint) is None]
        assert lost == []
        books = store.books(JOB)
        assert books.reserved == 0
        assert books.uncertain == 9 * len(store.uncertain_calls(JOB)) <= 9 * 200
        assert books.spent >= 9 * len(settled)

    with_open(path, before)
    settled = _killed_in_a_burst(path, after_s)
    time.sleep(LEASE_S)
    with_open(path, after)
    assert settled
    assert check_store(path) == []


@pytest.mark.slow
def test_twenty_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    for turn in range(20):
        folder = tmp_path / str(turn)
        folder.mkdir()
        test_a_kill_loses_no_settled_reply_and_the_books_balance(folder, turn * 0.02)


def test_a_living_process_notices_the_death_of_another(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario(store: SqliteStore) -> None:
        await store.open_budget(JOB, 10**9)
        _killed_in_a_burst(path, 0.05)
        version, patience = store.version(), time.monotonic() + 10
        while store.books(JOB).reserved:
            assert time.monotonic() < patience
            await asyncio.sleep(0.02)
        assert not store.books(JOB).uncertain or store.version() != version

    with_open(path, scenario, LEASE_S)


def test_a_process_that_was_suspended_past_its_lease_settles_what_it_had_sent(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario(store: SqliteStore) -> None:
        await store.open_budget(JOB, 10**6)
        sleeper = beside(path, "linger", LEASE_S)
        assert sleeper.stdin is not None
        assert sleeper.stdout is not None
        assert sleeper.stdout.readline() == "granted\n"
        sleeper.send_signal(signal.SIGSTOP)
        await _until(lambda: store.books(JOB).uncertain == 180)
        assert store.driver("run-1") is None
        assert len(store.uncertain_calls(JOB)) == 20
        sleeper.send_signal(signal.SIGCONT)
        sleeper.stdin.write("\n")
        sleeper.stdin.flush()
        assert sleeper.stdout.readline() == "settled\n"
        assert store.books(JOB) == Books(cap=10**6, spent=100, reserved=45, uncertain=0)
        assert store.driver("run-1") is not None
        sleeper.communicate("\n", timeout=30)
        assert sleeper.returncode == 0

    with_open(path, scenario, LEASE_S)
    assert check_store(path) == []


async def _until(happens: Callable[[], bool]) -> None:
    patience = time.monotonic() + 20
    while not happens():
        assert time.monotonic() < patience
        await asyncio.sleep(0.02)


def test_a_run_whose_driver_was_killed_can_be_claimed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def scenario(store: SqliteStore) -> None:
        await store.open_budget(JOB, 10**6)
        driver = beside(path, "linger")
        assert driver.stdout is not None
        assert driver.stdout.readline() == "granted\n"
        holder = await store.claim_run("run-1")
        assert holder is not None
        assert (holder.pid, holder.here) == (driver.pid, False)
        driver.kill()
        driver.communicate()
        assert store.driver("run-1") is None
        assert await store.claim_run("run-1") is None

    with_open(path, scenario)
