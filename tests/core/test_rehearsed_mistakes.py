"""What a plan says and nobody can do is found by the rehearsal wherever it stands, also where a run would go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from planlang import compile as compile_program
from planloom.jobs import default_price
from planloom.money import MICRO
from planloom.plugins import Registry, load_plugins
from planloom.rehearsal import Rehearsal, rehearse
from planloom.settings import offline_settings
from planloom.words import build_vocabulary


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def rehearsed(registry: Registry, tmp_path: Path) -> Any:
    """Rehearse a plan in a project that keeps saved plans, by name."""

    def run(source: str, takes: int | None = None, **saved: str) -> Rehearsal:
        (tmp_path / "plans").mkdir(exist_ok=True)
        for name, text in saved.items():
            (tmp_path / "plans" / f"{name}.plan").write_text(text)
        settings = attrs.evolve(offline_settings(), source=tmp_path / "planloom.toml")
        return rehearse(
            compile_program(source, build_vocabulary(registry, settings, ())),
            registry=registry,
            settings=settings,
            works={},
            prices=default_price,
            budget=100 * MICRO,
            takes=takes,
        )

    return run


INNER = 'result = agent(args.get("q", "hi"))\n'
TASKS = """
names = [f"{n}" for n in ["inner", "innr"]]
result = parallel([lambda n=n: plan(n) for n in names])
"""


def test_a_saved_plan_whose_name_is_worked_out_and_nobody_has_is_a_problem_with_its_line(rehearsed: Any) -> None:
    told = rehearsed('name = "in" + "nr"\nresult = plan(name)\n', inner=INNER)
    assert told.problems == ("rehearsal: line 2: ValueError: no saved plan is named `innr`; did you mean `inner`?",)


def test_so_it_is_in_a_task_which_a_run_would_go_on_without(rehearsed: Any) -> None:
    told = rehearsed(TASKS, inner=INNER)
    assert told.problems == ("rehearsal: line 3: ValueError: no saved plan is named `innr`; did you mean `inner`?",)


def test_a_saved_plan_that_runs_another_one_is_a_problem_with_both_lines(rehearsed: Any) -> None:
    told = rehearsed('name = "out" + "er"\nresult = plan(name)\n', inner=INNER, outer='x = 1\nresult = plan("inner")\n')
    assert told.problems == (
        "rehearsal: line 2: the saved plan `outer` fails at its line 2: RuntimeError: a saved plan cannot run another "
        "one: plan() works one level deep; put its steps here",
    )


def test_a_saved_plan_that_does_not_pass_the_check_is_a_problem_in_a_task_too(rehearsed: Any) -> None:
    told = rehearsed('name = "bro" + "ken"\nresult = parallel([lambda: plan(name)])\n', broken="result = nothing\n")
    assert told.problems == (
        "rehearsal: line 2: ValueError: the saved plan `broken` does not pass the check: line 1: nothing is named "
        "`nothing`",
    )


def test_a_schema_that_judges_nothing_is_a_problem_in_a_task_too(rehearsed: Any) -> None:
    told = rehearsed('shape = dict(type="objec")\nresult = parallel([lambda: agent("q", schema=shape)])\n')
    assert told.problems[0].startswith(
        "rehearsal: line 2: ValueError: `schema` is not a JSON Schema: type: 'objec' is no type; write one of array,"
    )


def test_a_task_of_a_saved_plan_is_looked_at_too(rehearsed: Any) -> None:
    inner = 'x = dict(type="objec")\nresult = parallel([lambda: agent("q", schema=x)])\n'
    told = rehearsed('result = plan("inner")\n', inner=inner)
    assert told.problems[0].startswith("rehearsal: in a saved plan, line 2: ValueError: `schema` is not a JSON Schema")


def test_a_name_that_a_worker_gives_is_no_mistake_of_the_plan_in_a_task(rehearsed: Any) -> None:
    told = rehearsed('result = parallel([lambda: plan(agent("which plan?") or "inner")])\n', inner=INNER)
    assert (told.problems, told.advice) == ((), ())


def test_a_task_that_fails_whatever_its_worker_answers_is_worth_knowing(rehearsed: Any) -> None:
    told = rehearsed('result = parallel([lambda p=p: agent(p)["key"] for p in ["a", "b"]])\n')
    assert told.problems == ()
    assert told.advice == (
        "in every rehearsal this fails and gives None: line 1: TypeError: string indices must be integers or slices, "
        "not str",
    )


def test_a_saved_plan_that_lacks_an_argument_is_worth_knowing(rehearsed: Any) -> None:
    told = rehearsed('result = plan("inner")\n', inner='result = agent(args["q"])\n')
    assert told.problems == ()
    assert told.advice == (
        "in every rehearsal this fails and gives None: line 1: the saved plan `inner` fails at its line 1: "
        "KeyError: 'q'",
    )


def test_tasks_that_fail_for_failed_workers_alone_are_not_told(rehearsed: Any) -> None:
    told = rehearsed('result = parallel([lambda p=p: agent(p).strip() for p in ["a", "b"]])\n')
    assert (told.problems, told.advice) == ((), ())


@pytest.mark.parametrize("call", ["scan(['a.py'], which)", "check([], skeptic=which)"])
def test_a_kits_names_are_looked_up_in_tasks_too(registry: Registry, tmp_path: Path, call: str) -> None:
    from planloom.kits import Kit

    (tmp_path / "a.py").write_text("x = 1\n")
    kit = registry.get("kit", "audit", Kit)
    program = compile_program(
        f'which = "bound" + "ary"\nresult = parallel([lambda: {call}])\n',
        build_vocabulary(registry, offline_settings(), [kit]),
    )
    told = rehearse(
        program,
        registry=registry,
        settings=offline_settings(),
        works={"audit": kit.open(str(tmp_path), {})},
        prices=default_price,
        budget=100 * MICRO,
    )
    assert "is named `boundary`; there are: " in told.problems[0]
    assert told.problems[0].startswith("rehearsal: line 2: ValueError: no ")
