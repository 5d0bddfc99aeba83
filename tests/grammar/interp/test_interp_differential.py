"""The oracle is CPython: generated programs give the same value, or the same kind of error, under both.

Python leaves the order of a set to chance, so a generated program sorts a set before it looks at its items.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planlang
from planlang import PlanFailed, PlanLimitError, Vocabulary

MANY = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 600

ROUGH = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(["a", "b", "True", "None", "0.5", "1e3", "-0.0"]),
    st.sampled_from(["s", "t", "''", "'ab'", "'Ab c'", "'é'", "'a,b,,c'"]),
    st.sampled_from(["xs", "ys", "[]", "[3, 1, 2]", "[[1], [0]]", "(1, 2)", "()", "('b', 'a')"]),
    st.sampled_from(["d", "{}", "{'k': 1, 2: 'v'}", "range(4)", "range(5, -4, -2)"]),
)


ONE_ARGUMENT = "len str list tuple dict bool int float abs sorted reversed min max sum any all round enumerate"
METHODS_WITHOUT = "copy keys values items lower upper title capitalize strip split splitlines isdigit isalpha isspace"
METHODS_OF_ONE = (
    "index count append extend get pop add discard remove union intersection difference issubset isdisjoint "
    "startswith endswith find join partition rpartition removeprefix split rsplit strip update setdefault"
)


def combine(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two, three = st.tuples(inner, inner), st.tuples(inner, inner, inner)
    binary = st.sampled_from(["+", "-", "*", "/", "//", "%", "|", "&", "^"])
    test = st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "in", "not in"])
    one_argument = st.sampled_from(ONE_ARGUMENT.split())
    no_argument = st.sampled_from(METHODS_WITHOUT.split())
    of_one = st.sampled_from(METHODS_OF_ONE.split())
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


WILD = st.recursive(ROUGH, combine, max_leaves=6)


def shaped(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return texts of ``template`` with each ``@`` replaced by one of the parts."""
    pieces = template.split("@")

    def fill(values: tuple[str, ...]) -> str:
        return pieces[0] + "".join(value + piece for value, piece in zip(values, pieces[1:], strict=True))

    return st.tuples(*parts).map(fill)


Texts = st.SearchStrategy[str]


def ints_over(ints: Texts, texts: Texts, lists: Texts, dicts: Texts, bools: Texts) -> Texts:
    return st.one_of(
        st.sampled_from(["a", "b", "True", "len(xs)", "d['k']", "p", "a"]) | st.integers(-9, 20).map(str),
        st.sampled_from(["+", "-", "*", "//", "%", "-", "+"]).flatmap(lambda op: shaped(f"(@ {op} @)", ints, ints)),
        shaped("abs(@)", ints),
        shaped("max(@, @)", ints, ints),
        shaped("sum(@)", lists),
        shaped("len(@)", st.one_of(lists, texts, dicts)),
        shaped("(@)[@ % len(@ or [1])]", lists, ints, lists),
        shaped("@.get(@, @)", dicts, texts, ints),
        shaped("(@ if @ else @)", ints, bools, ints),
        shaped("(@).count(@)", lists, ints),
        shaped("(@).find(@)", texts, texts),
        shaped("(lambda v, w=@: v - w)(@)", ints, ints),
        shaped("fun(@, q=@)[1]", ints, ints),
        shaped("min(@, key=lambda v: -v, default=@)", lists, ints),
        shaped("round(@ / 7)", ints),
        shaped("divmod(@, 5)[1]", ints),
    )


def texts_over(ints: Texts, texts: Texts, lists: Texts, dicts: Texts, bools: Texts) -> Texts:
    return st.one_of(
        st.sampled_from(["s", "t", "'ab'", "'A b'", "''", "'é'"]),
        shaped("(@ + @)", texts, texts),
        shaped("(@)[@:@]", texts, ints, ints),
        shaped("(@)[::-1]", texts),
        shaped("str(@)", st.one_of(ints, lists, dicts, bools)),
        shaped("','.join([str(v) for v in @])", lists),
        shaped("(@).replace(@, @)", texts, texts, texts),
        shaped("(@).upper()", texts),
        shaped("(@).strip(@)", texts, texts),
        st.sampled_from(['f"{a:>5}|{s!r}"', 'f"{b:+d}{t}{xs}"', 'f"{a / 3:.2f}{d}"', 'f"{len(s):<{len(t)}}|"']),
    )


