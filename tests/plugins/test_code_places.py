"""A line lies in its innermost function, whatever is around it, and in a block of ten lines outside any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_code import Place, Places

TEXT = """\
import x

class Shape:
    side = 1

    @property
    @x.cached(
        size=3,
    )
    def area(self):
        def square(n):
            return n * n

        return square(self.side)

    class Inner:
        async def walk(self): ...

if x:
    try:
        def late(): return 1
    except E:
        def late(): return 2
top = lambda n: n
"""


@pytest.mark.parametrize(
    ("line", "function"),
    [
        pytest.param(1, None, id="module"),
        pytest.param(4, None, id="class-body"),
        pytest.param(6, "Shape.area", id="r37-first-decorator"),
        pytest.param(8, "Shape.area", id="r37-inside-a-decorator"),
        pytest.param(10, "Shape.area", id="def"),
        pytest.param(12, "Shape.area.square", id="nested-function"),
        pytest.param(14, "Shape.area", id="after-a-nested-function"),
        pytest.param(17, "Shape.Inner.walk", id="nested-class"),
        pytest.param(21, "late", id="in-try"),
        pytest.param(23, "late", id="in-except"),
        pytest.param(24, None, id="lambda-is-no-function"),
        pytest.param(0, None, id="before-the-file"),
        pytest.param(10**9, None, id="beyond-the-file"),
    ],
)
def test_a_line_lies_in_its_innermost_function(line: int, function: str | None) -> None:
    assert Places(TEXT).function_at(line) == function


def test_r37_the_span_of_a_decorated_function_begins_at_its_first_decorator() -> None:
    assert Places("class A:\n    @staticmethod\n    def f(): pass\n").span("A.f") == (2, 3)


def test_a_name_that_is_no_function_has_no_span() -> None:
    assert Places(TEXT).span("Shape") is None


def test_functions_inside_match_and_loops_are_seen() -> None:
    text = "match x:\n    case 1:\n        for y in z:\n            pass\n        else:\n            def f(): pass\n"
    assert Places(text).function_at(6) == "f"


def test_outside_functions_a_place_is_ten_lines() -> None:
    places = Places("x = 1\n" * 40)
    assert [places.place_of("a.py", line).key for line in (1, 10, 11, 20)] == [
        "a.py::lines 1-10",
        "a.py::lines 1-10",
        "a.py::lines 11-20",
        "a.py::lines 11-20",
    ]


def test_inside_a_function_a_place_is_the_function() -> None:
    assert Places(TEXT).place_of("a.py", 12) == Place("a.py", "Shape.area.square")


def test_a_text_that_does_not_parse_has_places_without_functions() -> None:
    assert Places("def f(:\n    pass\n").place_of("a.py", 2) == Place("a.py", None, 1)


def test_code_nested_as_deep_as_the_parser_allows_is_read() -> None:
    text = "".join(" " * depth + "if x:\n" for depth in range(90)) + " " * 90 + "def f(): pass\n"
    assert Places(text).function_at(91) == "f"


@given(st.lists(st.sampled_from(["def f():", "class C:", "x = 1", "@d"]), max_size=12), st.integers(-1, 20))
def test_a_span_holds_every_line_of_its_function(rows: list[str], line: int) -> None:
    text = "".join(f"{'  ' * depth}{row}\n" for depth, row in enumerate(rows)) + "  " * len(rows) + "pass\n"
    span = Places(text).span_at(line)
    assert span is None or span[0] <= line <= span[1]
