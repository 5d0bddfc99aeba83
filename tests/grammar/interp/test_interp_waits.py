"""Waiting changes nothing but the time: plans give the same with a word that waits as with one that does not."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import planlang
from planlang import PlanFailed

SEVERAL = ("+", "-", "*", "//", "%")


def _expression(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map("ask({})".format),
        st.tuples(inner, st.sampled_from(SEVERAL), inner).map(" ".join).map("({})".format),
        st.tuples(inner, inner, inner).map(" + ".join).map("({})".format),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(inner, inner).map("both({0[0]}, {0[1]})".format),
        inner.map("len([{}, 1])".format),
    )


ATOMS = st.sampled_from(("a", "b", "c", "1", "3", "ask(a)", "ask(2)"))
EXPRESSIONS = st.recursive(ATOMS, _expression, max_leaves=6)
SIMPLE = st.one_of(
    st.tuples(st.sampled_from(("a = {}", "b += {}", "c = {}", "{}", "xs.append({})", "b, c = {}, a")), EXPRESSIONS).map(
        lambda two: two[0].format(two[1])
    ),
    st.just("pass"),
)
STATEMENTS = st.one_of(
    SIMPLE,
    st.tuples(EXPRESSIONS, SIMPLE, SIMPLE).map("if {0[0]}:\n    {0[1]}\nelse:\n    {0[2]}".format),
    st.tuples(EXPRESSIONS, SIMPLE).map("for i in [1, 2]:\n    {0[1]}\n    b += {0[0]}".format),
    st.tuples(EXPRESSIONS, SIMPLE).map("for c in range(2):\n    {0[1]}".format),
    EXPRESSIONS.map("return {}".format),
)
BODIES = st.lists(STATEMENTS, min_size=1, max_size=4)
PLAN = """\
def both(x, y):
    return x + ask(y)
def work(a, b):
    xs = []
    if a > 100:
        c = 1
{body}
    return [a, b, xs]
result = work(5, 7)
"""


def _plan(body: list[str]) -> str:
    lines = "\n".join(body).split("\n")
    return PLAN.format(body="\n".join(f"    {line}" for line in lines))


def _outcome(host: Any, source: str) -> Any:
    host.asked.clear()
    try:
        result: Any = asyncio.run(planlang.compile(source, host.words()).run()).result
    except PlanFailed as error:
        result = (error.kind, error.line)
    return result, [asked for _, asked in host.asked]


# The host is cleared for each example.
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODIES)
def test_a_plan_gives_the_same_and_asks_in_the_same_order_whether_its_word_waits_or_not(
    host: Any, body: list[str]
) -> None:
    source = _plan(body)
    assert _outcome(host, source.replace("ask", "scan")) == _outcome(host, source.replace("ask", "same"))
