"""Workers of a run that fail, wait, are or are dropped; and plans that ask for too many."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

from planloom.loom import Loom, RunControl
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, echo, json_answer

from .plays import Play, events, refusing


async def watched(loom: Loom, server: LoopbackServer) -> None:
    """Have the store keep every state in which a worker's row was ever written."""
    with closing(sqlite3.connect(loom.store.where)) as store:
        store.execute("CREATE TABLE seen (id TEXT, status TEXT)")
        for when in ("INSERT", "UPDATE"):
            store.execute(
                f"CREATE TRIGGER seen_{when} AFTER {when} ON thread "
                "BEGIN INSERT INTO seen VALUES (new.id, new.status); END"
            )
        store.commit()


def test_a_worker_that_fails_gives_none_and_its_siblings_go_on(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = parallel([lambda q=q: agent(q) for q in ["a", "bad", "c"]])\n')
        assert outcome.result == ["ok: a", None, "ok: c"]
        assert (outcome.status, outcome.exit_code, outcome.holes) == ("completed", 3, 1)
        (failed,) = [thread for thread in loom.store.threads(outcome.run_id) if thread.status == "failed"]
        assert failed.error is not None
        assert failed.error.startswith("bad_request: ")

    play(refusing("bad"), scenario)


def test_workers_beyond_the_limit_are_dropped_and_counted(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(9)])\n')
        assert outcome.result.count(None) == 4
        assert (outcome.status, outcome.exit_code, outcome.holes, server.total) == ("completed", 3, 4, 5)
        dropped = [event.data for event in events(loom, outcome) if event.type == "run.dropped"]
        assert dropped == [{"label": "", "limit": 5}] * 4
        rows = loom.store.threads(outcome.run_id, status="dropped")
        assert {(row.started, row.ended, row.error) for row in rows} == {(None, None, "beyond 5 workers")}
        assert sorted(row.place for row in rows) == ["0.5.0", "0.6.0", "0.7.0", "0.8.0"]
        assert loom.store.progress(outcome.run_id).agents == outcome.agents == 5

    play(echo, scenario, workers=5)


def test_workers_that_wait_for_long_are_written_down_as_waiting(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        control = RunControl()
        source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(3)])\n'
        run = asyncio.ensure_future(run_plan(loom, source, control=control))
        while loom.store.progress(control.run_id).threads != {"running": 1, "waiting": 2}:
            await asyncio.sleep(0.02)
        assert loom.store.progress(control.run_id).agents == 1
        waiting = loom.store.threads(control.run_id, status="waiting")
        assert [(row.place, row.started) for row in waiting] == [("0.1.0", None), ("0.2.0", None)]
        control.cancel()
        outcome = await run
        # Those that never began were cancelled too, and count for no worker that was asked.
        assert loom.store.progress(outcome.run_id).threads == {"done": 1, "cancelled": 2}
        assert loom.store.progress(outcome.run_id).agents == outcome.agents == 1

    play(lambda request: echo(request).after(2.5), scenario, in_flight=1)


def test_workers_that_hardly_wait_are_never_written_down_as_waiting(play: Play) -> None:
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(40)])\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source)
        assert loom.store.progress(outcome.run_id).threads == {"done": 40}
        with closing(sqlite3.connect(loom.store.where)) as store:
            (waited,) = store.execute("SELECT count(*) FROM seen WHERE status = 'waiting'").fetchone()
            (written,) = store.execute("SELECT count(*) FROM seen").fetchone()
        assert waited == 0
        assert 40 <= written <= 80

    play(echo, watched, in_flight=4)
    play(echo, scenario, in_flight=4)


def test_a_plan_that_asks_for_twice_the_limit_is_ended_as_a_runaway(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'for i in range(1000000):\n    agent(f"q{i}")\nresult = 1\n')
        assert (outcome.status, outcome.exit_code, server.total) == ("runaway", 9, 5)
        assert outcome.error is not None
        assert "limit of 5" in outcome.error

    play(echo, scenario, workers=5)


def test_a_plan_that_fails_says_where_and_closes_its_phase(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'phase("Work")\nx = agent("q")\nresult = x["key"]\n')
        assert (outcome.status, outcome.exit_code) == ("failed", 1)
        assert outcome.error is not None
        assert outcome.error.startswith("the plan failed at line 3, column 10: TypeError: ")
        assert [event.type for event in events(loom, outcome)][-2:] == ["run.phase_ended", "run.ended"]

    play(echo, scenario)


def test_a_refused_key_fails_the_run_with_one_request(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(50)])\n')
        assert (outcome.status, outcome.exit_code, server.total) == ("failed", 2, 1)

    play(json_answer({"error": {"message": "bad key"}}, status=401), scenario, in_flight=1)


def test_a_role_that_was_not_foreseen_is_still_asked(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = agent("q", model="judge")\n', roles=())
        assert (outcome.result, outcome.exit_code) == ("ok: q", 0)

    play(echo, scenario)
