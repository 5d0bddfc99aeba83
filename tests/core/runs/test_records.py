"""What a run asks, says and leaves behind: events, threads, counts, result; and no key anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom.kits import Kit, Prompt
from planloom.loom import Job, Loom, run_id_of
from planloom.plugins import Registry
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, echo, json_answer

from .plays import ONE, Play, events

CAME_TO = ("done", "failed", "cancelled", "unstarted", "dropped", "undecided", "holes")


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
            ("run.phase_ended", sorted(["agents", "idle_seconds", "phase", "seconds", *CAME_TO])),
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


def test_a_run_is_named_by_its_title() -> None:
    assert run_id_of("Möbius & Söhne: Q4?", lambda: "abc123") == "m-bius-s-hne-q4-abc123"
    assert run_id_of("???", lambda: "abc123") == "run-abc123"


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
