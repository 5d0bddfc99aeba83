"""The front door and the ledger: what is known, what a mode makes of it, and what is no answer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from planloom import CacheMiss, SpendRefused
from planloom.clients import Endpoint
from planloom.front_door import Mode
from planloom.money import Price, credits_of
from planloom.testing import doors
from planloom.testing.doors import BUDGET, ENDPOINT, Doorway, Scenario, doorway, worker_role
from planloom.testing.loopback import LoopbackServer, Script, completion, echo
from planloom_openai import open_client
from planloom_sqlite import open_store


def at_the_door(tmp_path: Path, script: Script, scenario: Scenario, **options: Any) -> None:
    """Play a scenario at a door that leads to a scripted server."""
    doors.at_the_door(tmp_path / "store.db", script, scenario, **options)


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
