"""What a run that goes on writes: nothing again of workers that it ended before, and all that is new."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from planlang import compile as compile_program
from planloom.former import Former, read_former
from planloom.listeners import Listener
from planloom.loom import Job, Loom, Outcome, RunControl
from planloom.money import micro_of
from planloom.status import status_line
from planloom.stores import Event, RunRow, ThreadRow
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, completion, echo, json_answer
from planloom.words import build_vocabulary

from .plays import Play, events, refusing

FIVE = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"q{i}") for i in range(5)])\n'
SPOKEN = ("run.agent_started", "run.agent_ended")


def newest(loom: Loom) -> RunRow:
    return loom.store.runs(1)[0]


async def go_on(loom: Loom, source: str, **options: Any) -> Outcome:
    return await run_plan(loom, source, former=read_former(loom.store, newest(loom)), **options)


def threads(loom: Loom) -> dict[str, ThreadRow]:
    return {row.id: row for row in loom.store.threads(newest(loom).id)}


def last_start(loom: Loom) -> list[Event]:
    """Return the events of the newest run's last start."""
    stream = loom.store.events(newest(loom).id)
    assert [event.seq for event in stream] == list(range(1, len(stream) + 1))
    began = max(place for place, event in enumerate(stream) if event.type == "run.resumed")
    return stream[began:]


def spoken_of(stream: list[Event]) -> list[str]:
    """Return the labels of workers whose end is told."""
    return [event.data["thread"].rpartition("/")[2] for event in stream if event.type == "run.agent_ended"]


@contextmanager
def written(store: Path, table: str, name: str) -> Iterator[list[str]]:
    """Give the names of the rows of a table that are written meanwhile, once that is over."""
    names: list[str] = []
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE seen (name TEXT)")
        for deed in ("INSERT", "UPDATE"):
            connection.execute(
                f"CREATE TRIGGER seen_{deed} AFTER {deed} ON {table} BEGIN INSERT INTO seen VALUES (new.{name}); END"
            )
        yield names
        names += [row[0] for row in connection.execute("SELECT name FROM seen")]
        connection.execute("DROP TABLE seen")
        for deed in ("INSERT", "UPDATE"):
            connection.execute(f"DROP TRIGGER seen_{deed}")


def test_of_workers_that_ended_before_nothing_is_told_or_written_again(play: Play, tmp_path: Path) -> None:
    async def stops(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, FIVE, cap=0.6)).status == "paused"

    async def goes_on(loom: Loom, server: LoopbackServer) -> None:
        before = {thread: row for thread, row in threads(loom).items() if row.status == "done"}
        assert len(before) == 3
        heard: list[Event] = []
        with written(tmp_path / "store.db", "thread", "id") as rows:
            listener = Listener(name="hears", on_event=lambda run, event: heard.append(event))
            outcome = await go_on(loom, FIVE, listeners=[listener])
        assert (outcome.status, outcome.agents, outcome.asked, outcome.reused) == ("completed", 5, 2, 3)
        assert not {thread[thread.index("/") :] for thread in before} & set(rows)
        assert {thread: row for thread, row in threads(loom).items() if thread in before} == before
        stream = last_start(loom)
        assert heard == stream
        assert [event.type for event in stream if event.type not in SPOKEN] == [
            "run.resumed",
            "run.phase_started",
            "run.phase_ended",
            "run.ended",
        ]
        assert stream[0].data == {"reused": 3, "asked": 3}
        assert len(spoken_of(stream)) == 2
        assert not set(spoken_of(stream)) & {thread.rpartition("/")[2] for thread in before}

    play(echo, stops, in_flight=1)
    play(echo, goes_on, in_flight=1)


