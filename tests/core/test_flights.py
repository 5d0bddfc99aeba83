"""One question in flight is asked once: by all workers of a process, by all processes, whoever leaves or dies."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from planloom.questions import Reply
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, json_answer, serving
from planloom_sqlite import open_store

SCRIPT = Path(__file__).with_name("flight_process.py")
PRICE = 200_000


def slow(request: Received) -> Served:
    return completion(f"ok: {request.question}").after(0.3)


def refused() -> Served:
    return json_answer({"error": {"message": "no"}}, status=500)


def process(store: Path, url: str, questions: int, askers: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), str(store), url, str(questions), str(askers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def told_by(running: subprocess.Popen[str]) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(running.communicate(timeout=60)[0])
    return said


def test_two_processes_with_a_hundred_askers_of_each_of_five_questions_send_five_requests(tmp_path: Path) -> None:
    with serving(slow) as server:
        running = [process(tmp_path / "store.db", server.url, 5, 100) for _ in range(2)]
        told = [told_by(each) for each in running]
        assert server.total == 5
        assert [said["answered"] for said in told] == [500, 500]
        assert sum(said["paid"] for said in told) == 5 * PRICE


@pytest.mark.slow
def test_who_waits_for_another_process_says_so(tmp_path: Path) -> None:
    with serving(lambda request: slow(request).after(6.0)) as server:
        first = process(tmp_path / "store.db", server.url, 1, 1)
        while not server.total:
            time.sleep(0.01)
        second = process(tmp_path / "store.db", server.url, 1, 1)
        assert told_by(first) == {"answered": 1, "shared": 0, "paid": PRICE}
        assert told_by(second) == {"answered": 1, "shared": 1, "paid": 0}
        assert server.total == 1


def test_a_process_that_is_killed_with_a_question_in_flight_is_replaced(tmp_path: Path) -> None:
    store_path = tmp_path / "store.db"

    def script(request: Received) -> Served:
        return slow(request).hanging() if server_of[0].total == 1 else slow(request)

    server_of: list[LoopbackServer] = []
    with serving(script) as server:
        server_of.append(server)
        first = process(store_path, server.url, 1, 1)
        while not server.total:
            time.sleep(0.01)
        second = process(store_path, server.url, 1, 20)
        time.sleep(0.3)
        first.kill()
        first.communicate()
        assert told_by(second)["answered"] == 20
        assert server.total == 2

    async def books() -> tuple[int, int, int]:
        store = open_store(store_path)
        found = store.books(BUDGET)
        await store.close()
        return found.spent, found.reserved, found.uncertain

    assert asyncio.run(books()) == (PRICE, 0, PRICE)


def test_a_worker_that_leaves_between_two_attempts_leaves_no_request_behind(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q"))
        while not door.fields("run.attempt"):
            await asyncio.sleep(0.01)
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker
        await door.door.drain(60.0)
        assert server.total == len(door.fields("run.attempt")) == 1
        assert door.store.money("run") == {"calls": 0, "spent": 0, "uncertain": 0, "reserved": 0}

    at_the_door(tmp_path / "store.db", refused(), scenario, seed=2)


def test_when_it_leaves_between_two_attempts_who_shares_its_question_asks_anew(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q"))
        while not door.fields("run.attempt"):
            await asyncio.sleep(0.01)
        others = [asyncio.ensure_future(door.ask("q")) for _ in range(20)]
        await asyncio.sleep(0.05)
        worker.cancel()
        replies = await asyncio.gather(*others)
        assert {reply.text for reply in replies} == {"yes"}
        assert sum(not reply.cached for reply in replies) == 1
        assert server.total == 2

    at_the_door(tmp_path / "store.db", [refused(), completion("yes")], scenario, seed=2)


def test_who_waits_for_money_holds_no_slot(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("a")
        waiting = asyncio.ensure_future(door.ask_all([f"q{n}" for n in range(10)]))
        while not door.pauses:
            await asyncio.sleep(0.01)
        assert door.lane.slots.in_flight == 0
        await door.store.set_cap(BUDGET, 20 * PRICE)
        assert all(isinstance(reply, Reply) for reply in await waiting)

    at_the_door(tmp_path / "store.db", completion("yes"), scenario, cap=0.2, on_cap="wait", in_flight=2)
