"""Line N is the same line everywhere, and the one that Python's tokenizer calls N."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_code import count_lines, split_lines

texts = st.text(st.sampled_from("ab \r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=40)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("", [], id="r19-an-empty-file-has-no-line"),
        pytest.param("a", ["a"], id="no-final-end"),
        pytest.param("a\n", ["a"], id="a-final-end-opens-no-line"),
        pytest.param("a\n\n", ["a", ""], id="a-blank-line-counts"),
        pytest.param("a\r\nb\r\n", ["a", "b"], id="crlf-is-one-end"),
        pytest.param(
            "a = 1\rb = 2\rdef f():\r    return 3\r", ["a = 1", "b = 2", "def f():", "    return 3"], id="r11"
        ),
        pytest.param("from a \\\r\n    import b\n", ["from a \\", "    import b"], id="r13-crlf-in-an-lf-file"),
        pytest.param("a\r\r\nb", ["a", "", "b"], id="r13-a-stray-cr-before-crlf"),
        pytest.param("a\x0cb\x0bc\x85d\u2028e", ["a\x0cb\x0bc\x85d\u2028e"], id="no-other-character-ends-a-line"),
    ],
)
def test_lines_end_at_lf_crlf_and_cr_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_a_form_feed_between_functions_moves_no_line() -> None:
    text = "def a():\n    return 1\n\n\x0c\ndef b():\n    return 2\n"
    assert split_lines(text)[5] == "    return 2"


@given(texts)
def test_counting_agrees_with_splitting(text: str) -> None:
    assert count_lines(text) == len(split_lines(text))


@given(
    st.lists(
        st.tuples(st.sampled_from(["x = 1", "", "\x0c", "# \x85\u2028\x0b"]), st.sampled_from(["\n", "\r\n", "\r"]))
    )
)
def test_a_statement_has_the_line_number_that_the_parser_gives_it(rows: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in rows) + "last = 1"
    assert ast.parse(text).body[-1].lineno == len(split_lines(text))