def test_workers_that_ended_before_are_counted_wherever_workers_are(play: Play) -> None:
    async def stops(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, FIVE, cap=0.6)

    async def goes_on(loom: Loom, server: LoopbackServer) -> None:
        outcome = await go_on(loom, FIVE)
        stream, row = last_start(loom), newest(loom)
        assert [event.data["agents"] for event in stream if "agents" in event.data] == [5, 5]
        (phase,) = outcome.phases
        assert (phase["started"], phase["done"], phase["running"], phase["calls"]) == (5, 5, 0, 5)
        assert row.facts["counts"] == {"agents": 5, "holes": 0, "asked": 2, "reused": 3}
        progress = loom.store.progress(row.id)
        assert (progress.threads, progress.agents, progress.holes) == ({"done": 5}, 5, 0)
        assert " | 0 running, 5 done, 0 failed, 0 dropped | 1.0 credits | " in status_line(loom.store, row)
        assert sum(thread.cost for thread in threads(loom).values()) == 1_000_000

    play(echo, stops, in_flight=1)
    play(echo, goes_on, in_flight=1)


def test_a_run_that_goes_on_twice_tells_of_each_worker_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, FIVE, cap=0.4)
        assert (await go_on(loom, FIVE, cap=0.8)).status == "paused"
        assert (await go_on(loom, FIVE, cap=5)).status == "completed"
        stream = loom.store.events(newest(loom).id)
        ended = [event.data["thread"] for event in stream if event.type == "run.agent_ended" and event.data["ok"]]
        assert (len(ended), len(set(ended)), server.total) == (5, 5, 5)
        assert [event.data for event in stream if event.type == "run.resumed"] == [
            {"reused": 2, "asked": 2},
            {"reused": 4, "asked": 4},
        ]

    play(echo, scenario, in_flight=1)


def test_a_worker_that_failed_before_and_is_asked_again_is_told_again(play: Play) -> None:
    async def fails(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, FIVE)).holes == 2

    async def one_fails_again(loom: Loom, server: LoopbackServer) -> None:
        failed = {row.id.rpartition("/")[2] for row in threads(loom).values() if row.status == "failed"}
        outcome = await go_on(loom, FIVE)
        stream = last_start(loom)
        assert (outcome.holes, server.total) == (1, 2)
        assert set(spoken_of(stream)) == failed
        assert sorted(event.data["ok"] for event in stream if event.type == "run.agent_ended") == [False, True]
        assert loom.store.progress(newest(loom).id).threads == {"done": 4, "failed": 1}

    play(refusing("q1", "q3"), fails)
    play(refusing("q3"), one_fails_again)


SCHEMA = 'result = agent("q", schema={"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}})\n'


def test_a_worker_whose_stored_answers_still_fit_nothing_fails_without_being_told_again(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        first = await run_plan(loom, SCHEMA)
        before = threads(loom)
        again = await go_on(loom, SCHEMA)
        assert (first.holes, again.holes, server.total) == (1, 1, 2)
        assert again.failures == first.failures
        assert (threads(loom), spoken_of(last_start(loom))) == (before, [])

    play(completion("no object"), scenario)


def test_a_worker_whose_stored_answer_must_be_repaired_is_told_when_it_asks(play: Play) -> None:
    told: list[str] = []

    async def fails(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, SCHEMA)).holes == 1

    async def goes_on(loom: Loom, server: LoopbackServer) -> None:
        listener = Listener(name="hears", on_event=lambda run, event: told.append(event.type))
        assert (await go_on(loom, SCHEMA, listeners=[listener])).result == {"a": 1}
        (row,) = threads(loom).values()
        assert (row.status, len(row.versions), spoken_of(last_start(loom))) == ("done", 2, ["t001"])

    def repairs(request: Received) -> Any:
        assert told == ["run.resumed", "run.agent_started"]
        return completion('{"a": 1}')

    turns = iter([completion("no object")])
    play(lambda request: next(turns, None) or json_answer({"error": {"message": "no"}}, status=400), fails)
    play(repairs, goes_on)


