"""The oracle is CPython: generated programs give the same value, or the same kind of error, under both."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import planlang
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planlang import PlanFailed, PlanLimitError, Vocabulary

ROUGH = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(["a", "b", "True", "None", "0.5", "1e3", "-0.0"]),
    st.sampled_from(["s", "t", "''", "'ab'", "'Ab c'", "'é'", "'a,b,,c'"]),
    st.sampled_from(["xs", "ys", "[]", "[3, 1, 2]", "[[1], [0]]", "(1, 2)", "()", "('b', 'a')"]),
    st.sampled_from(["d", "{}", "{'k': 1, 2: 'v'}", "u", "{1, 2, 3}", "set()", "range(4)", "range(5, -4, -2)"]),
)


def combine(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two, three = st.tuples(inner, inner), st.tuples(inner, inner, inner)
    binary = st.sampled_from(["+", "-", "*", "/", "//", "%", "|", "&", "^"])
    test = st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "in", "not in"])
    one_argument = st.sampled_from(
        "len str list tuple set dict bool int float abs sorted reversed min max sum any all round enumerate".split()
    )
    no_argument = st.sampled_from(
        "copy keys values items lower upper title capitalize strip split splitlines isdigit isalpha isspace".split()
    )
    of_one = st.sampled_from(
        "index count append extend get pop add discard remove union intersection difference issubset isdisjoint "
        "startswith endswith find join partition rpartition removeprefix split rsplit strip update setdefault".split()
    )
    return st.one_of(
        st.tuples(inner, binary, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, test, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, test, inner, test, inner).map(lambda p: f"({' '.join(p)})"),
        three.map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        two.map(lambda p: f"({p[0]} and {p[1]})"),
        two.map(lambda p: f"({p[0]} or not {p[1]})"),
        two.map(lambda p: f"{p[0]}[{p[1]}]" if p[0][0] not in "-0123456789" else f"({p[0]})[{p[1]}]"),
        three.map(lambda p: f"({p[0]})[{p[1]}:{p[2]}]"),
        st.tuples(one_argument, inner).map(lambda p: f"{p[0]}({p[1]})"),
        st.tuples(inner, no_argument).map(lambda p: f"({p[0]}).{p[1]}()"),
        st.tuples(inner, of_one, inner).map(lambda p: f"({p[0]}).{p[1]}({p[2]})"),
        inner.map(lambda p: f"-({p})"),
        two.map(lambda p: f"[{p[0]}, *[{p[1]}]]"),
        two.map(lambda p: f"{{{p[0]}: {p[1]}}}"),
        inner.map(lambda p: f"{{{p}}}"),
        two.map(lambda p: f"[i for i in {p[0]} if i != {p[1]}]"),
        two.map(lambda p: f"{{i: {p[1]} for i in {p[0]}}}"),
        two.map(lambda p: f"list(zip({p[0]}, {p[1]}))"),
        inner.map(lambda p: f"list(map(lambda v: v + v, {p}))"),
        inner.map(lambda p: f"sorted({p}, key=lambda v: -v, reverse=True)"),
        inner.map(lambda p: f"(lambda x, y=1: [x, y])({p})"),
        inner.map(lambda p: f"fun(*{p})"),
        inner.map(lambda p: f"f'{{{p}}}|{{{p}!r:>9}}'".replace("''", '""')),
        st.tuples(inner, st.sampled_from(["5", ">8", "^+9.2f", "05d", ",", ".3", "s", "x", "e", "%"])).map(
            lambda p: f'f"{{({p[0]}):{p[1]}}}"' if '"' not in p[0] and "'" not in p[0] else p[0]
        ),
    )


EXPRESSIONS = st.recursive(ROUGH, combine, max_leaves=8)


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = ["a = 3", "b = -2", "s = 'hello'", "t = 'lo'", "xs = [1, 2, 3]", "ys = xs", "d = {'k': 1, 'm': [2]}"]
    lines += ["u = {2, 1}", "out = []", "def fun(p, q=5, *rest, z=0, **more):", "    return [p, q, rest, z, more]"]
    for _ in range(draw(st.integers(1, 4))):
        one, two = draw(EXPRESSIONS), draw(EXPRESSIONS)
        name = draw(st.sampled_from("a b s t xs d u".split()))
        op = draw(st.sampled_from(["+=", "-=", "*=", "//=", "|=", "&="]))
        form = draw(st.integers(0, 7))
        lines += {
            0: [f"{name} = {one}"],
            1: [f"{name} {op} {one}"],
            2: [f"if {one}:", f"    out.append({two})", "else:", f"    {name} = {two}"],
            3: [
                f"for i in {one}:",
                f"    out.append({two})",
                "    if i == 2:",
                "        break",
                "else:",
                "    out.append(9)",
            ],
            4: [f"xs[{one}] = {two}"],
            5: [f"d[{one}] = {two}"],
            6: [f"a, *b = {one}"],
            7: ["def make(v):", f"    w = {one}", "    return lambda k=v: [k, w, v]", f"out.append(make({two})())"],
        }[form]
    return "\n".join([*lines, "result = [a, b, s, t, xs, ys, d, u, out]", ""])


def plain(value: Any, depth: int = 0) -> Any:
    """Return what both sides can be compared by: exact types, sets and views without their order."""
    if depth > 50:
        return "deep"
    if isinstance(value, dict):
        return ["dict", [[plain(k, depth + 1), plain(v, depth + 1)] for k, v in value.items()]]
    if isinstance(value, set | frozenset):
        return ["set", sorted(repr(item) for item in value)]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [plain(item, depth + 1) for item in value]]
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, int | str | bool | range) or value is None else type(value).__name__


def under_python(source: str) -> tuple[str, Any]:
    names: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns about constants that cannot be called or subscripted
            code = compile(source, "program", "exec")
        exec(code, names)  # noqa: S102 - the oracle
    except SyntaxError:
        return "newer", None  # quotes of one kind inside an f-string came with Python 3.12
    except Exception as error:
        return "error", type(error).__name__
    return "value", names["result"]


def holds_only_data(value: Any, seen: int = 0) -> bool:
    if seen > 50:
        return False
    if isinstance(value, dict):
        return all(holds_only_data(item, seen + 1) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple | set):
        return all(holds_only_data(item, seen + 1) for item in value)
    return value is None or isinstance(value, int | float | str | bool | range)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_a_generated_program_means_what_python_means(source: str) -> None:
    try:
        program = planlang.compile(source, Vocabulary([]))
    except planlang.PlanRejected:
        return
    expected = under_python(source)
    if expected[0] == "newer" or (expected[0] == "value" and not holds_only_data(expected[1])):
        return
    try:
        found: tuple[str, Any] = ("value", asyncio.run(program.run()).result)
    except PlanFailed as error:
        if error.kind == "RuntimeError" and "loop iterates" in error.detail:
            return
        found = ("error", error.kind)
    except PlanLimitError as error:
        assert error.limit in ("integer_bits", "data_depth", "text_length"), source
        return
    assert (found[0], plain(found[1])) == (expected[0], plain(expected[1])), source


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("[1][5]", "IndexError"),
        ("{'a': 1}['b']", "KeyError"),
        ("'a' + 1", "TypeError"),
        ("int('x')", "ValueError"),
        ("len(5)", "TypeError"),
        ("(lambda x: x)()", "TypeError"),
        ("[1] < ['a']", "TypeError"),
        ("{[1]: 2}", "TypeError"),
        ("min([])", "ValueError"),
        ("float(10 * 1e308) - int(1e30 * 0) + int(float('inf'))", "OverflowError"),
        ("'a'.index('b')", "ValueError"),
        ("{1}.remove(2)", "KeyError"),
        ("(1, 2).count()", "TypeError"),
        ("f'{1:q}'", "ValueError"),
        ("f'{[1]:>5}'", "TypeError"),
    ],
)
def test_a_failure_has_the_kind_that_python_gives(expression: str, kind: str, failure: Any) -> None:
    source = f"result = {expression}\n"
    assert under_python(source) == ("error", kind)
    assert failure(source).kind == kind
