"""A call that is ended while it still connects owes nothing: no part of its request has left."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planloom import PlanloomError, RunCancelled
from planloom.clients import ModelClient
from planloom.questions import Question, Reply
from planloom.stores import Store
from planloom.testing.doors import BUDGET, Doorway
from planloom.testing.folders import Folder
from planloom.testing.loopback import LoopbackServer, completion, echo

from .asking import MANY, MakeFolder
from .never_connecting import client_at, door_to, never_connecting

AT_ONCE = 8


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.005)


def money(door: Doorway) -> tuple[int, int, int]:
    books = door.store.books(BUDGET)
    return books.spent, books.reserved, books.uncertain


def states(store: Path) -> list[str]:
    with closing(sqlite3.connect(store)) as connection:
        return [state for (state,) in connection.execute("SELECT state FROM call ORDER BY id")]


def books_of(folder: Folder) -> tuple[int, int, int]:
    budget = folder.newest().budget

    def read(store: Store) -> tuple[int, int, int]:
        books = store.books(budget)
        return books.spent, books.reserved, books.uncertain

    return folder.store(read)


@pytest.mark.command
def test_a_second_ctrl_c_while_calls_still_connect_leaves_nothing_charged(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MANY.format(count=20))
    with never_connecting() as silent:
        folder.configure(**{folder.server.url: silent.url})
        process = folder.start("run", "job.plan")
        folder.wait_until(lambda: silent.greetings == AT_ONCE)
        process.send_signal(signal.SIGINT)
        folder.wait_until(lambda: folder.store(lambda store: bool(store.events(store.runs(1)[0].id))))
        process.send_signal(signal.SIGINT)
        _, remarks = process.communicate(timeout=20)
        assert process.returncode == 130, remarks
        assert "unknown outcome" not in remarks
        assert b"question" not in silent.said
    assert books_of(folder) == (0, 0, 0)
    folder.configure()
    assert folder.run("resume", folder.newest().id)[0] == 0
    assert books_of(folder) == (20 * 200_000, 0, 0)


@pytest.mark.command
def test_what_is_killed_while_it_connects_may_have_been_sent_for_all_that_is_known(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MANY.format(count=20))
    with never_connecting() as silent:
        folder.configure(**{folder.server.url: silent.url})
        process = folder.start("run", "job.plan")
        folder.wait_until(lambda: silent.greetings == AT_ONCE)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert books_of(folder) == (0, 0, AT_ONCE * 200_000)


def test_a_call_that_is_cut_off_while_it_connects_is_released(tmp_path: Path) -> None:
    async def scenario() -> None:
        with never_connecting() as silent:
            async with door_to(tmp_path / "store.db", client_at(silent.url)) as door:
                asking = asyncio.ensure_future(door.ask("q"))
                await until(lambda: silent.greetings == 1)
                door.abort.set(RunCancelled("stopped"))
                assert await door.door.cut() == 1
                assert isinstance((await asyncio.gather(asking, return_exceptions=True))[0], RunCancelled)
                assert (money(door), door.door.asked, door.lane.slots.in_flight) == ((0, 0, 0), 0, 0)
                assert door.events == []
        assert states(tmp_path / "store.db") == ["released"]

    asyncio.run(scenario())


def test_a_call_that_is_cut_off_once_it_is_sent_stays_charged(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with (
            LoopbackServer(completion().hanging()) as server,
            door_to(tmp_path / "store.db", client_at(server.url)) as door,
        ):
            asking = asyncio.ensure_future(door.ask("q"))
            await until(lambda: server.total == 1)
            door.abort.set(RunCancelled("stopped"))
            await door.door.cut()
            await asyncio.gather(asking, return_exceptions=True)
            assert (money(door), door.door.asked) == ((0, 0, 200_000), 1)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("timeouts", "worker_s", "attempts"),
    [({}, 0.2, 1), ({"first_byte": 0.05}, 60.0, 4), ({"total": 0.05}, 60.0, 4), ({"connect": 0.05}, 60.0, 4)],
    ids=["its worker's time", "no first byte", "no answer", "no connection"],
)
def test_a_call_whose_time_is_up_while_it_connects_owes_nothing(
    tmp_path: Path, timeouts: dict[str, float], worker_s: float, attempts: int
) -> None:
    async def scenario() -> None:
        with never_connecting() as silent:
            async with door_to(tmp_path / "store.db", client_at(silent.url, **timeouts), seed=2) as door:
                with pytest.raises(PlanloomError) as caught:
                    await door.ask("q", worker_timeout_s=worker_s)
                assert "may have been billed" not in str(caught.value)
                assert (money(door), len(door.fields("run.attempt"))) == ((0, 0, 0), attempts)
        assert set(states(tmp_path / "store.db")) == {"released"}

    asyncio.run(scenario())


class InTurn:
    """Asks through one client after the other; the last of them is asked again and again."""

    def __init__(self, *clients: ModelClient) -> None:
        self._clients = list(clients)

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        client = self._clients.pop(0) if len(self._clients) > 1 else self._clients[0]
        return await client.ask(question, began=began)

    async def close(self) -> None:
        pass


def test_a_hedged_call_owes_nothing_for_the_request_that_still_connects(tmp_path: Path) -> None:
    async def scenario() -> None:
        with never_connecting() as silent:
            async with LoopbackServer(completion("second")) as server:
                clients = client_at(silent.url), client_at(server.url)
                async with door_to(tmp_path / "store.db", InTurn(*clients), *clients, hedge_after_s=0.05) as door:
                    assert (await door.ask("q")).text == "second"
                    assert (money(door), door.lane.slots.in_flight) == ((200_000, 0, 0), 0)

    asyncio.run(scenario())


@pytest.mark.parametrize("first", ["connects", "is out"])
def test_a_hedged_call_that_is_cut_off_owes_for_the_requests_that_are_out(tmp_path: Path, first: str) -> None:
    async def scenario() -> None:
        with never_connecting() as silent:
            async with LoopbackServer(completion().hanging()) as server:
                clients = [client_at(silent.url), client_at(server.url)]
                in_turn: Any = InTurn(*(clients if first == "connects" else reversed(clients)))
                async with door_to(tmp_path / "store.db", in_turn, *clients, hedge_after_s=0.05) as door:
                    asking = asyncio.ensure_future(door.ask("q"))
                    await until(lambda: server.total == silent.greetings == 1)
                    assert money(door) == (0, 200_000, 200_000)
                    door.abort.set(RunCancelled("stopped"))
                    await door.door.cut()
                    await asyncio.gather(asking, return_exceptions=True)
                    assert (money(door), door.door.asked) == ((0, 0, 200_000), 1)
                    assert door.lane.slots.in_flight == 0

    asyncio.run(scenario())


@pytest.mark.parametrize("turns", [None, 0, 1, 2, 3])
def test_both_requests_of_a_hedged_call_may_be_cut_off_before_they_are_out(tmp_path: Path, turns: int | None) -> None:
    """Also where they are cut off once more while they end."""

    async def scenario() -> None:
        with never_connecting() as silent:
            async with door_to(tmp_path / "store.db", client_at(silent.url), hedge_after_s=0.05) as door:
                asking = asyncio.ensure_future(door.ask("q"))
                await until(lambda: silent.greetings == 2)
                door.abort.set(RunCancelled("stopped"))
                cutting = asyncio.ensure_future(door.door.cut())
                for _ in range(turns or 0):
                    await asyncio.sleep(0)
                if turns is not None:
                    await door.door.cut()
                await cutting
                await asyncio.gather(asking, return_exceptions=True)
                assert (money(door), door.lane.slots.in_flight) == ((0, 0, 0), 0)

    asyncio.run(scenario())
