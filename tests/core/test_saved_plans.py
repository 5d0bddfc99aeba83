"""A saved plan inside another one: same run, budget, caps and phases; places of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from planlang import check
from planloom import ConfigurationError
from planloom.kits import Kit, SavedPlan
from planloom.loom import Outcome, open_loom
from planloom.plugins import Registry, load_plugins
from planloom.saved_plans import plan_digests, plans_called, saved_plans
from planloom.settings import Settings
from planloom.testing.looms import run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, Script, completion, json_answer
from planloom.words import build_vocabulary

Ran = tuple[Outcome, list[Any], list[Any], list[str]]
Play = Callable[..., Ran]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    folder = tmp_path / "plans"
    folder.mkdir()
    return folder


@pytest.fixture
def play(registry: Registry, tmp_path: Path) -> Play:
    """Run a plan in a project; return outcome, threads, events and questions."""

    def run(source: str, script: Script | None = None, *, workers: int = 1_000, **options: Any) -> Ran:
        async def main() -> Ran:
            async with LoopbackServer(script or (lambda r: completion(f"ok: {r.question}"))) as server:
                settings = settings_at(server.url, tmp_path / "store.db", workers=workers)
                own = attrs.evolve(settings, source=tmp_path / "planloom.toml")
                async with open_loom(registry, own) as loom:
                    outcome = await run_plan(loom, source, **options)
                    stored = loom.store.threads(outcome.run_id), loom.store.events(outcome.run_id)
                    return outcome, *stored, [r.question for r in server.received]

        return asyncio.run(main())

    return run


def test_a_saved_plan_is_given_its_arguments_and_gives_its_result(play: Play, plans: Path) -> None:
    (plans / "twice.plan").write_text('result = [agent(args["q"]), args["n"] + 1]\n')
    outcome, _, _, asked = play('result = [plan("twice", q="a", n=1), args["n"]]\n', args={"n": 7})
    assert outcome.result == [["ok: a", 2], 7]
    assert asked == ["a"]


def test_a_saved_plan_without_arguments_has_none_of_its_callers(play: Play, plans: Path) -> None:
    (plans / "own.plan").write_text("result = args\n")
    assert play('result = plan("own")\n', args={"n": 7})[0].result == {}


def test_what_a_saved_plan_leaves_stands_below_the_place_that_called_it(play: Play, plans: Path) -> None:
    (plans / "two.plan").write_text('result = parallel([lambda: agent("x"), lambda: agent("y")])\n')
    _, threads, _, _ = play('agent("first")\nresult = [plan("two"), agent("last")]\n')
    assert [thread.place for thread in threads] == ["0", "1/0.0.0", "1/0.1.0", "2"]


def test_the_workers_of_a_saved_plan_are_in_its_callers_phase_or_in_its_own(play: Play, plans: Path) -> None:
    (plans / "some.plan").write_text('agent("x")\nphase("Own")\nresult = agent("y")\n')
    outcome, threads, events, _ = play('phase("Outer")\nplan("some")\nresult = agent("z")\n')
    assert [thread.phase for thread in threads] == ["Outer", "Own", "Outer"]
    marks = [(e.type[4:], e.data["phase"]) for e in events if e.type.startswith("run.phase")]
    assert marks == [
        ("phase_started", "Outer"), ("phase_started", "Own"), ("phase_ended", "Own"), ("phase_ended", "Outer")
    ]  # fmt: skip
    assert outcome.agents == 3


def test_a_saved_plan_sees_the_budget_of_its_caller_and_is_recorded_in_the_journal(
    play: Play, plans: Path, registry: Registry, tmp_path: Path
) -> None:
    (plans / "left.plan").write_text('agent("x")\nresult = budget()\n')
    outcome, _, _, _ = play('result = [budget(), plan("left"), budget()]\n', cap=3.0)
    assert outcome.result == [3.0, 2.8, 2.8]

    async def journal() -> dict[str, Any]:
        async with open_loom(registry, Settings(store_path=str(tmp_path / "store.db"))) as loom:
            return loom.store.journal(outcome.run_id)

    assert {place: entry["value"] for place, entry in asyncio.run(journal()).items()} == {
        ":0": 3.0, "0/:0": 2.8, ":1": 2.8
    }  # fmt: skip


def test_a_saved_plan_that_fails_gives_none_one_hole_and_says_where(play: Play, plans: Path) -> None:
    (plans / "bad.plan").write_text('x = {}\nresult = x["key"]\n')
    outcome, _, events, _ = play('result = [plan("bad"), 1]\n')
    assert (outcome.result, outcome.exit_code, outcome.holes) == ([None, 1], 3, 1)
    (line,) = [event.data["message"] for event in events if event.type == "run.log"]
    assert line.startswith("the saved plan bad failed at its line 2: KeyError: ")


def test_a_saved_plan_that_fails_on_a_failed_worker_is_one_hole_and_not_two(play: Play, plans: Path) -> None:
    (plans / "bad.plan").write_text('result = agent("q")["key"]\n')
    refused = json_answer({"error": {"message": "content refused"}}, status=400)
    assert play('result = parallel([lambda: plan("bad")])\n', refused)[0].holes == 1


def test_the_limit_of_workers_is_the_runs(play: Play, plans: Path) -> None:
    (plans / "three.plan").write_text('result = parallel([lambda i=i: agent(f"q{i}") for i in range(3)])\n')
    outcome, _, _, asked = play('result = [plan("three"), agent("a"), agent("b")]\n', workers=4)
    assert (outcome.result[1:], outcome.holes, len(asked)) == (["ok: a", None], 1, 4)


def test_a_saved_plan_runs_no_other_saved_plan(play: Play, plans: Path) -> None:
    (plans / "inner.plan").write_text("result = 1\n")
    (plans / "outer.plan").write_text('result = plan("inner")\n')
    outcome, _, events, _ = play('name = "out" + "er"\nresult = plan(name)\n')
    assert (outcome.result, outcome.holes) == (None, 1)
    assert "one level deep" in events[-2].data["message"]


def problems_of(registry: Registry, folder: Path, source: str) -> list[str]:
    vocabulary = build_vocabulary(registry, Settings(source=folder / "planloom.toml"), ())
    return [problem.render(source) for problem in check(source, vocabulary) if problem.severity == "problem"]


def test_a_saved_plan_that_runs_another_one_is_a_problem_where_a_plan_names_it(
    registry: Registry, plans: Path, tmp_path: Path
) -> None:
    (plans / "inner.plan").write_text("result = 1\n")
    (plans / "outer.plan").write_text('x = 1\nresult = parallel([lambda n=n: plan(n) for n in ["inner"]])\n')
    (problem,) = problems_of(registry, tmp_path, 'x = plan("inner")\nresult = plan("outer")\n')
    assert problem.splitlines() == [
        "plan:2:15: PL104 the saved plan `outer` cannot be named here: its line 2 calls plan() itself, and saved plans "
        "run no other ones",
        '    2 | result = plan("outer")',
        "      |               ^^^^^^^",
        "   Next: name a saved plan that calls none, or put the steps of this one here.",
    ]
    (problem,) = problems_of(registry, tmp_path, 'result = plan("oter")\n')
    assert problem.endswith("Next: write one of: inner.")


@pytest.mark.parametrize(
    "source",
    [
        'result = agent("Write a plan (short).")\n',
        "result = 1  # not plan(x)\n",
        "def twice(plan):\n    return plan(1)\nresult = twice(lambda n: n)\n",
        'result = plan("one"\n',
    ],
)
def test_a_saved_plan_that_only_speaks_of_plans_may_be_named(
    registry: Registry, plans: Path, tmp_path: Path, source: str
) -> None:
    (plans / "speaks.plan").write_text(source)
    assert problems_of(registry, tmp_path, 'result = plan("speaks")\n') == []


def test_saved_plans_run_side_by_side_under_places_of_their_own(play: Play, plans: Path) -> None:
    (plans / "ask.plan").write_text('result = agent(args["q"])\n')
    source = 'result = parallel([lambda q=q: plan("ask", q=q) for q in ["a", "b", "c"]])\n'
    outcome, threads, _, _ = play(source)
    assert outcome.result == ["ok: a", "ok: b", "ok: c"]
    assert Counter(thread.place for thread in threads) == Counter(["0.0.0/0", "0.1.0/0", "0.2.0/0"])


def test_a_plan_that_runs_saved_ones_for_ever_is_ended_as_a_runaway(play: Play, plans: Path) -> None:
    (plans / "one.plan").write_text("result = 1\n")
    outcome, _, _, _ = play('for i in range(1000000):\n    plan("one")\nresult = 1\n', workers=20)
    assert (outcome.status, outcome.exit_code) == ("runaway", 9)
    assert "more than 20 saved plans" in str(outcome.error)


def test_a_saved_plan_that_does_not_pass_the_check_fails_its_caller_with_the_reason(play: Play, plans: Path) -> None:
    (plans / "wrong.plan").write_text("import os\nresult = 1\n")
    outcome, _, _, _ = play('x = 1\nresult = plan("wrong")\n')
    assert str(outcome.error).startswith("the plan failed at line 2, column ")
    assert "the saved plan `wrong` does not pass the check: line 1: " in str(outcome.error)


def test_a_name_that_is_worked_out_is_looked_up_when_the_plan_runs(play: Play, plans: Path) -> None:
    (plans / "known.plan").write_text("result = 1\n")
    outcome, _, _, _ = play('name = "kn" + "wn"\nresult = plan(name)\n')
    assert "no saved plan is named `knwn`; did you mean `known`?" in str(outcome.error)


# --- where they come from


def a_kit() -> Kit:
    return Kit(
        name="k",
        version="1",
        summary="",
        vocabulary=lambda registry, settings: [],
        open=lambda target, options: pytest.fail("no work"),
        saved_plans=(SavedPlan(name="fast", title="", source="result = 1\n"),),
    )


def test_a_projects_plan_stands_for_a_kits_of_the_same_name(tmp_path: Path) -> None:
    settings = Settings(source=tmp_path / "planloom.toml")
    assert saved_plans([a_kit()], settings)["fast"].source == "result = 1\n"
    before = plan_digests([a_kit()], settings)
    (tmp_path / ".planloom" / "plans").mkdir(parents=True)
    (tmp_path / ".planloom" / "plans" / "fast.plan").write_text("result = 2\n")
    assert saved_plans([a_kit()], settings)["fast"].source == "result = 2\n"
    assert plan_digests([a_kit()], settings) != before


def test_a_saved_plan_that_is_no_text_is_a_fault_of_the_configuration(tmp_path: Path, plans: Path) -> None:
    (plans / "binary.plan").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=r"binary\.plan cannot be read"):
        saved_plans([], Settings(source=tmp_path / "planloom.toml"))


@pytest.mark.parametrize(
    ("source", "called"),
    [
        ('result = plan("a")\n', ["a"]),
        ('result = plan("c")\n', []),
        ('result = plan("c", n=1)\n', []),
        ('result = plan (args["name"])\n', ["a", "b"]),
        ('result = plan("" + args["name"])\n', ["a", "b"]),
        ('result = plan(f"{args}")\n', ["a", "b"]),
        ("result = agent('plan a')\n", []),
    ],
)
def test_what_a_plan_calls_is_read_from_its_text(source: str, called: list[str]) -> None:
    assert plans_called(source, ["a", "b"]) == called
