"""Hedged requests: a question whose answer does not begin is sent twice, and the cap holds whichever answers."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planloom import RunCancelled
from planloom.clients import FatalError, ModelError, PermanentError
from planloom.money import MICRO
from planloom.plugins import load_plugins
from planloom.questions import Reply
from planloom.stores import Books, StorePlugin
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.folders import Folder
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, json_answer, serving

PRICE = MICRO // 5
SOON = 0.05
SILENT = completion("never").hanging()


def refused(status: int) -> Any:
    return json_answer({"error": {"message": "no"}}, status=status)


@pytest.fixture
def hedging(tmp_path: Path) -> Callable[..., None]:
    """Play a scenario at a door that sends a question once more after a twentieth of a second."""

    def play(script: Script, scenario: Any, **options: Any) -> None:
        at_the_door(tmp_path / "store.db", script, scenario, **{"hedge_after_s": SOON, **options})

    return play


def books(door: Doorway) -> Books:
    return door.store.books(BUDGET)


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.005)


def test_a_question_whose_answer_does_not_begin_is_sent_twice_and_the_second_answers(
    hedging: Callable[..., None],
) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        reply = await door.ask("q")
        assert (reply.text, reply.cached, server.total) == ("second", False, 2)
        assert door.fields("run.hedged") == [{"thread": "run/t001", "after": SOON, "won": "second"}]
        assert (books(door).spent, books(door).reserved, books(door).uncertain) == (PRICE, 0, PRICE)
        assert door.lane.slots.in_flight == 0
        again = await door.ask("q")
        assert (again.text, again.cached, server.total) == ("second", True, 2)

    hedging([SILENT, completion("second")], scenario)


def test_the_first_may_still_answer_and_the_second_is_cut_and_stays_charged(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        reply = await door.ask("q")
        assert (reply.text, server.total) == ("first", 2)
        assert door.fields("run.hedged")[0]["won"] == "first"
        assert (books(door).spent, books(door).reserved, books(door).uncertain) == (PRICE, 0, PRICE)
        assert door.lane.slots.in_flight == 0
        (unsure,) = door.store.uncertain_calls(BUDGET)
        await door.store.release(unsure.call_id)
        assert books(door).uncertain == 0

    hedging([completion("first").after(0.3), SILENT], scenario)


def test_without_the_setting_nothing_is_sent_twice(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("q")
        assert (server.total, door.fields("run.hedged")) == (1, [])

    hedging(completion("late").after(0.3), scenario, hedge_after_s=None)


def test_an_answer_that_begins_in_time_is_waited_for(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert [reply.text for reply in await door.ask_all(["a", "b"]) if isinstance(reply, Reply)] == ["ok", "ok"]
        assert (server.total, books(door).uncertain) == (2, 0)

    hedging(completion("ok"), scenario, hedge_after_s=5.0)


@pytest.mark.parametrize("cap", [0.2, 0.39])
def test_a_hedge_that_would_pass_the_cap_is_not_sent(hedging: Callable[..., None], cap: float) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "late"
        assert (server.total, door.fields("run.hedged")) == (1, [])
        assert (books(door).spent, books(door).uncertain) == (PRICE, 0)

    hedging(completion("late").after(0.3), scenario, cap=cap)


def test_a_hedge_that_would_pass_the_cap_of_the_store_is_not_sent(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.store.cap_store(2 * PRICE - 1)
        assert (await door.ask("q")).text == "late"
        assert server.total == 1

    hedging(completion("late").after(0.3), scenario)


def test_the_cap_holds_when_every_request_is_hedged_and_every_lost_one_was_billed(hedging: Callable[..., None]) -> None:
    billed = 0

    def script(request: Received) -> Any:
        nonlocal billed
        billed += 1
        return completion("ok").after(0.2 if billed % 3 else 0.0)

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask_all([f"q{n}" for n in range(40)])
        now = books(door)
        assert now.reserved == 0
        assert server.total * PRICE == now.spent + now.uncertain <= 5 * MICRO

    hedging(script, scenario, cap=5.0)


def test_a_hedge_needs_a_slot_of_its_own(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask_all([f"q{n}" for n in range(6)])
        assert (server.total, server.max_in_flight, books(door).uncertain) == (6, 2, 0)

    hedging(completion("late").after(0.2), scenario, in_flight=2)


def test_who_waits_for_money_comes_before_any_hedge(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        asking = asyncio.ensure_future(door.ask_all(["a", "b", "c"]))
        await until(lambda: server.total == 2)
        await asyncio.sleep(4 * SOON)
        assert server.total == 2
        await door.store.set_cap(BUDGET, 10 * PRICE)
        await asking
        assert server.asked["c"] >= 1

    hedging(completion("late").after(0.5), scenario, cap=0.5, on_cap="wait")


def test_a_call_is_hedged_once_and_its_next_attempts_are_not(hedging: Callable[..., None]) -> None:
    script = [refused(503).after(0.3), refused(503).after(0.4), completion("third").after(0.4)]

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        reply = await door.ask("q")
        assert (reply.text, server.total) == ("third", 3)
        assert [fields["won"] for fields in door.fields("run.hedged")] == [None]
        assert [fields["class"] for fields in door.fields("run.attempt")] == ["overloaded"]
        assert (books(door).spent, books(door).reserved, books(door).uncertain) == (PRICE, 0, 0)
        assert door.lane.slots.in_flight == 0

    hedging(script, scenario)


def test_nothing_is_sent_in_the_pause_between_two_attempts(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "ok"
        assert (server.total, door.fields("run.hedged")) == (2, [])

    hedging([refused(429), completion("ok")], scenario)


def test_a_first_request_that_fails_leaves_the_answer_to_the_second(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "second"
        assert (server.total, door.fields("run.attempt")) == (2, [])
        assert (books(door).spent, books(door).reserved, books(door).uncertain) == (PRICE, 0, 0)

    hedging([refused(503).after(0.2), completion("second").after(0.4)], scenario)


@pytest.mark.parametrize(("status", "kind"), [(400, PermanentError), (401, None)])
def test_a_refusal_for_good_ends_both(hedging: Callable[..., None], status: int, kind: type[ModelError] | None) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(kind or Exception) as told:
            await door.ask("q")
        assert not isinstance(told.value, FatalError)
        assert (server.total, books(door).reserved, books(door).uncertain) == (2, 0, PRICE)
        assert door.lane.slots.in_flight == 0

    hedging([refused(status).after(0.3), SILENT], scenario)


def test_a_second_request_that_is_refused_costs_nothing_and_the_first_goes_on(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "first"
        assert (books(door).spent, books(door).uncertain, door.lane.slots.in_flight) == (PRICE, 0, 0)

    hedging([completion("first").after(0.4), refused(429)], scenario)


def test_an_answer_in_hand_does_not_wait_in_its_workers_time_until_the_lost_request_can_be_closed(
    hedging: Callable[..., None], tmp_path: Path
) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q", worker_timeout_s=1.0))
        await until(lambda: server.total == 2)
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await asyncio.sleep(1.5)
        assert (await worker).text == "first"
        assert (books(door).spent, books(door).reserved, books(door).uncertain) == (PRICE, 0, 0)
        assert door.lane.slots.in_flight == 0

    hedging([completion("first").after(0.4), refused(429).after(0.1)], scenario)


def test_who_shares_a_question_gets_the_answer_of_whichever_request_brought_it(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        replies = await door.ask_all(["q"] * 10)
        assert {reply.text for reply in replies if isinstance(reply, Reply)} == {"second"}
        assert (server.total, len(door.fields("run.hedged"))) == (2, 1)

    hedging([SILENT, completion("second")], scenario)


def test_when_a_run_is_cancelled_no_hedge_is_sent_and_the_call_in_flight_may_end(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q"))
        await until(lambda: server.total == 1)
        door.abort.set(RunCancelled("enough"))
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        assert await door.door.ended(30.0) == 0
        assert (server.total, books(door).spent, books(door).uncertain) == (1, PRICE, 0)

    hedging(completion("late").after(0.4), scenario)


def test_a_hedged_call_that_is_cut_leaves_both_requests_charged(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q"))
        await until(lambda: server.total == 2)
        door.abort.set(RunCancelled("enough"))
        await door.door.cut()
        await asyncio.gather(worker, return_exceptions=True)
        assert (books(door).spent, books(door).reserved, books(door).uncertain) == (0, 0, 2 * PRICE)
        assert door.lane.slots.in_flight == 0
        assert door.fields("run.hedged")[0]["won"] is None

    hedging(SILENT, scenario)


def test_a_hedged_call_that_is_cut_owes_nothing_for_the_first_request_where_that_was_refused(
    hedging: Callable[..., None],
) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q"))
        await until(lambda: server.total == 2 and door.lane.slots.in_flight == 2)
        await asyncio.sleep(0.5)  # the refusal is there
        door.abort.set(RunCancelled("enough"))
        await door.door.cut()
        await asyncio.gather(worker, return_exceptions=True)
        assert (books(door).spent, books(door).reserved, books(door).uncertain) == (0, 0, PRICE)
        assert (door.door.asked, door.lane.slots.in_flight) == (1, 0)

    hedging([refused(503).after(0.3), SILENT], scenario)


def test_a_worker_whose_time_is_up_leaves_both_requests_charged(hedging: Callable[..., None]) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(PermanentError, match=r"no answer within its 0\.5 s.*"):
            await door.ask("q", worker_timeout_s=0.5)
        assert (server.total, books(door).reserved, books(door).uncertain) == (2, 0, 2 * PRICE)
        assert door.lane.slots.in_flight == 0

    hedging(SILENT, scenario)


def test_the_books_of_a_store_with_hedged_calls_add_up(hedging: Callable[..., None], tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("a")
        await door.ask("b")
        assert len(door.fields("run.hedged")) == 2

    hedging([SILENT, completion("yes"), completion("yes").after(0.3), SILENT], scenario)
    tools = load_plugins().get("store", "sqlite", StorePlugin).tools
    assert tools is not None
    assert list(tools(tmp_path / "store.db").check()) == []


@pytest.mark.command
def test_a_run_says_how_many_of_its_calls_were_hedged_and_its_replay_asks_nothing(tmp_path: Path) -> None:
    with serving([SILENT, completion("second")]) as server:
        folder = Folder(tmp_path, server, 'result = agent("q")\n')
        folder.configure(**{'client = "openai"': 'client = "openai"\nhedge_after_s = 0.2'})
        code, result, _ = folder.run("run", "job.plan")
        assert (code, result, server.total) == (0, "second\n", 2)
        run = folder.newest().id
        shown = folder.run("show", run)[1]
        assert "1 call hedged: sent a second time, since no answer began (hedge_after_s)" in shown
        assert "1 call of unknown outcome keeps 0.2 credits charged" in shown
        code, _, remarks = folder.run("replay", run)
        assert (code, server.total) == (0, 2), remarks


@pytest.mark.command
def test_a_process_that_is_killed_between_two_requests_of_a_call_leaves_both_charged(tmp_path: Path) -> None:
    with serving(lambda request: SILENT if server.total <= 2 else completion("yes")) as server:
        folder = Folder(tmp_path, server, 'result = agent("q")\n')
        folder.configure(**{'client = "openai"': 'client = "openai"\nhedge_after_s = 0.2'})
        killed = folder.start("run", "job.plan")
        folder.wait_for(killed, 2)
        killed.kill()
        killed.communicate()
        run = folder.newest()
        folder.configure()  # on a busy machine the answer may take longer than the hedge waits
        code, result, _ = folder.run("resume", run.id)
        assert (code, result, server.total) == (0, "yes\n", 3)
        now = folder.store(lambda store: store.books(run.budget))
        assert (now.spent, now.reserved, now.uncertain) == (PRICE, 0, 2 * PRICE)
