"""An account that is used up pauses the run; it goes on by itself, and no worker dies of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from planloom import RunCancelled, RunStopped
from planloom.questions import Reply
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, json_answer

SPEED = 600.0
TEN = [f"q{n}" for n in range(10)]
AT = "the account behind `main`"


def used_up(**headers: str) -> Served:
    return json_answer({"error": {"message": "You exceeded your current quota"}}, status=429, headers=headers)


class Account:
    """Answers until so many questions are paid for, then refuses until some requests later."""

    def __init__(self, paid: int, refusals: int, refusal: Served, takes_s: float = 1.0) -> None:
        self.takes_s = takes_s
        self.paid = paid
        self.refusals = refusals
        self.refusal = refusal

    def __call__(self, request: Received) -> Served:
        if self.paid > 0:
            self.paid -= 1
        elif self.refusals > 0:
            self.refusals -= 1
            return self.refusal
        return completion(f"ok: {request.question}").after(self.takes_s)


async def paused(door: Doorway) -> None:
    while not door.pauses:
        await asyncio.sleep(1.0)


def test_a_run_waits_for_its_account_and_no_worker_fails(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(TEN)
        assert all(isinstance(outcome, Reply) for outcome in outcomes)
        assert door.pauses == [AT, None]
        assert server.total == 10 + 3
        assert door.store.money("run") == {"calls": 10, "spent": 2_000_000, "uncertain": 0, "reserved": 0}
        breaker = door.fields("run.breaker")
        assert [fields["open"] for fields in breaker] == [True, True, True, False]
        assert {fields["endpoint"] for fields in breaker} == {"main"}
        assert breaker[0]["until"] is None
        assert "quota" in breaker[0]["reason"]

    account = Account(3, 3, used_up(), takes_s=0.01)
    # One at a time, so that no answer that was under way tells of the account in between.
    at_the_door(tmp_path / "store.db", account, scenario, speed=SPEED, in_flight=1)


def test_a_reset_that_the_server_names_is_waited_for(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        began = asyncio.get_running_loop().time()
        outcomes = await door.ask_all(TEN)
        assert all(isinstance(outcome, Reply) for outcome in outcomes)
        assert asyncio.get_running_loop().time() - began >= 3_600
        until = datetime.fromisoformat(door.fields("run.breaker")[0]["until"])
        assert abs(until - datetime.now(UTC) - timedelta(seconds=3_600)) < timedelta(seconds=30)

    account = Account(0, 4, used_up(**{"retry-after": "3600"}))
    at_the_door(tmp_path / "store.db", account, scenario, speed=3_000.0, in_flight=4)


@pytest.mark.parametrize("asked", ["0", "-5", "Sun, 29 Nov 2020 12:00:00 GMT"])
def test_an_account_that_is_always_reset_by_now_is_not_asked_without_a_pause(tmp_path: Path, asked: str) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(TEN)
        assert all(isinstance(outcome, RunStopped) for outcome in outcomes)
        # At once, since that was said, and then as where nothing is said: after 1, 3, 7, 15 and 30 minutes.
        assert server.total == 1 + 1 + 5

    at_the_door(tmp_path / "store.db", used_up(**{"retry-after": asked}), scenario, speed=3_000.0, in_flight=1)


def test_an_account_that_is_reset_when_nobody_lives_any_more_pauses_the_run(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        working = asyncio.ensure_future(door.ask_all(TEN))
        await paused(door)
        assert datetime.fromisoformat(door.fields("run.breaker")[0]["until"]) - datetime.now(UTC) < timedelta(days=367)
        door.abort.set(RunCancelled("stopped"))
        assert all(isinstance(outcome, RunCancelled) for outcome in await working)
        assert server.total == 1

    at_the_door(tmp_path / "store.db", used_up(**{"retry-after": "9" * 30}), scenario, speed=60.0, in_flight=1)


def test_after_half_an_hour_the_run_stops_and_can_be_taken_up_again(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(TEN)
        assert all(isinstance(outcome, RunStopped) for outcome in outcomes)
        assert "is used up" in str(outcomes[0])
        assert "what is answered is not asked again" in str(outcomes[0])
        assert server.total == 4 + 5
        assert door.store.books(BUDGET).reserved == 0

    at_the_door(tmp_path / "store.db", used_up(), scenario, speed=3_000.0, in_flight=4)


def test_where_that_is_wanted_the_run_stops_at_once(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(TEN)
        assert all(isinstance(outcome, RunStopped) for outcome in outcomes)
        assert server.total <= 4
        assert door.pauses == [AT]

    at_the_door(tmp_path / "store.db", used_up(), scenario, at_quota="stop", in_flight=4)


def test_a_cancelled_run_does_not_wait_for_its_account(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        working = asyncio.ensure_future(door.ask_all(TEN))
        await paused(door)
        door.abort.set(RunCancelled("stopped"))
        began = asyncio.get_running_loop().time()
        outcomes = await working
        assert all(isinstance(outcome, RunCancelled) for outcome in outcomes)
        assert asyncio.get_running_loop().time() - began < 30
        assert door.store.books(BUDGET).reserved == 0

    at_the_door(tmp_path / "store.db", used_up(), scenario, speed=60.0, in_flight=4)


def test_what_the_ledger_knows_is_told_while_the_account_is_used_up(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("known")
        working = asyncio.ensure_future(door.ask_all(TEN))
        await paused(door)
        assert (await door.ask("known")).cached
        door.abort.set(RunCancelled("stopped"))
        await working

    at_the_door(tmp_path / "store.db", Account(1, 99, used_up()), scenario, speed=60.0)


@pytest.mark.parametrize("seconds", [121, 7_200])
def test_a_long_wait_that_says_nothing_of_a_quota_fails_its_worker_alone(tmp_path: Path, seconds: int) -> None:
    busy = json_answer({"error": {"message": "busy"}}, status=503, headers={"retry-after": str(seconds)})

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        first, second = await door.ask_all(["a"]), await door.ask_all(["b"])
        assert getattr(first[0], "error_class", None) == "overloaded"
        assert isinstance(second[0], Reply)
        assert door.pauses == []

    at_the_door(tmp_path / "store.db", [busy, completion("yes")], scenario)