def test_a_worker_whose_end_was_not_written_down_is_told_though_its_answer_is_known(play: Play, tmp_path: Path) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        first = await run_plan(loom, FIVE)
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as store:
            store.execute("UPDATE thread SET status = 'running', ended = NULL WHERE id = '/t002'")
            store.execute("DELETE FROM thread WHERE id = '/t004'")
        again = await go_on(loom, FIVE)
        assert (again.result, server.total) == (first.result, 5)
        assert {row.status for row in threads(loom).values()} == {"done"}
        told = spoken_of(last_start(loom))
        assert len(told) == 2
        assert "t002" in told

    play(echo, scenario)


def test_what_was_dropped_stays_dropped_until_there_is_room(play: Play, tmp_path: Path) -> None:
    async def drops(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, FIVE)).holes == 2

    async def still_drops(loom: Loom, server: LoopbackServer) -> None:
        with written(tmp_path / "store.db", "thread", "id") as rows:
            assert (await go_on(loom, FIVE)).holes == 2
        progress = loom.store.progress(newest(loom).id)
        assert (rows, progress.threads, progress.holes) == ([], {"done": 3, "dropped": 2}, 2)
        assert [event.type for event in last_start(loom)].count("run.dropped") == 2
        assert ", 2 dropped | " in status_line(loom.store, newest(loom))

    async def has_room(loom: Loom, server: LoopbackServer) -> None:
        assert (await go_on(loom, FIVE)).holes == 0
        assert len(spoken_of(last_start(loom))) == 2
        line = status_line(loom.store, newest(loom))
        assert (", 0 dropped | " in line, "HOLES" in line) == (True, False)

    play(echo, drops, workers=3)
    play(echo, still_drops, workers=3)
    play(echo, has_room)


def test_workers_that_shared_an_answer_are_told_once(play: Play) -> None:
    source = 'result = parallel([lambda: agent("same"), lambda: agent("same"), lambda: agent("no")])\n'

    async def first(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, source)).holes == 1

    async def second(loom: Loom, server: LoopbackServer) -> None:
        outcome = await go_on(loom, source)
        assert (outcome.result, outcome.asked) == (["ok: same", "ok: same", "ok: no"], 1)
        assert len(spoken_of(last_start(loom))) == 1
        assert "run.shared" not in [event.type for event in last_start(loom)]

    play(refusing("no"), first)
    play(echo, second)


def test_a_race_that_was_decided_is_neither_told_nor_written_again(play: Play, tmp_path: Path) -> None:
    source = 'won = race([lambda: agent("slow"), lambda: agent("quick")])\nresult = [won, budget(), agent("no")]\n'

    async def first(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, source)).holes == 1

    async def second(loom: Loom, server: LoopbackServer) -> None:
        before = threads(loom)
        with written(tmp_path / "store.db", "journal", "place") as entries:
            outcome = await go_on(loom, source)
        assert (outcome.result[0], entries, len(spoken_of(last_start(loom)))) == ("ok: quick", [], 1)
        changed = [row for thread, row in threads(loom).items() if before[thread] != row]
        assert [(row.status, row.place) for row in changed] == [("done", changed[0].place)]

    def script(request: Received) -> Any:
        if request.question == "no":
            return json_answer({"error": {"message": "no"}}, status=400)
        return echo(request).after(0.3 if request.question == "slow" else 0)

    play(script, first)
    play(echo, second)


def test_a_run_that_asks_all_anew_goes_on_with_what_it_asked_itself(play: Play) -> None:
    async def start(loom: Loom, cap: float, former: Former | None = None) -> Outcome:
        program = compile_program(FIVE, build_vocabulary(loom.registry, loom.settings, ()))
        job = Job(title="A job", cap=micro_of(cap), refresh=True)
        return await loom.run(job, program, FIVE, former=former)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, FIVE)
        assert (await start(loom, 0.6)).status == "paused"
        whole = await start(loom, 5.0, read_former(loom.store, newest(loom)))
        assert (whole.status, whole.asked, whole.reused, server.total) == ("completed", 2, 3, 10)
        assert len(spoken_of(last_start(loom))) == 2

    play(echo, scenario, in_flight=1)


