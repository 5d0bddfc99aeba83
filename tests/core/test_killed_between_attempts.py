"""A call that waits for its next attempt has nothing out: a process that is killed meanwhile leaves nothing charged."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from planloom.clients import Endpoint
from planloom.stores import Store
from planloom.testing.doors import BUDGET, ENDPOINT, Doorway, at_the_door, doorway
from planloom.testing.folders import Folder
from planloom.testing.loopback import LoopbackServer, Received, completion, echo, json_answer
from planloom_openai import open_client
from planloom_sqlite import open_store

from .asking import MakeFolder

ONE = 'result = agent("is it so?")\n'


def busy(status: int = 429, **headers: str) -> Any:
    return json_answer({"error": {"message": "too many requests"}}, status, headers)


def kill_when(folder: Folder, event: str, requests: int) -> str:
    """Run the plan, and kill it once such an event is told and so many requests were made; return the run's id."""
    process = folder.start("run", "job.plan")
    folder.wait_for(process, requests)

    def told() -> bool:
        run = folder.newest().id
        return any(row.type == event for row in folder.store(lambda store: store.events(run)))

    folder.wait_until(told)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return folder.newest().id


def money_of(folder: Folder) -> Any:
    run = folder.newest()

    def books(store: Store) -> tuple[int, int, int]:
        books = store.books(run.budget)
        return books.spent, books.reserved, books.uncertain

    return folder.store(books)


@pytest.mark.command
@pytest.mark.parametrize(
    "refusal",
    [busy(429, **{"retry-after": "90"}), busy(503, **{"retry-after": "90"}), busy(402)],
    ids=["too many", "overloaded", "used up"],
)
def test_a_run_that_is_killed_while_a_refused_call_waits_owes_nothing(folder_with: MakeFolder, refusal: Any) -> None:
    folder = folder_with(lambda _: refusal, ONE)
    run = kill_when(folder, "run.attempt", 1)
    assert money_of(folder) == (0, 0, 0)
    folder.server.answer = echo
    code, output, _ = folder.run("resume", run)
    assert (code, output.strip(), folder.server.total) == (0, "ok: is it so?", 2)
    assert money_of(folder) == (200_000, 0, 0)


@pytest.mark.command
def test_a_run_that_is_killed_when_the_next_attempt_is_out_leaves_it_uncertain(folder_with: MakeFolder) -> None:
    answers = iter([busy(429)])
    folder = folder_with(lambda _: next(answers, completion("late").hanging()), ONE)
    run = kill_when(folder, "run.attempt", 2)
    assert money_of(folder) == (0, 0, 200_000)
    folder.server.answer = echo
    assert folder.run("resume", run)[0] == 0
    assert money_of(folder) == (200_000, 0, 200_000)


def waiting(folder: Folder) -> int:
    """Return how many calls have nothing out, as the store knows."""
    with closing(sqlite3.connect(folder.path / "store.db")) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM call WHERE state = 'sent' AND sent_at = 0").fetchall()
    return int(count)


@pytest.mark.command
def test_a_run_that_is_killed_while_its_last_refusal_waits_for_earlier_calls_owes_nothing_for_it(
    folder_with: MakeFolder,
) -> None:
    faults = iter([busy(500)] * 3)

    def script(request: Received) -> Any:
        return completion("late").hanging() if request.question == "slow" else next(faults, busy(429))

    folder = folder_with(script, 'result = parallel([lambda: agent("slow"), lambda: agent("is it so?")])\n')
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 5)
    # Whoever reads a refusal may be quicker than the server counts it as sent.
    folder.wait_until(lambda: waiting(folder) == 1 and folder.server.in_flight == 1)
    assert folder.server.total == 5
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert money_of(folder) == (0, 0, 200_000)  # of the one that is out
    folder.server.answer = echo
    assert folder.run("resume", folder.newest().id)[0] == 0
    assert money_of(folder) == (400_000, 0, 200_000)


@contextmanager
def marks(store: str) -> Iterator[list[int]]:
    """Give how often calls are marked as sent or waiting meanwhile, once that is over."""
    counts: list[int] = []
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE marked (call)")
        connection.execute(
            "CREATE TRIGGER mark AFTER UPDATE ON call WHEN new.sent_at != old.sent_at "
            "BEGIN INSERT INTO marked VALUES (new.id); END"
        )
        yield counts
        counts += connection.execute("SELECT count(*) FROM marked").fetchone()
        connection.execute("DROP TRIGGER mark")
        connection.execute("DROP TABLE marked")


def calls_of(store: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute("SELECT state, worst, price FROM call ORDER BY id").fetchall()


def test_a_call_has_one_reservation_and_one_settlement_however_often_it_is_refused(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with marks(door.store.where) as marked:
            await door.ask("q")
        assert server.total == 3
        assert calls_of(door.store.where) == [("settled", 200_000, 200_000)]
        assert marked == [4]

    at_the_door(tmp_path / "store.db", [busy(429), busy(503), completion()], scenario, speed=100.0)


def test_a_call_that_is_answered_at_once_is_not_marked(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with marks(door.store.where) as marked:
            await door.ask_all([f"q{n}" for n in range(20)])
        assert (server.total, marked) == (20, [0])

    at_the_door(tmp_path / "store.db", echo, scenario)


@pytest.mark.parametrize("refusal", [busy(429), busy(503), busy(402, **{"retry-after": "1"})])
def test_a_call_that_is_refused_after_its_owner_was_taken_for_dead_owes_nothing(tmp_path: Path, refusal: Any) -> None:
    """As when a machine sleeps while the request is out."""
    slept_s = [0.0]

    def script(request: Received) -> Any:
        if slept_s[0]:
            return completion("yes")
        slept_s[0] = 3_600.0
        return refusal

    async def scenario() -> None:
        store = open_store(tmp_path / "store.db", clock=lambda: time.time() + slept_s[0])
        async with LoopbackServer(script) as server:
            client = open_client(Endpoint(name=ENDPOINT, client="openai", url=server.url))
            async with doorway(store, {ENDPOINT: client}) as door:
                assert (await door.ask("q")).text == "yes"
            await client.close()
            books = store.books(BUDGET)
            assert (books.spent, books.reserved, books.uncertain) == (200_000, 0, 0)
            assert calls_of(store.where) == [("released", 200_000, 0), ("settled", 200_000, 200_000)]
        await store.close()

    asyncio.run(scenario())


def test_a_call_whose_reservation_was_given_up_while_it_waited_is_reserved_anew(tmp_path: Path) -> None:
    """As happens to a process that was suspended for longer than its lease."""

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        def script(request: Received) -> Any:
            if server.total > 1:
                return completion("yes")
            with closing(sqlite3.connect(door.store.where)) as connection:
                ((number,),) = connection.execute("SELECT id FROM call").fetchall()
            given_up.append(str(number))
            return busy(429, **{"retry-after": "60"})

        given_up: list[str] = []
        server.answer = script
        asking = asyncio.ensure_future(door.ask("q"))
        while not door.fields("run.attempt"):
            await asyncio.sleep(0.1)
        await door.store.mark_waiting(given_up[0])  # after the call's own mark, which was asked for before
        await door.store.release(given_up[0])
        reply = await asking
        assert (reply.text, server.total) == ("yes", 2)
        assert calls_of(door.store.where) == [("released", 200_000, 0), ("settled", 200_000, 200_000)]
        books = door.store.books(BUDGET)
        assert (books.spent, books.reserved, books.uncertain) == (200_000, 0, 0)

    at_the_door(tmp_path / "store.db", echo, scenario, speed=100.0)
