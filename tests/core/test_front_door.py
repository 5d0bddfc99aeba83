"""The front door: ledger, refusals, single flight, attempts; with a real store and a real server."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from planloom import AuthenticationFailed, RunCancelled, RunStopped
from planloom.clients import Endpoint, ModelError, PermanentError
from planloom.questions import Reply
from planloom.testing import doors
from planloom.testing.doors import BUDGET, ENDPOINT, Doorway, Scenario, doorway
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, dropped, echo, html, json_answer
from planloom_openai import open_client
from planloom_sqlite import open_store

SHORT_WAITS = 8916  # a seed whose three waits add up to 0.13 s


def at_the_door(tmp_path: Path, script: Script, scenario: Scenario, **options: Any) -> None:
    """Play a scenario at a door that leads to a scripted server."""
    doors.at_the_door(tmp_path / "store.db", script, scenario, **{"seed": SHORT_WAITS, **options})


def refused(status: int, **headers: str) -> Any:
    return json_answer({"error": {"message": "no"}}, status=status, headers=headers)


# --- single flight


def test_a_hundred_askers_of_five_questions_send_five_requests(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        replies = await door.ask_all([f"q{n % 5}" for n in range(100)])
        assert server.total == 5
        paid = [reply for reply in replies if isinstance(reply, Reply) and not reply.cached]
        assert len(paid) == 5
        assert len(door.fields("run.shared")) == 95
        assert door.store.books(BUDGET).spent == 5 * 200_000

    at_the_door(tmp_path, lambda request: echo(request).after(0.1), scenario)


def test_when_the_leader_of_a_flight_is_cancelled_the_others_get_its_answer(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        leader = asyncio.ensure_future(door.ask("q"))
        await asyncio.sleep(0.05)
        others = [asyncio.ensure_future(door.ask("q")) for _ in range(20)]
        await asyncio.sleep(0.05)
        leader.cancel()
        replies = await asyncio.gather(*others)
        assert {reply.text for reply in replies} == {"ok: q"}
        assert server.total == 1
        assert leader.cancelled()

    at_the_door(tmp_path, lambda request: echo(request).after(0.3), scenario)


def test_a_leader_cancelled_while_it_waits_for_a_slot_hands_its_question_over(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        first = asyncio.ensure_future(door.ask("first"))
        await asyncio.sleep(0.05)
        leader = asyncio.ensure_future(door.ask("q"))
        await asyncio.sleep(0.02)
        follower = asyncio.ensure_future(door.ask("q"))
        await asyncio.sleep(0.02)
        leader.cancel()
        assert (await follower).text == "ok: q"
        await first
        assert server.total == 2

    at_the_door(tmp_path, lambda request: echo(request).after(0.1), scenario, in_flight=1)


def test_a_failure_is_shared_by_all_that_wait_for_it(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(["q"] * 10)
        assert all(isinstance(outcome, PermanentError) for outcome in outcomes)
        assert server.total == 1

    at_the_door(tmp_path, refused(400), scenario)


# --- cancelled workers


def test_a_cancelled_worker_leaves_its_answer_in_the_ledger(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q"))
        await asyncio.sleep(0.05)
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker
        assert await door.door.drain(5.0) == 0
        assert (await door.ask("q")).cached
        assert server.total == 1

    at_the_door(tmp_path, lambda request: echo(request).after(0.15), scenario)


def test_workers_cancelled_at_any_moment_lose_no_slot_and_no_money(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        for turns in range(40):
            worker = asyncio.ensure_future(door.ask(f"q{turns}"))
            for _ in range(turns):
                await asyncio.sleep(0)
            worker.cancel()
        await asyncio.sleep(0.3)
        await door.door.drain(5.0)
        books = door.store.books(BUDGET)
        assert (books.reserved, books.uncertain) == (0, 0)
        replies = await asyncio.wait_for(door.ask_all(["x", "y", "z"]), 5.0)
        assert all(isinstance(reply, Reply) for reply in replies)

    at_the_door(tmp_path, echo, scenario, in_flight=2)


def test_a_slot_is_free_only_when_the_answer_is_committed(tmp_path: Path) -> None:
    doors: list[Doorway] = []
    unsettled: list[int] = []

    def script(request: Received) -> Any:
        committed = doors[0].store.books(BUDGET).spent // 200_000
        unsettled.append(len(unsettled) + 1 - committed)
        return echo(request)

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        doors.append(door)
        await door.ask_all([f"q{n}" for n in range(12)])
        assert max(unsettled) <= 2

    at_the_door(tmp_path, script, scenario, in_flight=2)


def test_calls_that_are_cut_off_stay_charged_at_their_worst_price(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        workers = [asyncio.ensure_future(door.ask(f"q{n}")) for n in range(3)]
        await asyncio.sleep(0.2)
        door.abort.set(RunCancelled("stopped"))
        assert await door.door.cut() == 3
        outcomes = await asyncio.gather(*workers, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {RunCancelled}
        books = door.store.books(BUDGET)
        assert (books.reserved, books.uncertain) == (0, 3 * 200_000)

    at_the_door(tmp_path, completion("late").hanging(), scenario)


# --- attempts


def test_a_server_that_always_fails_is_asked_four_times_under_one_reservation(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(ModelError) as caught:
            await door.ask("q")
        assert caught.value.error_class in ("server", "overloaded")
        assert server.total == 4
        attempts = door.fields("run.attempt")
        assert [fields["attempt"] for fields in attempts] == [1, 2, 3, 4]
        assert [fields["http_status"] for fields in attempts] == [500] * 4
        assert attempts[-1]["next_wait"] is None
        assert door.store.money("run") == {"calls": 0, "spent": 0, "uncertain": 0, "reserved": 0}

    at_the_door(tmp_path, refused(500), scenario)


def test_waits_between_attempts_are_drawn_from_the_seed_and_said_with_how_long_was_waited(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(ModelError):
            await door.ask("q")
        attempts = door.fields("run.attempt")
        assert [fields["next_wait"] for fields in attempts] == [0.014, 0.01, 0.106, None]
        assert [fields["waited"] for fields in attempts] == [0.0, 0.014, 0.01, 0.106]

    at_the_door(tmp_path, refused(503), scenario)


def test_a_server_that_recovers_is_paid_once(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "yes"
        assert server.total == 3
        assert door.store.money("run") == {"calls": 1, "spent": 200_000, "uncertain": 0, "reserved": 0}

    at_the_door(tmp_path, [refused(500), refused(503), completion("yes")], scenario)


def test_a_page_of_html_with_status_200_is_no_answer(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "yes"
        assert door.fields("run.attempt")[0]["class"] == "malformed"

    at_the_door(tmp_path, [html(content_type="application/json"), completion("yes")], scenario)


def test_retry_after_in_seconds_holds_every_worker_of_the_endpoint(tmp_path: Path) -> None:
    times: list[float] = []

    def script(request: Received) -> Any:
        times.append(time.monotonic())
        return refused(429, **{"retry-after": "1"}) if len(times) == 1 else echo(request)

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        first = asyncio.ensure_future(door.ask("first"))
        await asyncio.sleep(0.2)
        assert all(isinstance(reply, Reply) for reply in await door.ask_all(["b", "c"]))
        await first
        assert min(times[1:]) - times[0] >= 0.95
        assert door.fields("run.attempt")[0]["next_wait"] == 1.0

    at_the_door(tmp_path, script, scenario)


@pytest.mark.slow
def test_retry_after_may_be_a_date(tmp_path: Path) -> None:
    def script(request: Received) -> Any:
        if len(asked) == 0:
            asked.append(request)
            soon = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
            return refused(429, **{"retry-after": soon})
        return echo(request)

    asked: list[Received] = []

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("q")
        assert 0.9 <= door.fields("run.attempt")[0]["next_wait"] <= 2.0

    at_the_door(tmp_path, script, scenario)


def test_a_server_that_asks_for_more_than_two_minutes_is_not_waited_for(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(ModelError):
            await asyncio.wait_for(door.ask("q"), 1.0)
        assert server.total == 1

    at_the_door(tmp_path, refused(503, **{"retry-after": "121"}), scenario)


def test_an_abort_wakes_whoever_waits_between_two_attempts(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        worker = asyncio.ensure_future(door.ask("q"))
        while not door.fields("run.attempt"):
            await asyncio.sleep(0.01)
        door.abort.set(RunCancelled("stopped"))
        with pytest.raises(RunCancelled):
            await asyncio.wait_for(worker, 20.0)
        assert door.store.books(BUDGET).reserved == 0

    at_the_door(tmp_path, refused(503, **{"retry-after": "100"}), scenario)


def test_an_abort_wakes_whoever_waits_for_a_slot_and_sends_nothing_more(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        workers = [asyncio.ensure_future(door.ask(f"q{n}")) for n in range(5)]
        await asyncio.sleep(0.1)
        door.abort.set(RunCancelled("stopped"))
        outcomes = await asyncio.gather(*workers, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [Reply, *[RunCancelled] * 4]
        assert server.total == 1

    at_the_door(tmp_path, lambda request: echo(request).after(0.3), scenario, in_flight=1)


def test_a_connection_cut_in_the_middle_of_an_answer_keeps_its_price_as_uncertain(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "yes"
        assert door.store.money("run") == {"calls": 2, "spent": 200_000, "uncertain": 200_000, "reserved": 0}

    at_the_door(tmp_path, [completion("yes" * 50).cut(40), completion("yes")], scenario)


def test_a_connection_that_is_dropped_before_the_answer_is_asked_again(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "yes"
        assert door.store.books(BUDGET).reserved == 0

    at_the_door(tmp_path, [dropped(), completion("yes")], scenario)


def test_a_server_that_is_down_fails_the_worker_and_bills_nothing(tmp_path: Path) -> None:
    async def play() -> None:
        async with LoopbackServer() as server:
            url = server.url
        client = open_client(Endpoint(name=ENDPOINT, client="openai", url=url))
        store = open_store(tmp_path / "store.db")
        async with doorway(store, {ENDPOINT: client}, seed=SHORT_WAITS) as door:
            with pytest.raises(ModelError):
                await door.ask("q")
            books = store.books(BUDGET)
            assert (books.spent, books.reserved, books.uncertain) == (0, 0, 0)
        await client.close()
        await store.close()

    asyncio.run(play())


def test_a_permanent_refusal_is_not_tried_again_and_bills_nothing(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(PermanentError):
            await door.ask("q")
        assert server.total == 1
        assert door.store.books(BUDGET).spent == door.store.books(BUDGET).reserved == 0

    at_the_door(tmp_path, refused(400), scenario)


# --- what ends the run


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_ends_the_run_with_the_first_answer(tmp_path: Path, status: int) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all([f"q{n}" for n in range(50)])
        assert all(isinstance(outcome, AuthenticationFailed) for outcome in outcomes), outcomes
        assert "role `worker`, endpoint `main`" in str(outcomes[0])
        assert server.total <= 2

    at_the_door(tmp_path, refused(status), scenario, in_flight=2)


def test_an_account_that_is_used_up_stops_the_run_where_that_is_wanted(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all([f"q{n}" for n in range(10)])
        assert all(isinstance(outcome, RunStopped) for outcome in outcomes), outcomes
        assert "used up" in str(outcomes[0])
        assert server.total <= 2

    at_the_door(tmp_path, refused(402), scenario, in_flight=2, at_quota="stop")
