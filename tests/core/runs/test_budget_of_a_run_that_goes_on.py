"""What a plan is told of its budget by a run that goes on: never more than is left, and the same ever after."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from planloom.former import read_former
from planloom.listeners import Listener
from planloom.loom import Job, Loom, RunControl
from planloom.money import micro_of
from planloom.stores import Event
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, echo

from .plays import Play

RACED = 'first = race([lambda: agent("slow"), lambda: agent("fast")])\nsecond = agent("after")\n'
THEN = 'third = agent("third")\nresult = budget()\n'
DELAYS = {"slow": 0.3, "after": 0.8}


def in_turn(request: Received) -> Any:
    """Answer a race's loser after its winner, and before the question that comes after the race."""
    return echo(request).after(DELAYS.get(request.question, 0.0))


async def stopped_before(loom: Loom, label: str, source: str, **options: Any) -> str:
    """Run a plan until its worker of that label asks, and cancel it; return the run's id."""
    control = RunControl()

    def hear(run: str, event: Event) -> None:
        if event.type == "run.agent_ended" and event.data["label"] == label:
            control.cancel()

    outcome = await run_plan(
        loom, source, control=control, listeners=(Listener(name="ends", on_event=hear),), **options
    )
    assert outcome.status == "cancelled"
    return outcome.run_id


def source_of(then: str) -> str:
    return RACED.replace('agent("after")', 'agent("after", label="after")') + then


def test_what_a_races_loser_was_paid_by_an_earlier_start_is_gone_from_the_budget(play: Play) -> None:
    source = source_of(THEN)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        run = await stopped_before(loom, "after", source, cap=10)
        row = loom.store.run(run)
        assert row is not None
        assert loom.store.money(run)["spent"] == 600_000
        outcome = await run_plan(loom, source, cap=10, former=read_former(loom.store, row))
        assert (outcome.status, outcome.result) == ("completed", 9.2)
        assert loom.store.books(row.budget).spent == 800_000

    play(in_turn, scenario)


def test_a_replay_is_told_what_the_run_that_went_on_was_told(play: Play) -> None:
    source = source_of(THEN)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        row = loom.store.run(await stopped_before(loom, "after", source, cap=10))
        assert row is not None
        await run_plan(loom, source, cap=10, former=read_former(loom.store, row))
        again = await run_plan(loom, source, cap=10, former=read_former(loom.store, row), mode="replay")
        assert (again.status, again.result) == ("completed", 9.2)

    play(in_turn, scenario)


def test_a_job_begun_again_from_the_journal_of_its_unfinished_run_is_told_no_more_than_is_left(play: Play) -> None:
    source = source_of(THEN)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await stopped_before(loom, "after", source, cap=10, budget="books")
        recorded = loom.recorded(Job(title="A job", cap=micro_of(10)), source)
        assert [entry["word"] for entry in recorded.values()] == ["race"]
        outcome = await run_plan(loom, source, cap=10, budget="books", recorded=recorded)
        assert (outcome.status, outcome.result) == ("completed", 9.2)

    play(in_turn, scenario)


def test_answers_that_a_run_which_goes_on_has_not_come_to_yet_are_paid_for_all_the_same(play: Play) -> None:
    """What the first task read of its budget was lost with its process; it reads again before the other one begins."""
    source = (
        'def chain():\n    agent("one")\n    return agent("two", label="two")\n'
        'def reads():\n    agent("late")\n    return budget()\n'
        "result = parallel([reads, chain])\nagent('last')\n"
    )

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        row = loom.store.run(await stopped_before(loom, "two", source, cap=10))
        assert row is not None
        assert loom.store.money(row.id)["spent"] == 600_000
        with closing(sqlite3.connect(loom.store.where)) as store:
            store.execute("DELETE FROM journal")
            store.commit()
        outcome = await run_plan(loom, source, cap=10, former=read_former(loom.store, row))
        assert (outcome.status, outcome.result[0]) == ("completed", 9.4)

    play(lambda request: echo(request).after(0.5 if request.question == "late" else 0.0), scenario)


def test_what_another_job_paid_for_counts_at_its_price_also_once_the_run_goes_on(play: Play) -> None:
    source = 'agent("one")\nagent("two", label="two")\nagent("three")\nresult = budget()\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, 'result = agent("one")\n', cap=10, budget="another job's")
        row = loom.store.run(await stopped_before(loom, "two", source, cap=10))
        assert row is not None
        outcome = await run_plan(loom, source, cap=10, former=read_former(loom.store, row))
        assert (outcome.result, loom.store.money(row.id)["spent"], server.total) == (9.4, 400_000, 3)

    play(echo, scenario)


def test_a_job_begun_again_under_another_cap_sees_what_its_rehearsal_saw(play: Play) -> None:
    source = 'began = budget()\nfound = agent("a", label="a")\nagent("b")\nresult = [began, budget()]\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await stopped_before(loom, "a", source, cap=10, budget="books")
        assert loom.recorded(Job(title="A job", cap=micro_of(20)), source) == {}
        outcome = await run_plan(loom, source, cap=20, budget="books")
        assert outcome.result == [20.0, 19.6]

    play(echo, scenario)


@pytest.mark.parametrize("store_cap", [3.0, 30.0])
def test_the_stores_cap_holds_for_a_run_that_goes_on_too(play: Play, store_cap: float) -> None:
    source = source_of(THEN)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await loom.store.cap_store(micro_of(store_cap))
        row = loom.store.run(await stopped_before(loom, "after", source, cap=10))
        assert row is not None
        outcome = await run_plan(loom, source, cap=10, former=read_former(loom.store, row))
        assert outcome.result == min(10.0, store_cap) - 0.8

    play(in_turn, scenario)