def lists_over(ints: Texts, texts: Texts, lists: Texts, dicts: Texts, bools: Texts) -> Texts:
    return st.one_of(
        st.sampled_from(["xs", "ys", "xs", "[]"]),
        shaped("[@, @]", ints, ints),
        shaped("(@ + @)", lists, lists),
        shaped("(@)[@:]", lists, ints),
        shaped("(@)[::@ or 1]", lists, ints),
        shaped("[i * @ for i in @ if i > @]", ints, lists, ints),
        shaped("[i - j for i in @ for j in @][:9]", lists, lists),
        shaped("sorted(@, reverse=@)", lists, bools),
        shaped("sorted(@, key=lambda v: (v % 3, -v))", lists),
        shaped("list(range(@ % 9))", ints),
        shaped("list(reversed(@))", lists),
        shaped("list(map(lambda v: v + @, @))", ints, lists),
        shaped("list(filter(lambda v: v % 2, @))", lists),
        shaped("[v for _, v in enumerate(@)]", lists),
        shaped("[x + y for x, y in zip(@, @)]", lists, lists),
        shaped("sorted(set(@) ^ u)", lists),
        shaped("sorted((u | {@}) - set(@) & {1, 2})", ints, lists),
        shaped("sorted(u.union(@, {@}).difference(@))", lists, ints, lists),
        shaped("sorted({@, @} | set(@))", ints, ints, lists),
    )


def dicts_over(ints: Texts, texts: Texts, lists: Texts, dicts: Texts, bools: Texts) -> Texts:
    return st.one_of(
        st.just("d"),
        shaped("{@: @}", texts, ints),
        shaped("{**@, 'z': @}", dicts, ints),
        shaped("{i: @ for i in @}", ints, lists),
        shaped("(@ | @)", dicts, dicts),
        shaped("dict(zip(@, @))", lists, lists),
        shaped("@.copy()", dicts),
    )


def bools_over(ints: Texts, texts: Texts, lists: Texts, dicts: Texts, bools: Texts) -> Texts:
    return st.one_of(
        st.sampled_from(["<", "<=", "==", "!=", ">"]).flatmap(lambda op: shaped(f"(@ {op} @)", ints, ints)),
        st.sampled_from(["<", "==", ">="]).flatmap(lambda op: shaped(f"(@ {op} @)", lists, lists)),
        shaped("(@ < @ <= @)", ints, ints, ints),
        shaped("(@ in @)", ints, lists),
        shaped("(@ not in @)", texts, dicts),
        shaped("(not @ and @)", bools, bools),
        shaped("({@} <= set(@))", ints, lists),
        shaped("u.isdisjoint(@)", lists),
        shaped("any(v > @ for v in @)", ints, lists),
        shaped("all(v != @ for v in @)", ints, lists),
        shaped("isinstance(@, (int, str))", WILD),
    )


def typed(levels: int) -> tuple[Texts, Texts, Texts, Texts, Texts]:
    """Return expressions of each type, at most so many operations high."""
    parts: tuple[Texts, Texts, Texts, Texts, Texts] = (
        st.sampled_from(["a", "b", "4", "-1"]),
        st.sampled_from(["s", "t", "'ab'"]),
        st.sampled_from(["xs", "[2, 1]"]),
        st.just("d"),
        st.sampled_from(["True", "a"]),
    )
    for _ in range(levels):
        parts = (ints_over(*parts), texts_over(*parts), lists_over(*parts), dicts_over(*parts), bools_over(*parts))
    return parts


