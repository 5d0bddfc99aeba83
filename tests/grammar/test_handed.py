"""A word says which of its parameters take functions to run as tasks, and what these are given."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from planlang import Vocabulary, Word, check


def never(*_args: Any, **_keywords: Any) -> None:
    raise AssertionError("a checker calls nothing")


def tournament(contenders: Any, judge: Any, rounds: int = 1) -> None: ...


def retry(times: int, thunk: Any) -> None: ...


def ask(question: Any, model: str = "worker") -> None: ...


def spending(shape: Any, **traits: Any) -> Word:
    return Word(shape.__name__, never, signature=inspect.signature(shape), doc="", suspends=True, **traits)


WORDS = Vocabulary(
    [
        spending(tournament, runs_tasks=True, functions={"contenders": (0, 0), "judge": (2, 2)}),
        spending(retry, runs_tasks=True, functions={"thunk": (0, 0)}),
        spending(ask, spends=True),
    ]
)
RIGHT = [
    "result = tournament([lambda: ask(1), lambda: ask(2)], lambda a, b: ask([a, b]))",
    "def judge(a, b):\n    return ask([a, b])\nresult = tournament([lambda: ask(1)], judge=judge, rounds=3)",
    "result = tournament([lambda n=n: ask(n) for n in range(3)], lambda *both: ask(both))",
    "result = retry(3, lambda: ask(1))",
    "result = [retry(times=n, thunk=lambda: ask(n)) for n in range(3)]",
]
WRONG = [
    ("result = tournament([lambda n: ask(n)], lambda a, b: a)", "PL118"),
    ("result = tournament([lambda: ask(1)], lambda a: a)", "PL118"),
    ("result = tournament([lambda: ask(1)], judge=lambda a, b, c: a)", "PL118"),
    ("result = tournament([ask(1), ask(2)], lambda a, b: a)", "PL113"),
    ("result = tournament([lambda: ask(1)], ask('better?'))", "PL113"),
    ("result = tournament([lambda: ask(n) for n in range(3)], lambda a, b: a)", "PL112"),
    ("result = tournament(['a', 'b'], lambda a, b: a)", "PL108"),
    ("wins = []\nresult = tournament([lambda: 1], lambda a, b: wins.append(a))", "PL111"),
    ("fs = [lambda: ask(n) for n in range(3)]\nresult = tournament(contenders=fs, judge=lambda a, b: a)", "PL112"),
]


@pytest.mark.parametrize("source", RIGHT)
def test_functions_that_fit_what_the_word_gives_them_pass(source: str) -> None:
    assert [p for p in check(source, WORDS) if p.severity == "problem"] == []


@pytest.mark.parametrize(("source", "code"), WRONG)
def test_functions_are_held_to_what_the_word_says_of_its_parameter(source: str, code: str) -> None:
    assert [p.code for p in check(source, WORDS) if p.severity == "problem"] == [code]


def test_a_function_among_the_items_of_a_pipeline_is_data(audit_vocabulary: Vocabulary) -> None:
    source = "result = pipeline([lambda: agent('a')], lambda ask: ask(), lambda a, item, index: [a, index])"
    assert [p for p in check(source, audit_vocabulary) if p.severity == "problem"] == []
