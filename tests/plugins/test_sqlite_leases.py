"""Leases: who is alive, whose calls are of unknown outcome, and what a process does that overslept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom import RunTaken
from planloom.stores import Answered, Books, Granted, OpenElsewhere
from planloom.testing.store_samples import JOB, a_question, a_reply, a_run, a_thread, ask_for, events_of
from planloom_sqlite import SqliteStore, check_store, open_store


@attrs.define
class Clock:
    """A wall clock that stands still until it is moved; the test moves it."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


Scenario = Callable[[SqliteStore, SqliteStore, Clock], Coroutine[Any, Any, None]]


@pytest.fixture
def both(tmp_path: Path) -> Callable[[Scenario], None]:
    """Run a scenario with two stores of one file and the clock that both read, and check the file afterwards."""

    def run(scenario: Scenario) -> None:
        async def opened() -> None:
            clock = Clock()
            one, two = (open_store(tmp_path / "store.db", lease_s=60, clock=clock) for _ in range(2))
            await one.open_budget(JOB, 100)
            await scenario(one, two, clock)
            await one.close()
            await two.close()

        asyncio.run(opened())
        assert check_store(tmp_path / "store.db") == []

    return run


def books(spent: int = 0, reserved: int = 0, uncertain: int = 0) -> Books:
    return Books(cap=100, spent=spent, reserved=reserved, uncertain=uncertain)


async def granted(store: SqliteStore, number: int = 0) -> str:
    result = await ask_for(store, a_question(number))
    assert isinstance(result, Granted)
    return result.call_id


async def _stay_awake(store: SqliteStore) -> None:
    await store.open_budget(JOB, 0)  # any write renews a lease of which a third has passed


def test_a_question_of_a_living_owner_stays_open_elsewhere(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        call = await granted(one)
        for _ in range(5):
            clock.now += 25
            await _stay_awake(one)
            assert await ask_for(two, a_question()) == OpenElsewhere(call)

    both(scenario)


def test_a_question_of_a_dead_owner_may_be_asked_again(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        await granted(one)
        clock.now += 61
        await granted(two)
        assert two.books(JOB) == books(reserved=10, uncertain=10)

    both(scenario)


def test_a_late_reply_of_a_dead_owner_settles_its_uncertain_call(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        late = await granted(one)
        clock.now += 61
        again = await granted(two)
        await two.settle(again, a_reply("first", price=3))
        await one.settle(late, a_reply("late", price=4))
        assert two.books(JOB) == books(spent=7)
        answer = await ask_for(one, a_question())
        assert isinstance(answer, Answered)
        assert answer.reply.text == "first"

    both(scenario)


def test_a_process_that_overslept_goes_on_as_a_new_owner(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        old = await granted(one, 1)
        clock.now += 1000
        new = await granted(one, 2)
        assert one.books(JOB) == books(reserved=10, uncertain=10)
        assert [call.call_id for call in one.uncertain_calls(JOB)] == [old]
        assert await ask_for(two, a_question(2)) == OpenElsewhere(new)

    both(scenario)


def test_a_settlement_that_wakes_an_overslept_process_bills_once(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        call = await granted(one)
        clock.now += 1000
        await one.settle(call, a_reply(price=4))
        assert one.books(JOB) == books(spent=4)

    both(scenario)


def test_a_write_of_a_living_owner_gives_up_the_calls_of_dead_ones(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        await granted(one)
        for _ in range(3):
            clock.now += 25
            await _stay_awake(two)
        assert two.books(JOB) == books(uncertain=10)

    both(scenario)


def test_the_writer_renews_its_lease_while_nothing_is_written(tmp_path: Path) -> None:
    async def scenario() -> None:
        one, two = (open_store(tmp_path / "store.db", lease_s=0.3) for _ in range(2))
        await one.open_budget(JOB, 100)
        call = await granted(one)
        await asyncio.sleep(0.8)
        assert await ask_for(two, a_question()) == OpenElsewhere(call)
        await one.release(call)
        await one.close()
        await two.close()

    asyncio.run(scenario())


def test_a_clock_that_is_set_forward_loses_no_reply_and_no_run(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        await one.claim_run("run-1")
        calls = [await granted(one, number) for number in range(3)]
        clock.now += 3600
        await _stay_awake(two)
        assert two.books(JOB) == books(uncertain=30)
        for call in calls:
            await one.settle(call, a_reply(price=4))
        assert two.books(JOB) == books(spent=12)
        holder = one.driver("run-1")
        assert holder is not None
        assert holder.here

    both(scenario)


def test_a_clock_that_is_set_back_makes_no_lease_longer(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        clock.now -= 3600
        call = await granted(one)
        assert await ask_for(two, a_question()) == OpenElsewhere(call)
        clock.now += 61
        await granted(two)
        assert two.books(JOB) == books(reserved=10, uncertain=10)

    both(scenario)


def test_a_run_that_another_took_stays_with_it_when_its_driver_wakes(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        await one.claim_run("run-1")
        clock.now += 61
        assert await two.claim_run("run-1") is None
        await _stay_awake(one)
        holder = one.driver("run-1")
        assert holder is not None
        assert not holder.here
        await one.release_run("run-1")
        assert await one.claim_run("run-1") is not None

    both(scenario)


def test_a_driver_that_wakes_after_others_had_its_run_writes_nothing_of_it(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        await one.claim_run("run-1")
        await one.save_run(a_run(status="running"))
        clock.now += 61
        await two.claim_run("run-1")
        await two.save_run(a_run(status="cancelled"))
        await two.release_run("run-1")
        writes = (
            one.save_run(a_run(status="running")),
            one.save_threads([a_thread()]),
            one.append_events("run-1", events_of("run.created")),
            one.write_journal("run-1", "1.0", 2),
        )
        for write in writes:
            with pytest.raises(RunTaken, match="another process had the run run-1"):
                await write
        assert (two.run("run-1"), two.threads("run-1"), two.events("run-1")) == (a_run(status="cancelled"), [], [])
        await one.release_run("run-1")
        await one.save_run(a_run(status="running"))

    both(scenario)


def test_a_driver_that_wakes_writes_on_when_nobody_had_its_run(both: Callable[[Scenario], None]) -> None:
    async def scenario(one: SqliteStore, two: SqliteStore, clock: Clock) -> None:
        await one.claim_run("run-1")
        clock.now += 61
        await _stay_awake(two)
        await one.save_run(a_run(status="completed"))
        assert two.run("run-1") == a_run(status="completed")

    both(scenario)