def test_a_worker_that_is_called_otherwise_is_told_again(play: Play) -> None:
    source = 'one = agent("one")\nresult = agent("two", label=f"after {one}")\n'

    async def first(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, source)).holes == 1

    async def second(loom: Loom, server: LoopbackServer) -> None:
        assert (await go_on(loom, source)).asked == 1
        assert {row.label for row in threads(loom).values()} == {"worker", "after ok: one"}
        assert len(spoken_of(last_start(loom))) == 2

    play(refusing("one"), first)
    play(echo, second)


def test_a_new_run_tells_of_all_its_workers(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, FIVE)
        again = await run_plan(loom, FIVE)
        assert again.asked == 0
        kinds = [event.type for event in events(loom, again)]
        assert (kinds.count("run.agent_started"), kinds.count("run.agent_ended"), len(threads(loom))) == (5, 5, 5)

    play(echo, scenario)


def test_a_replay_tells_its_listeners_of_all_workers(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        heard: list[Event] = []
        await run_plan(loom, FIVE)
        listener = Listener(name="hears", on_event=lambda run, event: heard.append(event))
        await go_on(loom, FIVE, mode="replay", listeners=[listener])
        assert len(spoken_of(heard)) == 5
        assert [event.seq for event in heard] == list(range(1, len(heard) + 1))

    play(echo, scenario)


def test_a_run_that_is_cancelled_before_it_reached_a_worker_leaves_what_is_stored_of_it(play: Play) -> None:
    source = 'first = agent("no")\nresult = [first, agent("q")]\n'

    async def fails(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, source)).holes == 1

    async def is_cancelled(loom: Loom, server: LoopbackServer) -> None:
        before = threads(loom)
        control = RunControl()
        for delay_s in (0.3, 0.4):
            asyncio.get_running_loop().call_later(delay_s, control.cancel)
        assert (await go_on(loom, source, control=control)).status == "cancelled"
        kept = [row for thread, row in threads(loom).items() if before[thread] == row]
        assert "done" in [row.status for row in kept]

    play(refusing("no"), fails)
    play(completion("late").hanging(), is_cancelled)


def test_a_worker_that_is_asked_something_else_by_now_asks_it(play: Play) -> None:
    source = 'one = agent("one")\nresult = agent(f"two after {one}")\n'

    async def first(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, source)).result == "ok: two after None"

    async def second(loom: Loom, server: LoopbackServer) -> None:
        outcome = await go_on(loom, source)
        assert (outcome.result, outcome.asked, outcome.reused) == ("ok: two after ok: one", 2, 0)
        assert len(spoken_of(last_start(loom))) == 2
        assert {row.result for row in threads(loom).values()} == {"ok: one", outcome.result}

    play(refusing("one"), first)
    play(echo, second)


def test_answers_that_fit_a_schema_or_were_repaired_are_known_too(play: Play) -> None:
    shape = '{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}'
    source = f'result = [agent(q, schema={shape}) for q in ["good", "mended", "no"]]\n'

    def script(request: Received) -> Any:
        if request.question == "no":
            return json_answer({"error": {"message": "no"}}, status=400)
        return completion('{"a": 1}' if request.question != "mended" else "no object")

    async def first(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, source)).result == [{"a": 1}, {"a": 1}, None]
        assert (await go_on(loom, source, mode="replay")).result == [{"a": 1}, {"a": 1}, None]

    async def second(loom: Loom, server: LoopbackServer) -> None:
        outcome = await go_on(loom, source)
        assert (outcome.result, outcome.asked, outcome.reused) == ([{"a": 1}] * 3, 1, 3)
        (phase,) = outcome.phases
        assert (phase["done"], phase["calls"], len(spoken_of(last_start(loom)))) == (3, 4, 1)

    play(script, first)
    play(completion('{"a": 1}'), second)
