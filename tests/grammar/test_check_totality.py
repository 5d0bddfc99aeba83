"""`check` answers for any text: it never raises, it is sorted, its places lie in the text, and it renders."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planlang import Problem, Vocabulary, check

CASES = Path(__file__).parent / "cases"
SOURCES = [
    json.loads(line)["source"]
    for name in ("lead_plans.jsonl", "valid_programs.jsonl", "refused_programs.jsonl")
    for line in (CASES / name).read_text(encoding="utf-8").splitlines()
]
WORDS = """
if|else:|elif x:|for x in y:|lambda|def f(|match x:|case 1:|async |await |try:|except:|with a as b:|class A:|import os
return |while |global x|yield|:=|**|->|_|0777|1e999|print "x"|f"{|""\"|```|result = |parallel([|scan(s)|.x|._y()
"""
ODD = ["    ", "\n", "\t", "\r", "\x00", "\u201c", "\ud800", "\u202e", "\ufeff", "\xa0", "\u0435"]
PIECES = st.sampled_from([*"()[]{}\"'\\:;,.=@#!?$*~%<>", *WORDS.replace("\n", "|").split("|"), *ODD])
relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    source: str = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.integers(0, len(source)))
        cut = draw(st.integers(0, 8))
        source = source[:place] + draw(PIECES) + source[place + cut :]
    return source


def sound(source: str, problems: list[Problem]) -> None:
    assert problems == sorted(problems)
    assert len({(p.code, p.line, p.column) for p in problems}) == len(problems)
    lines = source.splitlines() or [""]
    for problem in problems:
        assert 1 <= problem.line <= len(lines) + 1
        assert problem.column >= 1
        assert problem.message
        assert problem.hint
        assert problem.code in problem.render(source)


@relaxed
@given(st.text(max_size=200))
def test_any_text_is_answered(audit_vocabulary: Vocabulary, source: str) -> None:
    sound(source, check(source, audit_vocabulary))


@relaxed
@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_heap_of_python_pieces_is_answered(audit_vocabulary: Vocabulary, source: str) -> None:
    sound(source, check(source, audit_vocabulary))


@relaxed
@given(mutated())
def test_any_change_of_a_plan_is_answered(audit_vocabulary: Vocabulary, source: str) -> None:
    sound(source, check(source, audit_vocabulary))
