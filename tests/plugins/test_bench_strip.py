"""Stripping takes the examples out of source and leaves the rest as it was."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_bench import ExamplesLeft, strip_examples

PROSE = st.sampled_from(["Words.", "", "More: words", "    indented", "- a point"])
EXAMPLE = st.sampled_from(
    [[">>> f(1)", "1"], [">>> f(", "...   2)", "'two'"], [">>> x = 1"], [">>> f()", "Traceback:", "E"]]
)
BLOCKS = st.lists(st.one_of(PROSE.map(lambda line: [line]), EXAMPLE.map(lambda lines: [*lines, ""])), max_size=8)


def source(lines: list[str]) -> str:
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    return f'def f():\n    """First.\n{body}\n    """\n    return 1\n'


@given(BLOCKS)
def test_no_prompt_is_left_and_the_code_is_the_same(blocks: list[list[str]]) -> None:
    stripped = strip_examples(source([line for block in blocks for line in block]))
    assert ">>>" not in stripped
    assert ast.unparse(ast.parse(stripped).body[0].body[1:]) == "return 1"  # type: ignore[attr-defined] # a function


@given(BLOCKS)
def test_stripping_twice_is_stripping_once(blocks: list[list[str]]) -> None:
    once = strip_examples(source([line for block in blocks for line in block]))
    assert strip_examples(once) == once


@given(st.lists(PROSE, max_size=8))
def test_a_text_without_examples_stays_as_it_is(lines: list[str]) -> None:
    assert strip_examples(source(lines)) == source(lines)


def test_prose_before_between_and_after_examples_stays() -> None:
    stripped = strip_examples(
        source(["", "Before.", "", ">>> f()", "1", "", "Between.", "", ">>> f()", "1", "", "After."])
    )
    assert stripped == source(["", "Before.", "", "Between.", "", "After."])


def test_one_line_of_prose_that_is_left_closes_on_itself() -> None:
    assert strip_examples(source(["", ">>> f()", "1"])) == 'def f():\n    """First."""\n    return 1\n'


def test_quotes_that_close_on_an_expected_output_are_kept() -> None:
    text = 'def f():\n    """First.\n\n    >>> f()\n    1"""\n    return 1\n'
    assert strip_examples(text) == 'def f():\n    """First."""\n    return 1\n'


def test_a_docstring_of_examples_alone_keeps_a_line() -> None:
    stripped = strip_examples('"""\n>>> 1\n1\n"""\n')
    assert ast.get_docstring(ast.parse(stripped)) == "Undescribed."


@pytest.mark.parametrize("quotes", ["r'''", "'''", 'R"""', 'u"""'])
def test_docstrings_with_any_triple_quotes_are_stripped(quotes: str) -> None:
    text = f"class A:\n    {quotes}Prose.\n\n    >>> A()\n    a\n    {quotes[-3:]}\n"
    assert strip_examples(text) == f"class A:\n    {quotes}Prose.{quotes[-3:]}\n"


def test_examples_in_a_test_table_are_stripped() -> None:
    text = '__test__ = {"é": """Prose.\n\n>>> 1\n1\n"""}\n'
    assert strip_examples(text) == '__test__ = {"é": """Prose."""}\n'


def test_commented_out_examples_are_stripped_and_other_comments_stay() -> None:
    text = "# why\nx = 1\n# >>> x\n# 1\n\n# because\ny = 2\n"
    assert strip_examples(text) == "# why\nx = 1\n\n# because\ny = 2\n"


def test_line_ends_stay_as_they_were() -> None:
    text = 'def f():\r\n    """First.\r\n\r\n    >>> f()\r\n    1\r\n\r\n    Last.\r\n    """\r\n'
    assert strip_examples(text) == 'def f():\r\n    """First.\r\n\r\n    Last.\r\n    """\r\n'


def test_comments_behind_code_lose_their_examples() -> None:
    assert strip_examples("x = f(2)  # >>> f(2)\ny = '# >>> f'\n") == "x = f(2)\ny = '# >>> f'\n"


def test_transcripts_of_ipython_go_with_their_answers() -> None:
    text = ["", "Before.", "", "In [1]: f(", "   ...: 2)", "Out[1]: 3", "", "In [12]: print(1)", "1", "", "After [1]."]
    assert strip_examples(source(text)) == source(["", "Before.", "", "After [1]."])


def test_test_blocks_of_sphinx_go_as_far_as_they_are_indented() -> None:
    text = ["", "Before.", "", ".. testcode::", "", "   f(1)", "", "   f(2)", ".. testoutput::", "   :options: +SKIP"]
    text += ["", "   1", "", "   2", "After."]
    assert strip_examples(source(text)) == source(["", "Before.", "", "After."])


def test_examples_behind_words_go_with_their_answers() -> None:
    text = source(["", "Example: >>> f(2)", "3", "", "Or ``>>> f(1)``.", "", "Last."])
    assert strip_examples(text) == source(["", "Last."])


def test_a_shift_operator_in_prose_is_no_prompt() -> None:
    text = source(["", "As x >>> y in other languages, or >>>= there."])
    assert strip_examples(text) == text


@pytest.mark.parametrize(
    "code",
    [
        'f.__doc__ = """Prose.\n\n>>> f()\n1\n"""\n',
        'TEXT = """Prose.\n\n>>> f()\n1\n"""\n',
        '__test__["f"] = """Prose.\n\n>>> f()\n1\n"""\n',
        'class A:\n    x = 1\n    """Prose.\n\n    >>> A.x\n    1\n    """\n',
        'def f():\n    def g():\n        """Prose.\n\n        >>> g()\n        """\n',
        'call("""Prose.\n\n>>> f()\n1\n""", """Prose.\n\n>>> f()\n1\n""")\n',
    ],
)
def test_examples_go_wherever_a_string_is_written_over_several_lines(code: str) -> None:
    stripped = strip_examples(code)
    assert ">>>" not in stripped
    assert "Prose." in stripped


def test_a_line_that_is_continued_is_no_line_that_is_left() -> None:
    assert strip_examples('"""\\\n>>> f()\n1\n"""\n') == '"""Undescribed."""\n'


def test_a_last_line_that_ends_in_a_quote_keeps_the_closing_quotes_below() -> None:
    assert strip_examples('"""Say "so"\n\n>>> 1\n1\n"""\n') == '"""Say "so"\n"""\n'


def test_prose_that_the_docstring_closes_on_keeps_its_quotes() -> None:
    assert strip_examples('"""First.\n\n>>> 1\n1\n\nLast."""\n') == '"""First.\n\nLast."""\n'


@pytest.mark.parametrize("code", ["print('>>> ', end='')\n", "PS1 = '>>> %s'\n", 'b"""Prose."""\n', "x = '>>> f(1)'\n"])
def test_programs_that_print_prompts_are_left_alone(code: str) -> None:
    assert strip_examples(code) == code


@pytest.mark.parametrize(
    "code",
    [
        'def f():\n    "First.\\n>>> f()\\n1"\n',
        'b"""\n>>> f()\n1\n"""\n',
        'x = 1\nf"""\n>>> f()\n{x}\n"""\n',
        'call("First.\\n"\n  ">>> f()\\n"\n  "1\\n")\n',
        "def f(:\n    pass  # >>> f()\n",
    ],
)
def test_an_example_that_cannot_be_cut_out_is_refused(code: str) -> None:
    with pytest.raises(ExamplesLeft, match="leave this file out"):
        strip_examples(code)


def test_a_text_that_does_not_parse_and_has_no_prompt_stays() -> None:
    assert strip_examples("def f(:\n") == "def f(:\n"


def test_an_example_that_cannot_be_cut_out_is_named_with_its_line() -> None:
    with pytest.raises(ExamplesLeft, match="line 2 holds an example"):
        strip_examples('def f():\n    "First.\\n>>> f()\\n1"\n')
