"""The front door: ledger, refusals, single flight, attempts; with a real store and a real server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from planloom import AuthenticationFailed, CacheMiss, RunCancelled, RunStopped, SpendRefused
from planloom.clients import Endpoint, ModelError, PermanentError
from planloom.front_door import Mode
from planloom.money import Price, credits_of
from planloom.questions import Reply
from planloom.testing.doors import BUDGET, ENDPOINT, Doorway, doorway, worker_role
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, dropped, echo, html, json_answer
from planloom_openai import open_client
from planloom_sqlite import open_store

SHORT_WAITS = 8916  # a seed whose three waits add up to 0.13 s

Scenario = Callable[[Doorway, LoopbackServer], Coroutine[Any, Any, None]]


def at_the_door(tmp_path: Path, script: Script, scenario: Scenario, **options: Any) -> None:
    """Play a scenario at a door that leads to a scripted server."""

    async def play() -> None:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(LoopbackServer(script))
            client = open_client(Endpoint(name=ENDPOINT, client="openai", url=server.url))
            stack.push_async_callback(client.close)
            store = open_store(tmp_path / "store.db")
            stack.push_async_callback(store.close)
            door = await stack.enter_async_context(
                doorway(store, {ENDPOINT: client}, **{"seed": SHORT_WAITS, **options})
            )
            await scenario(door, server)

    asyncio.run(play())


def refused(status: int, **headers: str) -> Any:
    return json_answer({"error": {"message": "no"}}, status=status, headers=headers)


# --- ledger, replay, no client


def test_a_question_is_paid_once_and_then_comes_from_the_ledger(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        replies = [await door.ask(text) for text in ("a", "b", "a")]
        assert [reply.cached for reply in replies] == [False, False, True]
        assert replies[0].text == replies[2].text == "ok: a"
        assert server.total == 2
        assert credits_of(door.store.books(BUDGET).spent) == 0.4

    at_the_door(tmp_path, echo, scenario)


def with_mode(tmp_path: Path, mode: Mode, scenario: Scenario, **options: Any) -> None:
    async def ask_a_and_b(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("a")
        await door.ask("b")

    at_the_door(tmp_path, echo, ask_a_and_b)
    at_the_door(tmp_path, echo, scenario, mode=mode, **options)


def test_replay_answers_from_the_ledger_and_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("a")).cached
        with pytest.raises(CacheMiss) as caught:
            await door.ask("c")
        assert str(caught.value) == (
            "replay met a question of role `worker` that the ledger has no answer to; resume the run, or run its plan "
            "anew, which asks and pays for what is missing"
        )
        assert server.connections == 0

    with_mode(tmp_path, "replay", scenario)


def test_refresh_asks_again_once_a_run(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        first, second = await door.ask("a"), await door.ask("a")
        assert (server.total, first.cached, second.cached) == (1, False, True)
        assert first.version == second.version

    with_mode(tmp_path, "refresh", scenario)


def test_what_a_refresh_asked_for_a_worker_that_left_is_not_asked_again(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        server.answer = lambda request: echo(request).after(0.2)
        leaving = asyncio.ensure_future(door.ask("a"))
        while not server.total:
            await asyncio.sleep(0.01)
        staying = asyncio.ensure_future(door.ask("a"))
        await asyncio.sleep(0.05)
        leaving.cancel()
        assert (await staying).text == "ok: a"
        later = await door.ask("a")
        assert (later.cached, server.total) == (True, 1)
        assert door.store.money("run") == {"calls": 3, "spent": 600_000, "uncertain": 0, "reserved": 0}

    with_mode(tmp_path, "refresh", scenario)


@pytest.mark.parametrize("in_flight", [1, 2])
@pytest.mark.parametrize("turns", range(6, 31, 2))
def test_what_a_refresh_asked_is_not_asked_again_whenever_its_worker_left(
    tmp_path: Path, turns: int, in_flight: int
) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        server.answer = lambda request: echo(request).after(0.02)
        leaving, staying = (asyncio.ensure_future(door.ask("a")) for _ in range(2))
        for _ in range(turns):
            await asyncio.sleep(0)
        leaving.cancel()
        assert (await staying).text == "ok: a"
        await door.door.drain(5.0)
        books = door.store.books(BUDGET)
        assert (server.total, books.spent, books.reserved, books.uncertain) == (1, 600_000, 0, 0)

    with_mode(tmp_path, "refresh", scenario, in_flight=in_flight)


def test_who_waits_for_a_question_that_another_process_asks_again_gets_its_new_answer(tmp_path: Path) -> None:
    """Of which the stored reply, cut off, is none."""

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).finish_reason == "length"
        other = open_store(tmp_path / "store.db")
        client = open_client(Endpoint(name=ENDPOINT, client="openai", url=server.url))
        async with doorway(door.store, {ENDPOINT: client}) as one, doorway(other, {ENDPOINT: client}) as two:
            asking = asyncio.ensure_future(one.ask("q"))
            while server.total < 2:
                await asyncio.sleep(0.005)
            assert ((await two.ask("q")).text, (await asking).text, server.total) == ("whole", "whole", 2)
        await client.close()
        await other.close()

    at_the_door(tmp_path, [completion("cu", finish_reason="length"), completion("whole").after(0.3)], scenario)


def test_refresh_asks_again_and_the_newest_answer_is_told_from_then_on(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert not (await door.ask("a")).cached
        assert server.total == 1

    with_mode(tmp_path, "refresh", scenario)


def test_an_unknown_question_without_a_client_is_refused_before_anything_is_reserved(tmp_path: Path) -> None:
    async def play() -> None:
        store = open_store(tmp_path / "store.db")
        async with doorway(store, {}) as door:
            with pytest.raises(SpendRefused, match=r"role `worker`.*no client for the endpoint `main`"):
                await door.ask("a")
            assert store.books(BUDGET).left == store.books(BUDGET).cap
        await store.close()

    asyncio.run(play())


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


# --- replies that are no answers


def test_a_stored_reply_that_was_cut_is_asked_again_once_and_replay_tells_it_as_it_is(tmp_path: Path) -> None:
    cut = completion("half an obj", finish_reason="length")

    async def first(door: Doorway, server: LoopbackServer) -> None:
        assert not (await door.ask("q")).whole

    async def replayed(door: Doorway, server: LoopbackServer) -> None:
        assert (await door.ask("q")).text == "half an obj"

    async def again(door: Doorway, server: LoopbackServer) -> None:
        assert [(await door.ask("q")).cached for _ in range(3)] == [False, True, True]

    at_the_door(tmp_path, cut, first)
    at_the_door(tmp_path, cut, replayed, mode="replay")
    at_the_door(tmp_path, cut, again)


def test_a_reply_without_token_counts_is_priced_by_an_estimate_and_marked(tmp_path: Path) -> None:
    role = worker_role(Price(input=1_000_000, output=4_000_000))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        reply = await door.ask("x" * 400)
        assert (reply.price, reply.estimated) == (100 + 4 * 10, True)
        assert reply.usage.prompt_tokens is None
        assert door.store.books(BUDGET).spent == 140

    at_the_door(tmp_path, completion("y" * 40, usage=None), scenario, role=role)


def test_cached_input_is_counted_beside_fresh_input_and_priced_apart(tmp_path: Path) -> None:
    role = worker_role(Price(input=1_000_000, cached_input=100_000, output=4_000_000))
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 900}}

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        reply = await door.ask("q")
        assert (reply.usage.prompt_tokens, reply.usage.cached_prompt_tokens) == (1000, 900)
        assert (reply.price, reply.estimated) == (100 + 90 + 40, False)

    at_the_door(tmp_path, completion("yes", usage=usage), scenario, role=role)


def test_a_reply_says_what_it_cost_who_asked_and_when(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        reply = await door.ask("q")
        assert (reply.price, reply.role, reply.model) == (200_000, "worker", "loopback-1")
        assert reply.created_at is not None
        assert datetime.now(UTC) - reply.created_at < timedelta(minutes=1)

    at_the_door(tmp_path, echo, scenario)
