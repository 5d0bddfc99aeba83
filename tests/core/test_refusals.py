"""Servers that refuse for their load, fail, hang or never give an answer that fits: bounded, named, paid for once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from planloom.clients import ModelError
from planloom.questions import Reply
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, echo, json_answer

SPEED = 100.0
FORTY = [f"q{n}" for n in range(40)]
HUNDRED = [f"q{n}" for n in range(100)]


def refused(status: int, **headers: str) -> Served:
    return json_answer({"error": {"message": "slow down"}}, status=status, headers=headers)


class TakesTwo:
    """Answers two at a time, each after some seconds, and refuses whoever comes meanwhile."""

    def __init__(self, seconds: float, *, status: int = 429, retry_after: str | None = "2") -> None:
        self.seconds = seconds
        self.refusal = refused(status, **({"retry-after": retry_after} if retry_after else {}))
        self.refused = 0
        self.busy_until: list[float] = []

    def __call__(self, request: Received) -> Served:
        now = asyncio.get_running_loop().time()
        self.busy_until = [until for until in self.busy_until if until > now]
        if len(self.busy_until) < 2:
            self.busy_until.append(now + self.seconds)
            return echo(request).after(self.seconds)
        self.refused += 1
        return self.refusal


@pytest.mark.parametrize(
    ("seconds", "status", "retry_after"),
    [(1.0, 429, "2"), (10.0, 429, "2"), (3.0, 503, None), (3.0, 529, "1")],
    ids=["short calls", "calls longer than the wait", "503 without a time", "529"],
)
def test_a_server_that_takes_two_at_a_time_answers_forty_workers_and_loses_none(
    tmp_path: Path, seconds: float, status: int, retry_after: str | None
) -> None:
    script = TakesTwo(seconds, status=status, retry_after=retry_after)

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(FORTY)
        assert [outcome for outcome in outcomes if not isinstance(outcome, Reply)] == []
        assert len(door.fields("run.attempt")) == script.refused == server.total - 40
        assert script.refused < 80
        assert door.lane.slots.most <= 4
        assert door.store.money("run") == {"calls": 40, "spent": 8_000_000, "uncertain": 0, "reserved": 0}

    at_the_door(tmp_path / "store.db", script, scenario, speed=SPEED)


@pytest.mark.parametrize(
    "refusal",
    [refused(429), refused(429, **{"retry-after": "1"}), refused(503), refused(500), refused(529)],
    ids=["429", "429 with a time", "503", "500", "529"],
)
def test_a_server_that_always_refuses_gets_four_requests_a_question_and_every_worker_ends(
    tmp_path: Path, refusal: Served
) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(HUNDRED)
        assert all(isinstance(outcome, ModelError) for outcome in outcomes)
        assert (server.total, max(server.asked.values())) == (400, 4)
        attempts = door.fields("run.attempt")
        assert len(attempts) == 400
        assert sum(fields["next_wait"] is None for fields in attempts) == 100
        assert door.store.money("run") == {"calls": 0, "spent": 0, "uncertain": 0, "reserved": 0}

    at_the_door(tmp_path / "store.db", refusal, scenario, speed=SPEED)


def test_a_server_that_accepts_and_never_answers_fails_every_worker_after_four_timeouts(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await door.ask_all(HUNDRED[:20])
        assert {getattr(outcome, "error_class", None) for outcome in outcomes} == {"timeout"}
        assert max(server.asked.values()) == 4
        books = door.store.books(BUDGET)
        assert (books.reserved, books.uncertain) == (0, 80 * 200_000)

    hanging = completion("late").hanging()
    at_the_door(tmp_path / "store.db", hanging, scenario, speed=SPEED, timeouts={"first_byte": 60.0}, in_flight=20)


def test_after_a_refusal_other_faults_are_counted_with_it(tmp_path: Path) -> None:
    answers = [refused(429), refused(500), refused(429), refused(500), completion("too late")]

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(ModelError):
            await door.ask("q")
        assert server.total == 4

    at_the_door(tmp_path / "store.db", answers, scenario, speed=SPEED)


def test_who_waits_between_attempts_holds_no_slot(tmp_path: Path) -> None:
    def script(request: Received) -> Any:
        first = request.question == "first" and server_of[0].asked["first"] == 1
        return refused(500, **{"retry-after": "0"}) if first else echo(request)

    server_of: list[LoopbackServer] = []

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        server_of.append(server)
        outcomes = await door.ask_all(["first", *FORTY])
        assert all(isinstance(outcome, Reply) for outcome in outcomes)

    at_the_door(tmp_path / "store.db", script, scenario, speed=SPEED, in_flight=1)
