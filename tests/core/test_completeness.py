"""What a run says about what it lacks: in its counts, its phases, its status line, its record and its exit code."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from planlang import Call, Vocabulary, Word
from planlang import compile as compile_program
from planloom.cli._runs import _phases
from planloom.loom import Job, Loom, Outcome, RunControl
from planloom.money import micro_of
from planloom.plugins import Registry, load_plugins
from planloom.rehearsal import Rehearsal, rehearse
from planloom.status import status_line
from planloom.stores import RunRow
from planloom.terminal import outcome_line
from planloom.testing.looms import PRICE, loom_at, run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, Received, completion, echo, json_answer
from planloom.words import build_vocabulary, signature_of

Left = tuple[Outcome, RunRow, str]
Play = Callable[..., Left]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def play(registry: Registry, tmp_path: Path) -> Play:
    """Run a plan; return its outcome, its record and its status line."""

    def run(source: str, script: Any, *, workers: int = 1_000, **options: Any) -> Left:
        async def main() -> Left:
            async with (
                LoopbackServer(script) as server,
                loom_at(server.url, tmp_path / "store.db", registry=registry, workers=workers) as loom,
            ):
                outcome = await run_plan(loom, source, **options)
                row = loom.store.run(outcome.run_id)
                assert row is not None
                return outcome, row, status_line(loom.store, row)

        return asyncio.run(main())

    return run


def refusing(*texts: str) -> Any:
    refused = json_answer({"error": {"message": "content refused"}}, status=400)
    return lambda request: refused if request.question in texts else echo(request)


STRICT = '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}'


def test_answers_that_never_fit_their_schema_are_holes_with_labels_though_the_plan_drops_them(play: Play) -> None:
    source = f"""
def ask(i):
    return agent(f"item {{i}}", schema={STRICT}, label=f"item-{{i}}")

found = parallel([lambda i=i: ask(i) for i in range(10)])
result = [one for one in found if one]
"""
    bad = ("item 3", "item 7")
    outcome, row, line = play(
        source, lambda r: completion("no" if r.json["messages"][0]["content"].startswith(bad) else '{"n": 1}')
    )
    assert (len(outcome.result), outcome.exit_code, outcome.holes) == (8, 3, 2)
    (phase,) = row.facts["phases"]
    assert (phase["started"], phase["done"], phase["failed"]) == (10, 8, 2)
    assert sorted(one["name"] for one in row.facts["ended"]["missing"]) == ["item-3", "item-7"]
    assert "8 done, 2 failed" in line
    assert "HOLES 2" in line


def test_one_refused_worker_of_three_leaves_two_values_and_a_hole(play: Play) -> None:
    outcome, _, _ = play('result = parallel([lambda q=q: agent(q) for q in ["a", "bad", "c"]])\n', refusing("bad"))
    assert (outcome.result, outcome.status, outcome.holes) == (["ok: a", None, "ok: c"], "completed", 1)


def test_a_task_that_breaks_on_its_failed_worker_is_one_hole(play: Play) -> None:
    source = 'result = parallel([lambda q=q: agent(q)["x"] for q in ["bad"]])\n'
    outcome, row, _ = play(source, refusing("bad"))
    assert outcome.holes == 1
    (phase,) = row.facts["phases"]
    assert (phase["failed"], phase["tasks_failed"]) == (1, 0)


def test_a_task_that_breaks_around_tasks_that_lost_a_worker_is_one_hole(play: Play) -> None:
    source = 'result = parallel([lambda: parallel([lambda q=q: agent(q) for q in ["bad"]])[0]["x"]])\n'
    assert play(source, refusing("bad"))[0].holes == 1


def test_a_task_that_breaks_though_its_worker_answered_is_a_hole_of_its_own_kind(play: Play) -> None:
    outcome, row, _ = play('result = parallel([lambda: agent("a")["x"], lambda: agent("b")])\n', echo)
    (phase,) = row.facts["phases"]
    assert (phase["done"], phase["failed"], phase["tasks_failed"], outcome.holes) == (2, 0, 1, 1)
    (missing,) = outcome.missing
    assert (missing["kind"], missing["name"]) == ("task", "0.0")
    assert missing["reason"].startswith("TypeError: ")


def test_workers_in_every_phase_are_asked_answered_failed_or_dropped(play: Play) -> None:
    source = """
phase("Find")
parallel([lambda i=i: agent(f"find {i}") for i in range(3)])
phase("Check")
result = parallel([lambda i=i: agent(f"check {i}") for i in range(4)])
"""
    outcome, row, _ = play(source, refusing("find 1", "check 0"), workers=5)
    counts = [[phase[key] for key in ("name", "started", "done", "failed", "dropped")] for phase in row.facts["phases"]]
    assert counts == [["Find", 3, 2, 1, 0], ["Check", 2, 1, 1, 2]]
    assert (outcome.holes, outcome.agents, outcome.exit_code) == (4, 5, 3)


def test_a_phase_that_lacks_an_answer_says_so_in_its_line_after_the_run_went_on(play: Play) -> None:
    source = """
