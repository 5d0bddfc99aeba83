"""The budget: what is reserved, who waits, what a cap promises; with a real store and a real server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from planloom import RunCancelled, RunStopped
from planloom.clients import Endpoint
from planloom.money import MICRO, Price, credits_of, micro_of
from planloom.questions import Reply
from planloom.testing.doors import BUDGET, ENDPOINT, Doorway, doorway, worker_role
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, serving
from planloom_openai import open_client
from planloom_sqlite import open_store

Scenario = Callable[[Doorway, LoopbackServer], Coroutine[Any, Any, None]]


def at_the_door(tmp_path: Path, script: Script, scenario: Scenario, **options: Any) -> None:
    async def play() -> None:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(LoopbackServer(script))
            client = open_client(Endpoint(name=ENDPOINT, client="openai", url=server.url))
            stack.push_async_callback(client.close)
            store = open_store(tmp_path / "store.db")
            stack.push_async_callback(store.close)
            door = await stack.enter_async_context(doorway(store, {ENDPOINT: client}, **options))
            await scenario(door, server)

    asyncio.run(play())


def answered(outcomes: list[Reply | BaseException]) -> int:
    return sum(isinstance(outcome, Reply) for outcome in outcomes)


async def settled(door: Doorway, server: LoopbackServer, requests: int) -> None:
    """Wait until so many requests have come and the run is paused."""
    while server.total < requests or not door.pauses or not door.pauses[-1]:
        await asyncio.sleep(0.01)


FORTY = [f"q{n}" for n in range(40)]


def test_a_cap_of_five_stops_forty_workers_at_twenty_five_answers(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(FORTY)
        assert (server.total, answered(outcomes)) == (25, 25)
        assert all(isinstance(outcome, RunStopped) for outcome in outcomes if not isinstance(outcome, Reply))
        assert credits_of(door.store.books(BUDGET).spent) == 5.0

    at_the_door(tmp_path, completion("yes"), scenario, cap=5.0, in_flight=10)


def test_a_raised_cap_lets_the_waiting_workers_end_without_asking_anything_twice(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        working = asyncio.ensure_future(door.ask_all(FORTY))
        await settled(door, server, 25)
        await asyncio.sleep(0.1)
        assert server.total == 25
        assert credits_of(door.store.books(BUDGET).spent) == 5.0
        await door.store.set_cap(BUDGET, micro_of(10))
        assert answered(await working) == 40
        assert (server.total, max(server.asked.values())) == (40, 1)
        assert credits_of(door.store.books(BUDGET).spent) == 8.0
        assert door.pauses == ["the budget", None]
        paused = {"asked": 0.2, "spent": 5.0, "reserved": 0.0, "cap": 5.0, "of": "job", "waits": True}
        assert door.fields("run.budget_paused") == [paused]
        assert [fields["cap"] for fields in door.fields("run.budget_raised")] == [10.0]

    at_the_door(tmp_path, completion("yes"), scenario, cap=5.0, in_flight=10, on_cap="wait")


def test_a_cap_that_another_process_raises_wakes_the_waiters(tmp_path: Path) -> None:
    raise_it = (
        "import asyncio, sys; from planloom_sqlite import open_store\n"
        "async def main():\n"
        "    store = open_store(sys.argv[1]); await store.set_cap('job', 2_000_000); await store.close()\n"
        "asyncio.run(main())"
    )

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        working = asyncio.ensure_future(door.ask_all(FORTY[:10]))
        await settled(door, server, 5)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", raise_it, str(tmp_path / "store.db"))
        assert await process.wait() == 0
        assert answered(await asyncio.wait_for(working, 5.0)) == 10

    at_the_door(tmp_path, completion("yes"), scenario, cap=1.0, on_cap="wait")


def test_a_cancelled_run_wakes_whoever_waits_at_the_budget(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        working = asyncio.ensure_future(door.ask_all(FORTY[:10]))
        await settled(door, server, 5)
        door.abort.set(RunCancelled("stopped"))
        outcomes = await asyncio.wait_for(working, 20.0)
        assert [type(outcome) for outcome in outcomes if not isinstance(outcome, Reply)] == [RunCancelled] * 5

    at_the_door(tmp_path, completion("yes"), scenario, cap=1.0, on_cap="wait")


def test_five_hundred_questions_under_a_cap_of_ten_reserve_no_more_than_ten_at_any_moment(tmp_path: Path) -> None:
    worst = worker_role(Price(input=MICRO, output=4 * MICRO))
    texts = [f"question {n:03d}" for n in range(500)]

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        each = worst.price.of(door.question(texts[0]).input_tokens_bound, 100)
        await door.store.set_cap(BUDGET, 10 * each)
        working = asyncio.ensure_future(door.ask_all(texts))
        while not working.done():
            books = door.store.books(BUDGET)
            assert books.spent + books.reserved + books.uncertain <= books.cap
            await asyncio.sleep(0.002)
        outcomes = await working
        assert 10 <= answered(outcomes) == server.total < 500
        assert server.max_in_flight <= 10
        assert all(isinstance(outcome, Reply | RunStopped) for outcome in outcomes)

    usage = {"prompt_tokens": 20, "completion_tokens": 50}
    at_the_door(tmp_path, completion("yes", usage=usage).after(0.01), scenario, cap=0, in_flight=100, role=worst)


def test_before_a_call_its_tokens_are_reserved_by_an_upper_bound(tmp_path: Path) -> None:
    role = worker_role(Price(input=MICRO, output=4 * MICRO), max_tokens=100)
    seen: list[int] = []
    doors: list[Doorway] = []

    def script(request: Received) -> Any:
        seen.append(doors[0].store.books(BUDGET).reserved)
        return completion("yes")

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        doors.append(door)
        reply = await door.ask("ä" * 50)
        assert seen == [100 + 16 + 400]
        assert (reply.price, door.store.books(BUDGET).spent) == (40, 40)

    at_the_door(tmp_path, script, scenario, role=role)


def test_a_reply_that_cost_more_than_its_reservation_is_booked_in_full(tmp_path: Path) -> None:
    role = worker_role(Price(input=MICRO, output=MICRO), max_tokens=10)
    usage = {"prompt_tokens": 20, "completion_tokens": 5_000}

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("a")
        books = door.store.books(BUDGET)
        assert (books.spent, books.reserved, books.left) == (5_020, 0, 0)
        with pytest.raises(RunStopped):
            await door.ask("b")

    at_the_door(tmp_path, completion("yes", usage=usage), scenario, cap=0.001, role=role)


def test_a_reply_without_token_counts_is_never_free(tmp_path: Path) -> None:
    role = worker_role(Price(input=MICRO, output=MICRO))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("a long question")
        assert door.store.books(BUDGET).spent > 0

    at_the_door(tmp_path, completion("a long answer", usage=None), scenario, role=role)


def test_a_run_that_cannot_afford_its_first_call_says_so_at_once(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(RunStopped) as caught:
            await door.ask("q")
        assert server.total == 0
        assert str(caught.value) == (
            "the job cannot afford its first call, which may cost 0.2: its budget is 0.1 credits; run it again with "
            "--cap 0.2 or more: what is answered is not asked again"
        )

    at_the_door(tmp_path, completion("yes"), scenario, cap=0.1)


def test_what_the_ledger_knows_costs_nothing_even_when_the_budget_is_used_up(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask_all(FORTY[:5])
        assert all([(await door.ask(text)).cached for text in FORTY[:5]])
        with pytest.raises(RunStopped):
            await door.ask("new")
        assert server.total == 5

    at_the_door(tmp_path, completion("yes"), scenario, cap=1.0)


def test_money_of_unknown_outcome_counts_as_spent(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(RunStopped, match=r"0.2 of it for calls of unknown outcome"):
            await door.ask("q")
        assert (door.store.books(BUDGET).uncertain, server.total) == (200_000, 1)

    cut = completion("yes" * 50).cut(40)
    at_the_door(tmp_path, cut, scenario, cap=0.3, seed=8916)


def test_two_processes_on_one_store_keep_one_cap(tmp_path: Path) -> None:
    script = Path(__file__).with_name("budget_process.py")
    with serving(completion("yes").after(0.02)) as server:
        processes = [
            subprocess.Popen(
                [sys.executable, str(script), str(tmp_path / "store.db"), server.url, str(first), "20"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for first in (0, 100)
        ]
        counts = [int(process.communicate(timeout=60)[0]) for process in processes]
        assert server.total == sum(counts) == 25


def test_two_processes_ask_one_question_once(tmp_path: Path) -> None:
    script = Path(__file__).with_name("budget_process.py")
    with serving(completion("yes").after(0.05)) as server:
        processes = [
            subprocess.Popen(
                [sys.executable, str(script), str(tmp_path / "store.db"), server.url, "0", "20"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        counts = [int(process.communicate(timeout=60)[0]) for process in processes]
        assert counts == [20, 20]
        assert (server.total, max(server.asked.values())) == (20, 1)
