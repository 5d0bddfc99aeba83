"""Workers that are asked one after another: said where all of them could be asked at once, and nowhere else."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.grammar.first_try.stand_ins import namespace, vocabulary

import planlang
from planlang import Problem, Vocabulary, check

HERE = Path(__file__).parent
WORDS = vocabulary()
WRITE = re.compile(r"write `([^`]+)`\.")


def plans(path: Path) -> dict[str, str]:
    parts = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {name: plan for name, _, plan in (part.partition("\n") for part in parts)}


APART = plans(HERE / "cases" / "one_after_another.plans")
BOUND = plans(HERE / "cases" / "each_after_the_last.plans")
BY_LEADS = {
    f"{path.stem}: {name}": plan
    for path in sorted((HERE / "first_try").glob("*.plans"))
    for name, plan in plans(path).items()
}


def said_of(plan: str, words: Vocabulary = WORDS) -> list[Problem]:
    return [problem for problem in check(plan, words) if problem.code == "PL213"]


def mended(plan: str, problem: Problem) -> str | None:
    """Return the plan with the advice followed to the letter, or ``None`` where it leaves the words to the reader."""
    found = WRITE.fullmatch(problem.hint)
    if found is None:
        return None
    lines = plan.splitlines(keepends=True)
    before = "".join(lines[: problem.line - 1]) + lines[problem.line - 1][: problem.column - 1]
    behind = lines[problem.end_line - 1][problem.end_column - 1 :] + "".join(lines[problem.end_line :])
    return before + found[1] + behind


@pytest.mark.parametrize("name", APART)
def test_workers_of_whom_none_needs_another_are_pointed_out_once(name: str) -> None:
    assert len(said_of(APART[name])) == 1
    assert all(problem.severity == "advice" for problem in check(APART[name], WORDS))


@pytest.mark.parametrize("name", BOUND)
def test_nothing_is_said_where_a_step_may_need_what_came_before(name: str) -> None:
    assert said_of(BOUND[name]) == []
    assert all(problem.severity == "advice" for problem in check(BOUND[name], WORDS))


@pytest.mark.parametrize("name", [*APART, *BY_LEADS])
def test_what_is_advised_means_the_same(name: str) -> None:
    plan = (APART | BY_LEADS)[name]
    for _ in range(9):
        changed = [new for problem in said_of(plan) if (new := mended(plan, problem)) is not None]
        if not changed:
            break
        names = namespace()
        exec(changed[0], names)
        assert asyncio.run(planlang.compile(plan, WORDS).run()).result == names["result"]
        assert asyncio.run(planlang.compile(changed[0], WORDS).run()).result == names["result"]
        assert len(said_of(changed[0])) < len(said_of(plan))
        plan = changed[0]


def test_nothing_is_said_where_nothing_runs_at_once() -> None:
    alone = Vocabulary([word for name, word in WORDS.words.items() if name != "parallel"])
    assert said_of(APART["a list of questions"], alone) == []


def test_steps_that_can_be_one_are_not_asked_for_a_stopping_rule_as_rounds_of_one_question_are() -> None:
    codes = [
        [problem.code for problem in check(plan, WORDS) if problem.code in ("PL204", "PL213")]
        for plan in (
            APART["parts by number"],
            BOUND["rounds of one question, which are said to lack a stopping rule"],
        )
    ]
    assert codes == [["PL213"], ["PL204"]]