phase("One")
parallel([lambda i=i: agent(f"one {i}") for i in range(3)])
phase("Two")
result = agent("two")
"""
    _, row, _ = play(source, refusing("one 1"))
    shown = io.StringIO()
    Console(width=100, file=shown).print(_phases(row.facts["phases"]))
    one, two = [line.split() for line in shown.getvalue().splitlines()[1:]]
    assert one == ["One", "3", "2", "of", "3", "1", "0", "0", "HOLES", "1"]
    assert two == ["Two", "1", "1", "of", "1", "0", "0", "0"]


def test_workers_that_lost_a_race_have_a_column_in_the_table_of_phases(play: Play) -> None:
    def script(request: Received) -> Any:
        return echo(request) if request.question == "quick" else echo(request).after(0.3)

    _, row, _ = play('result = race([lambda: agent("quick"), lambda: agent("slow")])\n', script)
    shown = io.StringIO()
    Console(width=100, file=shown).print(_phases(row.facts["phases"]))
    heads, only = shown.getvalue().splitlines()
    assert heads.split() == ["phase", "workers", "done", "failed", "cancelled", "dropped", "undecided"]
    assert only.split()[2:] == ["2", "1", "of", "2", "0", "1", "0", "0"]


def test_answers_that_do_not_fit_are_not_said_to_be_asked_again_by_a_resume(play: Play) -> None:
    outcome, _, _ = play('result = agent("q", schema={"type": "object", "required": ["n"]})\n', completion("{}"))
    assert outcome.failures == {"schema: top level: 'n' is a required property": 1}
    assert "the same command with --refresh asks anew" in outcome_line(outcome)
    assert "asks what is missing" not in outcome_line(outcome)


def test_a_task_that_fails_on_good_answers_is_not_said_to_be_asked_again_by_a_resume(play: Play) -> None:
    outcome, _, _ = play('result = parallel([lambda: agent("q").split()[9]])\n', completion("yes"))
    assert (outcome.holes, outcome.failures) == (1, {})
    assert "asks what is missing" not in outcome_line(outcome)


def test_a_worker_in_a_concurrent_stage_is_in_the_phase_of_its_own_task(play: Play) -> None:
    source = """
def look(v):
    phase("Look")
    return agent(f"Look {v}")

def weigh(v, item):
    phase("Weigh")
    return agent(f"Weigh {item}")

result = pipeline(range(6), look, weigh)
"""
    seen: dict[str, list[str]] = {}

    async def main(loom: Loom) -> None:
        outcome = await run_plan(loom, source)
        for thread in loom.store.threads(outcome.run_id):
            question = loom.store.question(thread.fingerprints[0])
            assert question is not None
            seen.setdefault(thread.phase, []).append(question.messages[0].text.split()[0])
        assert {phase["name"]: phase["done"] for phase in outcome.phases if phase["started"]} == {"Look": 6, "Weigh": 6}

    with_loom(lambda request: echo(request).after(0.01 * (len(request.question) % 3)), main)
    assert seen == {"Look": ["Look"] * 6, "Weigh": ["Weigh"] * 6}


def with_loom(script: Any, main: Any, store: Path | str = ":memory:", in_flight: int = 16) -> None:
    async def play() -> None:
        async with LoopbackServer(script) as server, loom_at(server.url, store, in_flight=in_flight) as loom:
            await main(loom)

    asyncio.run(play())


def test_a_run_between_two_phases_is_running_and_names_the_phase(registry: Registry) -> None:
    source = """
phase("Find")
parallel([lambda i=i: agent(f"find {i}") for i in range(3)])
look()
phase("Verify")
result = parallel([lambda i=i: agent(f"verify {i}") for i in range(3)])
"""
    lines: list[str] = []

    async def main(loom: Loom) -> None:
        async def look(call: Call) -> None:
            (row,) = loom.store.runs()
            while loom.store.progress(row.id).threads.get("done") != 3:
                await asyncio.sleep(0.01)
            lines.append(status_line(loom.store, row))

        word = Word("look", look, signature=signature_of(lambda: None), doc="", suspends=True)
        known = build_vocabulary(registry, loom.settings, ())
        program = compile_program(source, Vocabulary([*known.words.values(), *known.values.values(), word]))
        assert (await loom.run(Job(title="A job"), program, source)).status == "completed"

    with_loom(echo, main)
    (line,) = lines
    assert "| running | phase 1: Find | 0 running, 3 done, 0 failed" in line


def test_after_a_cancel_nothing_is_shown_as_running_and_no_worker_was_multiplied(tmp_path: Path) -> None:
    items = [{"id": i, "text": "x" * 110} for i in range(105)]
    assert len(json.dumps(items)) > 13_000
    source = """
