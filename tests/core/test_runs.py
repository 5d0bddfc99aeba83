"""Whole runs of plans: what they ask, say, count and leave behind; with a real store and a real server."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom import CacheMiss
from planloom.kits import Kit, Prompt
from planloom.listeners import Listener
from planloom.loom import Job, Loom, Outcome, RunControl, run_id_of
from planloom.plugins import Registry, load_plugins
from planloom.stores import Event
from planloom.testing.looms import loom_at, run_plan
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, json_answer

Scenario = Callable[[Loom, LoopbackServer], Coroutine[Any, Any, None]]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


Play = Callable[..., None]


@pytest.fixture
def play(registry: Registry, tmp_path: Path) -> Play:
    """Play a scenario with a loom whose models are a scripted server; the store stays from one to the next."""

    def play_one(script: Script, scenario: Scenario, **settings: Any) -> None:
        async def main() -> None:
            async with (
                LoopbackServer(script) as server,
                loom_at(server.url, tmp_path / "store.db", registry=registry, **settings) as loom,
            ):
                await scenario(loom, server)

        asyncio.run(main())

    return play_one


def echo(request: Received) -> Any:
    return completion(f"ok: {request.question}")


def refusing(*texts: str) -> Script:
    """Answer every question but these, which are refused for good."""

    def script(request: Received) -> Any:
        if request.question in texts:
            return json_answer({"error": {"message": "content refused"}}, status=400)
        return echo(request)

    return script


def events(loom: Loom, outcome: Outcome) -> list[Event]:
    return loom.store.events(outcome.run_id)


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


ONE = 'phase("Look")\nresult = agent("is it so?", label="looker")\n'


def test_one_worker_in_one_phase_gives_six_events(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ONE)
        stream = events(loom, outcome)
        thread = f"{outcome.run_id}/t001"
        assert [(event.type, sorted(event.data)) for event in stream] == [
            ("run.created", ["title"]),
            ("run.phase_started", ["index", "phase"]),
            ("run.agent_started", ["label", "phase", "thread"]),
            ("run.agent_ended", ["cached", "credits", "label", "ok", "phase", "seconds", "thread"]),
            ("run.phase_ended", ["agents", "idle_seconds", "phase", "seconds"]),
            ("run.ended", ["agents", "credits", "holes", "seconds", "status"]),
        ]
        assert stream[2].data == {"thread": thread, "label": "looker", "phase": "Look"}
        ended = {key: value for key, value in stream[3].data.items() if key != "seconds"}
        assert ended == {
            "thread": thread, "label": "looker", "phase": "Look", "ok": True, "credits": 0.2, "cached": False
        }  # fmt: skip

    play(echo, scenario)


def test_events_are_numbered_without_gaps_and_dated_in_order(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(50)])\n')
        stream = events(loom, outcome)
        assert [event.seq for event in stream] == list(range(1, len(stream) + 1))
        assert [event.t for event in stream] == sorted(event.t for event in stream)
        assert all(event.t == round(event.t, 3) for event in stream)

    play(echo, scenario)


def test_a_run_leaves_its_result_its_plan_and_its_counts(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ONE, args={"depth": 3})
        row = loom.store.run(outcome.run_id)
        assert row is not None
        assert (row.status, row.result, row.plan, row.error) == ("completed", "ok: is it so?", ONE, None)
        assert row.facts["args"] == {"depth": 3}
        assert row.facts["counts"] == {"agents": 1, "holes": 0, "asked": 1, "reused": 0}
        assert row.facts["cost"] == {
            "paid": 200_000, "full_price": 200_000, "planning": 0, "uncertain": 0
        }  # fmt: skip
        assert [(phase["name"], phase["done"]) for phase in row.facts["phases"]] == [("Look", 1)]

    play(echo, scenario)


def test_a_worker_leaves_a_thread_with_its_question_and_its_cost(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ONE)
        (thread,) = loom.store.threads(outcome.run_id)
        assert (thread.id, thread.label, thread.phase, thread.status) == (
            f"{outcome.run_id}/t001", "looker", "Look", "done"
        )  # fmt: skip
        assert (thread.role, thread.model, thread.cost, thread.result) == ("worker", "m-1", 200_000, "ok: is it so?")
        question = loom.store.question(thread.fingerprints[0])
        assert question is not None
        assert [message.text for message in question.messages] == ["is it so?"]

    play(echo, scenario)


def test_a_worker_is_shown_its_system_text_its_prompt_and_its_data(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, 'result = agent("count", system="be brief", data={"n": [1, 2]})\n')
        assert server.received[0].json["messages"] == [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": 'count\n\n{"n": [1, 2]}'},
        ]

    play(echo, scenario)


def test_the_arguments_of_a_run_reach_its_plan_with_their_types(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(
            loom, 'result = [args["n"] + 1, args["deep"]["list"]]\n', args={"n": 1, "deep": {"list": [True]}}
        )
        assert outcome.result == [2, [True]]

    play(echo, scenario)


@pytest.mark.parametrize(
    ("result", "kept"),
    [("{2, 1}", [1, 2]), ('{(1, 2): "pair"}', {"(1, 2)": "pair"}), ('(1, float("nan"))', [1, None])],
)
def test_a_result_that_json_has_no_form_for_is_kept_in_the_nearest_one(play: Play, result: str, kept: Any) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, f"result = {result}\n")
        row = loom.store.run(outcome.run_id)
        assert row is not None
        assert (outcome.status, outcome.result, row.result) == ("completed", kept, kept)

    play(echo, scenario)


# --- holes


def test_a_worker_that_fails_gives_none_and_its_siblings_go_on(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = parallel([lambda q=q: agent(q) for q in ["a", "bad", "c"]])\n')
        assert outcome.result == ["ok: a", None, "ok: c"]
        assert (outcome.status, outcome.exit_code, outcome.holes) == ("completed", 3, 1)
        (failed,) = [thread for thread in loom.store.threads(outcome.run_id) if thread.status == "failed"]
        assert failed.error is not None
        assert failed.error.startswith("bad_request: ")

    play(refusing("bad"), scenario)


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


# --- phases


def test_a_workers_phase_is_that_of_the_task_that_called_it(play: Play) -> None:
    source = """
