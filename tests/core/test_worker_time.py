"""A worker has one deadline over its attempts and its repair; what is not its own doing does not count."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from planloom._effort import Effort, OutOfTime
from planloom._virtual_time import run_in_virtual_time
from planloom.clients import ModelError
from planloom.money import micro_of
from planloom.questions import Reply
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, json_answer

SPEED = 100.0


def answering(request: Received) -> Served:
    return completion("late").hanging() if request.question == "stuck" else completion("yes").after(5.0)


def test_a_call_that_never_answers_ends_at_the_workers_deadline_and_the_others_are_answered(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        working = [door.ask(text, worker_timeout_s=60.0) for text in ("stuck", *(f"q{n}" for n in range(29)))]
        first, *others = await asyncio.gather(*working, return_exceptions=True)
        assert isinstance(first, ModelError)
        assert (first.error_class, str(first)) == (
            "timeout",
            "the worker had no answer within its 60 s; ask for less at once, or raise `limits.worker_timeout_s`",
        )
        assert all(isinstance(reply, Reply) for reply in others)
        assert door.store.books(BUDGET).uncertain == 200_000

    at_the_door(tmp_path / "store.db", answering, scenario, speed=SPEED, in_flight=30)


def test_the_deadline_is_one_for_all_attempts(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(OutOfTime):
            await door.ask("stuck", worker_timeout_s=150.0)
        assert server.total == 3
        assert door.store.books(BUDGET).uncertain == 3 * 200_000

    at_the_door(tmp_path / "store.db", answering, scenario, speed=SPEED, timeouts={"first_byte": 60.0})


def test_a_deadline_between_two_attempts_leaves_nothing_charged_for_those_that_were_refused(tmp_path: Path) -> None:
    refused = json_answer({"error": {"message": "not now"}}, status=503)

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(OutOfTime):
            await door.ask("a", worker_timeout_s=0.9)
        books = door.store.books(BUDGET)
        assert (books.spent, books.reserved, books.uncertain) == (0, 0, 0)

    # This seed has the second attempt wait for 0.96 s.
    at_the_door(tmp_path / "store.db", [refused, completion("too late")], scenario, seed=2)


def test_time_at_the_budget_does_not_count(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("a")
        waiting = asyncio.ensure_future(door.ask("b", worker_timeout_s=60.0))
        await asyncio.sleep(150.0)
        await door.store.set_cap(BUDGET, micro_of(10))
        assert isinstance(await waiting, Reply)

    at_the_door(tmp_path / "store.db", answering, scenario, speed=SPEED, cap=0.2, on_cap="wait")


def test_time_in_which_an_account_is_used_up_does_not_count(tmp_path: Path) -> None:
    used_up = json_answer({"error": {"message": "quota"}}, status=402)

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert isinstance(await door.ask("a", worker_timeout_s=60.0), Reply)

    answers = [used_up, used_up, completion("yes").after(5.0)]
    at_the_door(tmp_path / "store.db", answers, scenario, speed=SPEED)


def test_time_without_a_slot_does_not_count(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        replies = await asyncio.gather(*(door.ask(f"q{n}", worker_timeout_s=60.0) for n in range(30)))
        assert len(replies) == 30

    at_the_door(tmp_path / "store.db", answering, scenario, speed=SPEED, in_flight=1)


def test_who_shares_a_call_whose_worker_ran_out_of_time_asks_for_itself(tmp_path: Path) -> None:
    answers = [completion("late").hanging(), completion("yes")]

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        hasty = asyncio.ensure_future(door.ask("q", worker_timeout_s=60.0))
        await asyncio.sleep(5.0)
        patient = asyncio.ensure_future(door.ask("q"))
        with pytest.raises(OutOfTime):
            await hasty
        assert (await patient).text == "yes"

    at_the_door(tmp_path / "store.db", answers, scenario, speed=SPEED)


def test_a_timeout_of_somebody_else_is_passed_on_as_it_is() -> None:
    async def fails() -> None:
        raise TimeoutError("not the worker's")

    async def play() -> None:
        with pytest.raises(TimeoutError, match="not the worker's"), Effort(60.0).limit():
            await fails()

    run_in_virtual_time(play())
