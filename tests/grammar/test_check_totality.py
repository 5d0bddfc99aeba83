"""`check` answers for any text: it never raises, it is sorted, its places lie in the text, and it renders."""

from __future__ import annotations

import json
import re
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planlang import Problem, Vocabulary, check
from planlang._parse import parse

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
relaxed = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


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


TOKENS = st.sampled_from(
    [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "=",
        "==",
        "*",
        "**",
        "+",
        "-",
        "not",
        "lambda",
        "x",
        "1",
        "for",
        "if",
        "else",
        "in",
        "is",
        "\n",
        "pass",
        "return",
        "break",
        "*a",
        "**k",
        ";",
        "None",
        "+=",
        "yield",
    ]
)


@st.composite
def rearranged(draw: st.DrawFn) -> str:
    """A few lines of a plan with tokens put in or taken out, still close to being one."""
    lines = draw(st.sampled_from(PLAIN)).split("\n")
    first = draw(st.integers(0, len(lines) - 1))
    source = "\n".join(lines[first : first + 4]) + "\n"
    for _ in range(draw(st.integers(1, 2))):
        places = [found.start() for found in re.finditer(r"\b|(?=\W)", source)]
        place = draw(st.sampled_from(places or [0]))
        if draw(st.booleans()):
            source = f"{source[:place]} {draw(TOKENS)} {source[place:]}"
        else:
            taken = re.compile(r"\w+|\W").match(source, place)
            source = source[:place] + source[taken.end() if taken else place :]
    return source


# Fields of f-strings may hold more in 3.12 than in the Python that runs the tests.
PLAIN = [source for source in SOURCES if 'f"' not in source and "f'" not in source]
PLACES = {"PL024", "PL025", "PL060", "PL061"}
"""What Python's grammar leaves to its later passes, or allows."""


@relaxed
@given(rearranged())
def test_what_passes_is_python(audit_vocabulary: Vocabulary, source: str) -> None:
    parsed = parse(source)
    if not parsed.whole or parsed.faults or PLACES & {p.code for p in check(source, audit_vocabulary)}:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(source, "plan", "exec")


WORST = {
    "unknown names beside bound ones": "".join(f"name{i}q = namex{i}\n" for i in range(1500)),
    "tasks appended in a loop": "t = []\nfor s in [1]:\n" + "    t.append(lambda: s)\n" * 1300 + "result = parallel(t)",
    "functions that call the next": "".join(f"def g{i}():\n    return g{i + 1}()\n" for i in range(900)),
    "marks that are no operators": "! " * 15_000,
    "brackets never closed": "x = (\n" * 5000,
    "texts never closed": 'x = "\n' * 6000,
    "one syntax error a line": "x = = 1\n" * 3900,
    "attributes": "x = 1\nresult = [" + "x.foo," * 4500 + "]",
}


@pytest.mark.parametrize("name", WORST)
def test_no_text_of_allowed_length_takes_long(name: str, audit_vocabulary: Vocabulary) -> None:
    started_at = time.process_time()
    assert check(WORST[name], audit_vocabulary)
    assert time.process_time() - started_at < 4
