"""Runs that are cancelled, replayed, stopped at their budget and begun again: nothing is asked twice."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from planloom import CacheMiss
from planloom.former import read_former
from planloom.listeners import Listener
from planloom.loom import Job, Loom, RunControl
from planloom.stores import Event
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, completion, echo

from .plays import ONE, Play, refusing


def test_workers_that_failed_are_asked_again_and_the_rest_comes_from_the_ledger(play: Play) -> None:
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(102)])\n'

    async def first(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, source)).holes == 2

    async def second(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source)
        assert server.total == 2
        assert (outcome.asked, outcome.reused, outcome.holes) == (2, 100, 0)
        assert (outcome.paid, outcome.full_price) == (400_000, 102 * 200_000)

    play(refusing("q3", "q56"), first)
    play(echo, second)


SIXTY = """
phase("Scan")
found = parallel([lambda i=i: agent(f"scan {i}") for i in range(30)])
phase("Check")
result = parallel([lambda i=i: agent(f"check {i} {found[i]}") for i in range(30)])
"""


def test_a_cancelled_run_asks_only_what_is_missing_when_it_is_run_again(play: Play) -> None:
    asked: Counter[str] = Counter()
    control = RunControl()
    answers: list[str] = []

    def cancel_after_25(run: str, event: Event) -> None:
        answers.append(event.type)
        if answers.count("run.agent_ended") == 25:
            control.cancel()

    async def first(loom: Loom, server: LoopbackServer) -> None:
        listener = Listener(name="canceller", on_event=cancel_after_25)
        outcome = await run_plan(loom, SIXTY, listeners=[listener], control=control)
        assert (outcome.status, outcome.exit_code) == ("cancelled", 130)
        assert 25 <= server.total < 60
        asked.update(server.asked)

    async def second(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, SIXTY)
        assert (outcome.status, outcome.exit_code) == ("completed", 0)
        assert (outcome.asked, outcome.reused) == (server.total, sum(asked.values()))
        asked.update(server.asked)
        assert (len(asked), max(asked.values())) == (60, 1)

    slow = lambda request: echo(request).after(0.02)  # noqa: E731 - both halves use it
    play(slow, first, in_flight=8)
    play(slow, second, in_flight=8)


def test_a_replay_gives_the_same_result_and_asks_nothing(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        first = await run_plan(loom, SIXTY)
        again = await run_plan(loom, SIXTY, mode="replay")
        assert (again.result, again.status, again.paid) == (first.result, "completed", 0)
        assert again.full_price == first.full_price
        assert server.total == 60

    play(echo, scenario)


def test_a_replay_of_a_plan_that_asks_something_new_fails_and_says_what_to_do(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = agent("new")\n', mode="replay")
        assert (outcome.status, outcome.exit_code, server.total) == ("failed", CacheMiss.exit_code, 0)
        assert outcome.error is not None
        assert "replay met a question of role `worker`" in outcome.error

    play(echo, scenario)


def test_a_run_that_stops_at_its_budget_is_paused_and_goes_on_with_more(play: Play) -> None:
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(40)])\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stopped = await run_plan(loom, source, cap=5.0, budget="books")
        assert (stopped.status, stopped.exit_code, stopped.paid, server.total) == ("paused", 5, 5_000_000, 25)
        went_on = await run_plan(loom, source, cap=10.0, budget="books")
        assert (went_on.status, went_on.exit_code, went_on.paid, server.total) == ("completed", 0, 3_000_000, 40)
        assert loom.store.books("books").spent == 8_000_000

    play(echo, scenario, in_flight=10)


def test_a_lower_cap_holds_for_an_unfinished_job_that_had_a_higher_one(play: Play) -> None:
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(40)])\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        control = RunControl()
        control.cancel()
        await run_plan(loom, source, cap=100.0, budget="books", control=control)
        stopped = await run_plan(loom, source, cap=2.0, budget="books")
        assert (stopped.status, stopped.paid, server.total) == ("paused", 2_000_000, 10)

    play(echo, scenario, in_flight=4)


def test_a_budget_seen_by_a_plan_is_the_same_however_much_came_from_the_ledger(play: Play) -> None:
    source = 'before = budget()\nagent("q")\nresult = [before, budget()]\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        first = await run_plan(loom, source, cap=3)
        again = await run_plan(loom, source, cap=3)
        assert first.result == again.result == [3.0, 2.8]
        assert [entry["value"] for entry in loom.store.journal(first.run_id).values()] == [3.0, 2.8]

    play(echo, scenario)


def test_an_unfinished_run_that_is_begun_again_decides_as_it_did_before(play: Play) -> None:
    source = 'before = budget()\nagent("lost")\nresult = before\n'

    async def is_cut_off(loom: Loom, server: LoopbackServer) -> None:
        control = RunControl()

        def cut_off(run: str, event: Event) -> None:
            if event.type == "run.agent_started":
                asyncio.get_running_loop().call_later(0.2, control.cancel)
                asyncio.get_running_loop().call_later(0.3, control.cancel)

        listener = Listener(name="impatient", on_event=cut_off)
        outcome = await run_plan(loom, source, cap=3, budget="books", control=control, listeners=[listener])
        assert (outcome.status, loom.store.books("books").uncertain) == ("cancelled", 200_000)

    async def goes_on(loom: Loom, server: LoopbackServer) -> None:
        job = Job(title="A job", cap=3_000_000)
        recorded = loom.recorded(job, source)
        assert recorded == {":0": {"word": "budget", "value": 3.0}}
        assert (await run_plan(loom, source, cap=3, budget="books", recorded=recorded)).result == 3.0
        assert loom.recorded(job, source) == {}

    async def another_cap_is_another_decision(loom: Loom, server: LoopbackServer) -> None:
        assert loom.recorded(Job(title="A job", cap=4_000_000), source) == {}

    play(completion("late").hanging(), is_cut_off)
    play(echo, another_cap_is_another_decision)
    play(echo, goes_on)


def test_a_run_that_goes_on_under_a_higher_cap_decides_as_it_did_and_sees_the_new_budget_from_there_on(
    play: Play,
) -> None:
    source = (
        "began = budget()\nn = 12 if began < 5 else 40\n"
        'parallel([lambda i=i: agent(f"q{i}") for i in range(n)])\nresult = [began, budget()]\n'
    )

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stopped = await run_plan(loom, source, cap=2)
        assert (stopped.status, server.total) == ("paused", 10)
        row = loom.store.run(stopped.run_id)
        assert row is not None
        went_on = await run_plan(loom, source, cap=20, former=read_former(loom.store, row))
        assert (went_on.status, went_on.result, server.total) == ("completed", [2.0, 17.6], 12)

    play(echo, scenario)


def test_a_plan_sees_the_smaller_of_what_its_job_and_the_store_have_left(play: Play) -> None:
    source = 'agent(args["q"])\nresult = budget()\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        async def left(question: str, cap: float) -> object:
            return (await run_plan(loom, source, cap=cap, args={"q": question})).result

        await loom.store.cap_store(10_000_000)
        assert [await left("a", 50), await left("b", 50), await left("c", 2)] == [9.8, 9.6, 1.8]
        # Its answer is known, so that it takes nothing from the store: it sees what it saw, less what others took.
        assert await left("a", 50) == 9.4
        await loom.store.cap_store(None)
        assert await left("d", 50) == 49.8

    play(echo, scenario)


def test_what_a_plan_saw_of_its_budget_is_on_the_disk_before_the_next_question_goes_out(
    play: Play, tmp_path: Path
) -> None:
    journalled: list[int] = []

    def script(request: Received) -> Any:
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
            journalled.append(*connection.execute("SELECT count(*) FROM journal").fetchone())
        return echo(request)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, 'a = budget()\nagent("1")\nb = budget()\nagent("2")\nresult = 1\n')
        assert journalled == [1, 2]

    play(script, scenario)


def test_two_plans_without_a_target_are_two_jobs() -> None:
    jobs = [Job(title="a", plan="1"), Job(title="b", plan="2"), Job(title="c", plan="1")]
    assert jobs[0].key != jobs[1].key
    assert jobs[0].key == jobs[2].key


def test_an_unfinished_run_of_the_same_job_is_found_and_a_finished_one_is_not(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        job = Job(title="A job", args={})
        control = RunControl()
        control.cancel()
        await run_plan(loom, ONE, control=control)
        found = loom.unfinished(job)
        assert found is not None
        assert found.status == "cancelled"
        await run_plan(loom, ONE)
        assert loom.unfinished(job) is None

    play(echo, scenario)


def test_a_thread_whose_row_was_lost_with_its_process_gives_its_name_to_no_other_worker(play: Play) -> None:
    """A call is on the disk before it is sent, its worker's row a tenth of a second later."""
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(4)])\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        first = await run_plan(loom, source, cap=0.4)
        assert (first.status, server.total) == ("paused", 2)
        with closing(sqlite3.connect(loom.store.where)) as store:
            lost = {f"{first.run_id}{name}" for (name,) in store.execute("SELECT thread FROM call")}
            store.execute("DELETE FROM thread")
            store.commit()
        row = loom.store.run(first.run_id)
        assert row is not None
        again = await run_plan(loom, source, former=read_former(loom.store, row))
        threads = {thread.id for thread in loom.store.threads(again.run_id)}
        assert (again.run_id, again.status, len(threads)) == (first.run_id, "completed", 4)
        assert not threads & lost

    play(echo, scenario)