groups = [args["items"][n:n + 10] for n in range(0, 105, 10)]
result = parallel([lambda g=g: agent("look", data=g) for g in groups])
"""
    answered: list[str] = []

    async def main(loom: Loom) -> None:
        control = RunControl()
        script_control.append(control)
        outcome = await run_plan(loom, source, args={"items": items}, control=control)
        row = loom.store.run(outcome.run_id)
        assert row is not None
        assert (outcome.status, outcome.exit_code) == ("cancelled", 130)
        assert outcome.agents <= 11
        assert "0 running" in status_line(loom.store, row)
        assert {thread.status for thread in loom.store.threads(outcome.run_id)} <= {"done", "failed", "cancelled"}

    script_control: list[RunControl] = []

    def script(request: Received) -> Any:
        answered.append(request.question)
        if len(answered) == 5:
            script_control[0].cancel()
        return completion("seen").after(0.05)

    with_loom(script, main, tmp_path / "store.db", in_flight=4)
    assert len(answered) < 11


def test_workers_beyond_the_limit_are_dropped_and_those_within_it_are_kept(play: Play) -> None:
    outcome, row, line = play(
        'result = parallel([lambda i=i: agent(f"q{i}", label=f"w{i}") for i in range(100)])\n', echo, workers=50
    )
    assert (outcome.status, outcome.exit_code, outcome.holes) == ("completed", 3, 50)
    assert [value is not None for value in outcome.result].count(True) == 50
    (phase,) = row.facts["phases"]
    assert (phase["done"], phase["dropped"]) == (50, 50)
    assert "50 dropped" in line
    assert f"`planloom resume {outcome.run_id}`, with --workers N, asks what is missing" in outcome_line(outcome)


def test_a_run_that_dropped_workers_goes_on_under_a_higher_limit_and_pays_for_nothing_twice(play: Play) -> None:
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(20)])\n'
    assert play(source, echo, workers=10)[0].holes == 10
    again, _, _ = play(source, echo, workers=20)
    assert (again.holes, again.asked, again.reused) == (0, 10, 10)


# --- before the run


@pytest.fixture
def rehearsed(registry: Registry, tmp_path: Path) -> Callable[..., Rehearsal]:
    def run(source: str, workers: int = 1_000) -> Rehearsal:
        settings = settings_at("http://127.0.0.1:9/v1", tmp_path / "store.db", workers=workers)
        program = compile_program(source, build_vocabulary(registry, settings, ()))
        return rehearse(
            program, registry=registry, settings=settings, works={}, prices=lambda _: PRICE, budget=micro_of(150)
        )

    return run


def test_a_failed_worker_wrapped_in_a_dict_is_found_before_the_run(rehearsed: Callable[..., Rehearsal]) -> None:
    source = f"""
schema = {{"type": "object", "required": ["items"], "properties": {{"items": {STRICT}}}}}
rows = parallel([lambda n=n: {{"name": n, "r": agent(f"look at {{n}}", schema=schema)}} for n in ["a", "b", "c"]])
result = [row["r"]["items"] for row in rows if row]
"""
    (problem,) = rehearsed(source).problems
    assert problem.startswith("rehearsal with a quarter of the workers failing: line 4: TypeError: ")
    assert "a failed worker gives None, also inside a dict or list" in problem


@pytest.mark.parametrize("breaks", range(3))
def test_a_plan_that_breaks_on_any_one_worker_is_refused(rehearsed: Callable[..., Rehearsal], breaks: int) -> None:
    source = 'found = [agent(f"q{n}") for n in range(3)]\n' + f"result = found[{breaks}].upper()\n"
    (problem,) = rehearsed(source).problems
    assert "line 2: AttributeError" in problem


def test_a_plan_whose_workers_all_fail_is_advised_of_it_and_not_refused(rehearsed: Callable[..., Rehearsal]) -> None:
    told = rehearsed('result = agent("the only one").upper()\n')
    assert told.problems == ()
    (advice,) = told.advice
    assert advice.startswith("if every worker fails, the plan breaks: line 1: AttributeError: ")


def test_words_that_run_tasks_and_saved_plans_are_priced_in_virtual_time(rehearsed: Callable[..., Rehearsal]) -> None:
    source = """
phase("Line")
pipeline(range(10), lambda v: agent(f"a {v}"), lambda v, item: agent(f"b {item}"))
phase("Race")
result = race([lambda i=i: agent(f"c {i}") for i in range(3)])
"""
    began = time.monotonic()
    told = rehearsed(source)
    assert (told.phases, told.problems) == ({"Line": 20, "Race": 3}, ())
    assert told.seconds > 10
    assert time.monotonic() - began < told.seconds
