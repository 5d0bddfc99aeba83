"""Files that this Python cannot parse are named with the reason; nothing in a text raises or warns."""

import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_code import GRAMMAR, SourceFile, Unparsable, parse, source_of, unparsable


def source(text: str, path: str = "a.py") -> SourceFile:
    read = source_of(path, text.encode())
    assert isinstance(read, SourceFile)
    return read


def test_r15_a_broken_file_is_listed_and_its_neighbours_are_not() -> None:
    files = [source("x = 1\n", "a.py"), source("{% if x %}\n", "b.py"), source("y = 2\n", "c.py")]
    assert [problem.path for problem in unparsable(files)] == ["b.py"]


def test_r17_except_with_a_comma_is_judged_by_the_grammar_that_runs() -> None:
    text = "try:\n    x\nexcept OSError, TypeError:\n    pass\n"
    assert (source(text).parse_problem is None) is (sys.version_info >= (3, 14))


def test_r17_a_problem_states_the_grammar_and_the_line() -> None:
    problem = source("x = 1\nx = = 2\n").parse_problem
    assert problem is not None
    assert (problem.grammar, problem.line) == (GRAMMAR, 2)
    assert f"Python {sys.version_info.major}.{sys.version_info.minor}" == GRAMMAR


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = 1\n\0\n", id="r05-nul"),
        pytest.param("(" * 5000, id="open-brackets"),
        pytest.param("-" * 50_000 + "1", id="deep-unary"),
        pytest.param("x" + ".y" * 50_000, id="deep-attributes"),
        pytest.param("x = " + "9" * 10_000, id="a-number-too-long-to-convert"),
        pytest.param("\ud800", id="lone-surrogate"),
        pytest.param("if x:\n\ty\n        z\n", id="tabs-and-blanks"),
    ],
)
def test_whatever_the_parser_raises_becomes_unparsable(text: str) -> None:
    with pytest.raises(Unparsable):
        parse(text)


def test_a_warning_of_the_parser_reaches_nobody() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parse("x = '\\d'\nassert (x, 1)\ny = 1 is 1\n")
    assert caught == []


@given(st.text(max_size=60))
def test_any_text_parses_or_has_a_problem(text: str) -> None:
    file = SourceFile(path="a.py", text=text, size_bytes=0, sha256="0")
    problem = file.parse_problem
    assert problem is None or (problem.path == "a.py" and problem.reason)