INT, TEXT, LIST, DICT, BOOL = typed(3)
STATEMENTS = st.one_of(
    shaped("a = @", INT),
    shaped("b = a = @", INT),
    st.sampled_from(["+=", "-=", "*=", "//=", "%="]).flatmap(lambda op: shaped(f"a {op} @", INT)),
    shaped("s += @", TEXT),
    shaped("xs += @", LIST),
    shaped("xs = @", LIST),
    shaped("d[@] = @", TEXT, INT),
    shaped("d['k'] += @", INT),
    shaped("d.update(@)", DICT),
    shaped("u.add(@)", INT),
    shaped("out.append(@)", st.one_of(INT, TEXT, LIST, DICT, BOOL)),
    shaped("out.append(@)", WILD),
    shaped("a, *b_rest = [@, *@]", INT, LIST),
    shaped("xs[@ % 3:@ % 3] = @", INT, INT, LIST),
    shaped("if @:\n    out.append(@)\nelif @:\n    a = @\nelse:\n    b = @", BOOL, INT, BOOL, INT, INT),
    shaped(
        "for i in @:\n    out.append(@ - i)\n    if i == @:\n        break\nelse:\n    out.append(9)", LIST, INT, INT
    ),
    shaped("for i in @:\n    if i % 2:\n        continue\n    a = i - @", LIST, INT),
    shaped("def make(v):\n    w = @\n    return lambda k=v: [k, w, v]\nout.append(make(@)())", INT, INT),
    shaped(
        "def loop(n):\n    for i in range(n % 7):\n        if i > @:\n            return i\nout.append(loop(@))",
        INT,
        INT,
    ),
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = ["a = 3", "b = -2", "s = 'hello'", "t = 'lo'", "xs = [1, 2, 3]", "ys = xs", "d = {'k': 1, 'm': 2}"]
    lines += [
        "p = 4",
        "u = {2, 1}",
        "out = []",
        "def fun(p, q=5, *rest, z=0, **more):",
        "    return [p, q, rest, z, more]",
    ]
    lines += draw(st.lists(STATEMENTS, min_size=1, max_size=6))
    return "\n".join([*lines, "result = [a, b, s, t, xs, ys, d, sorted(u), out]", ""])


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
        exec(code, names)
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
    if isinstance(value, str) and ("<" in value and " at 0x" in value.lower()):
        return False  # the text of an iterator or a function names its address, in a plan only its type
    return value is None or isinstance(value, int | float | str | bool | range)


@settings(max_examples=60)
@given(programs())
def test_a_generated_program_means_what_python_means(source: str) -> None:
    check_against_python(source)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(programs())
def test_many_generated_programs_mean_what_python_means(source: str) -> None:
    check_against_python(source)


def check_against_python(source: str) -> None:
    try:
        program = planlang.compile(source, Vocabulary([]))
    except planlang.PlanRejected:
        return
    expected = under_python(source)
    if expected[0] == "newer" or (expected[0] == "value" and not holds_only_data(expected[1])):
        return
    found = under_planlang(program)
    if found[0] != "bounded":
        assert (found[0], plain(found[1])) == (expected[0], plain(expected[1])), source


def under_planlang(program: planlang.Program) -> tuple[str, Any]:
    try:
        return "value", asyncio.run(program.run()).result
    except PlanFailed as error:
        locked = error.kind == "RuntimeError" and "loop iterates" in error.detail
        sliced = error.kind == "TypeError" and "'slice'" in error.detail  # Python 3.12 takes slices as keys of dicts
        return ("bounded", None) if locked or sliced else ("error", error.kind)
    except PlanLimitError as error:
        if error.limit in ("integer_bits", "data_depth", "text_length", "memory_bytes"):
            return "bounded", None
        raise


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
        ("f'{1:{str().join([\"q\"])}}'", "ValueError"),
        ("f'{[1]:>5}'", "TypeError"),
    ],
)
def test_a_failure_has_the_kind_that_python_gives(expression: str, kind: str, failure: Any) -> None:
    source = f"result = {expression}\n"
    assert under_python(source) == ("error", kind)
    assert failure(source).kind == kind