def one(name):
    phase(name)
    agent(f"{name} first")
    agent(f"{name} second")
    return name

result = parallel([lambda name=name: one(name) for name in ["red", "green", "blue"]])
"""

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source)
        assert Counter(thread.phase for thread in loom.store.threads(outcome.run_id)) == {
            "red": 2, "green": 2, "blue": 2
        }  # fmt: skip
        for thread in loom.store.threads(outcome.run_id):
            question = loom.store.question(thread.fingerprints[0])
            assert question is not None
            assert question.messages[0].text.startswith(thread.phase)

    play(lambda request: echo(request).after(0.02), scenario)


def test_a_phase_that_several_tasks_are_in_ends_with_the_last_of_them(play: Play) -> None:
    source = """
def one(name):
    phase("first")
    agent(f"{name} first")
    phase("then")
    return agent(f"{name} then")

result = parallel([lambda name=name: one(name) for name in ["quick", "slow"]])
"""

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stream = events(loom, await run_plan(loom, source))
        about = [(e.type, e.data.get("agents")) for e in stream if e.data.get("phase") == "first"]
        assert about[-2:] == [("run.agent_ended", None), ("run.phase_ended", 2)]
        assert [kind for kind, _ in about].count("run.phase_ended") == 1

    play(lambda request: echo(request).after(0.2 if request.question == "slow first" else 0), scenario)


def test_a_worker_may_name_its_own_phase(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'phase("A")\nagent("1")\nagent("2", phase="B")\nagent("3")\nresult = 1\n')
        assert [thread.phase for thread in loom.store.threads(outcome.run_id)] == ["A", "B", "A"]
        assert {phase["name"]: phase["done"] for phase in outcome.phases} == {"A": 2, "B": 1}

    play(echo, scenario)


def test_a_phase_that_is_closed_leaves_later_workers_without_one(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'phase("A")\nagent("1")\nphase(None)\nagent("2")\nresult = 1\n')
        assert [thread.phase for thread in loom.store.threads(outcome.run_id)] == ["A", ""]
        started = [event.data["phase"] for event in events(loom, outcome) if event.type == "run.phase_started"]
        assert started == ["A"]

    play(echo, scenario)


# --- what a worker may answer

SCHEMA = '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}'
ASK_N = f'result = agent("n?", schema={SCHEMA})\n'


def test_an_answer_that_does_not_fit_is_repaired_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.exit_code, server.total) == ({"n": 3}, 0, 2)
        assert server.received[1].json["messages"][1:] == [
            {"role": "assistant", "content": '{"n": "three"}'},
            {
                "role": "user",
                "content": "Your answer does not fit:\n- n: 'three' is not of type 'integer'\n"
                "Answer with the corrected JSON object only.",
            },
        ]

    play([completion('{"n": "three"}'), completion('{"n": 3}')], scenario)


def test_an_answer_that_never_fits_fails_after_one_repair_with_its_text_kept(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.holes, server.total) == (None, 1, 2)
        (thread,) = loom.store.threads(outcome.run_id)
        assert (thread.error, thread.raw) == ("schema: top level: 'n' is a required property", '{"m": 1} and prose')
        assert thread.cost == 2 * 200_000

    play(completion('{"m": 1} and prose'), scenario)


def test_a_stored_answer_that_does_not_fit_leads_to_its_stored_repair(play: Play) -> None:
    script = [completion('{"n": "three"}'), completion('{"n": 3}')]

    async def first(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, ASK_N)

    async def second(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.paid, outcome.reused, server.total) == ({"n": 3}, 0, 2, 0)

    play(script, first)
    play(script, second)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (completion('{"n": 3', finish_reason="length"), "truncated: the reply was cut at its token limit"),
        (completion('{"n": 3}', finish_reason="content_filter"), "unfinished: the server ended the reply with"),
        (
            completion('{"n":', finish_reason="error"),
            "unfinished: the server ended the reply with finish reason `error`",
        ),
        (
            completion("", finish_reason="content_filter"),
            "empty: the reply holds no text (finish reason content_filter)",
        ),
    ],
)
def test_a_reply_that_is_not_whole_fails_the_worker_and_asks_for_no_repair(play: Play, answer: Any, error: str) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, server.total) == (None, 1)
        (thread,) = loom.store.threads(outcome.run_id)
        assert thread.error is not None
        assert thread.error.startswith(error)

    play(answer, scenario)


def test_an_empty_reply_that_was_not_filtered_is_asked_for_once_more(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.holes, server.total) == ({"n": 3}, 0, 2)

    play([completion(""), completion('{"n": 3}')], scenario)


def test_a_reply_that_stays_empty_fails_the_worker(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.holes, server.total) == (None, 1, 2)

    play(completion(""), scenario)


def test_a_repair_that_was_cut_short_is_no_answer(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, ASK_N)).result is None

    play([completion("no"), completion('{"n": 3}', finish_reason="length")], scenario)


@pytest.mark.parametrize(
    ("json_mode", "sent"),
    [
        ("json_schema", {"type": "json_schema", "json_schema": {"name": "answer", "schema": json.loads(SCHEMA)}}),
        ("json_object", {"type": "json_object"}),
        ("none", None),
    ],
)
def test_a_schema_is_sent_as_the_server_can_take_it(play: Play, json_mode: str, sent: Any) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, ASK_N)).result == {"n": 3}
        request = server.received[0].json
        assert request.get("response_format") == sent
        assert ("JSON Schema" in request["messages"][0]["content"]) == (json_mode != "json_schema")

    play(completion('{"n": 3}'), scenario, json_mode=json_mode)


# --- cancel, resume, replay

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


def test_a_question_that_cannot_be_sent_fails_its_worker_alone(play: Play) -> None:
    source = 'odd = agent("1", schema={"type": "object"})\nresult = [agent(odd["n"]), agent("b")]\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source)
        assert (outcome.result, outcome.exit_code) == ([None, "fine"], 3)
        (error,) = outcome.failures
        assert error.startswith("unsendable: the text holds a lone surrogate")

    play([completion('{"n": "\\ud800"}'), completion("fine")], scenario)


def test_a_run_keeps_the_hashes_of_the_prompts_that_it_used(play: Play, registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("Look for bugs.")
    kit = registry.get("kit", "audit", Kit)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        loom.settings = attrs.evolve(loom.settings, prompts={"audit.scan": tmp_path / "own.md"})
        row = loom.store.run(await loom.keep_unrun(Job(title="a", kits=(kit,)), "", "refused", "no"))
        assert row is not None
        assert row.facts["prompts"]["audit.scan"] == Prompt(name="scan", text="Look for bugs.").digest
        assert row.facts["prompts"]["audit.report"] == kit.prompt("report").digest

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


def test_a_run_is_named_by_its_title() -> None:
    assert run_id_of("Möbius & Söhne: Q4?", lambda: "abc123") == "m-bius-s-hne-q4-abc123"
    assert run_id_of("???", lambda: "abc123") == "run-abc123"


# --- secrets


def test_the_key_is_in_no_file_of_the_store_no_event_and_no_error(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-loopback-4711"
    monkeypatch.setenv("LOOPBACK_KEY", key)

    def script(request: Received) -> Any:
        assert request.headers["authorization"] == f"Bearer {key}"
        if request.question == "bad":
            return json_answer({"error": {"message": f"no such thing for {key}"}}, status=400)
        return echo(request)

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, 'result = [agent("good"), agent("bad")]\n')
        assert outcome.holes == 1
        assert key not in repr((outcome, events(loom, outcome), loom.store.threads(outcome.run_id)))

    play(script, scenario, key_env="LOOPBACK_KEY")
    for name in os.listdir(tmp_path):
        assert key.encode() not in (tmp_path / name).read_bytes()


def test_a_race_is_over_with_its_winner_while_a_losers_call_goes_on(play: Play) -> None:
    source = 'first = race([lambda: agent("slow"), lambda: agent("fast")])\nresult = [first, agent("after")]\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        reserved = []

        def hear(run: str, event: Event) -> None:
            if event.type == "run.agent_started" and event.data["thread"].endswith("t003"):
                reserved.append(loom.store.money(run)["reserved"])

        outcome = await run_plan(loom, source, listeners=(Listener(name="money", on_event=hear),))
        assert (outcome.status, outcome.result) == ("completed", ["ok: fast", "ok: after"])
        assert reserved == [200_000]
        assert loom.store.money(outcome.run_id) == {"calls": 3, "spent": 600_000, "uncertain": 0, "reserved": 0}

    play(lambda request: echo(request).after(1.5 if request.question == "slow" else 0), scenario)
