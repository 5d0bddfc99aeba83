"""The numbered form that workers read, and its size known without building it."""

from hypothesis import given
from hypothesis import strategies as st

from planloom_code import CHARACTERS_A_TOKEN, SourceFile, numbered, numbered_lines, render, source_of
from planloom_code._numbering import numbered_characters, numbered_text


def source(text: str, path: str = "pkg/a.py") -> SourceFile:
    read = source_of(path, text.encode())
    assert isinstance(read, SourceFile)
    return read


def test_a_file_is_its_path_and_its_lines_behind_their_numbers() -> None:
    assert numbered(source("def f():\n    return 1")) == ("### pkg/a.py\n    1| def f():\n    2|     return 1\n")


def test_some_lines_keep_their_own_numbers() -> None:
    assert numbered(source("a\nb\nc\nd\n"), 2, 3) == "### pkg/a.py\n    2| b\n    3| c\n"


def test_a_number_above_five_digits_is_written_whole() -> None:
    assert numbered_lines(["x"], 123_456) == "123456| x\n"


def test_an_empty_file_is_its_heading_alone() -> None:
    assert numbered(source("")) == "### pkg/a.py\n"


def test_r07_r09_what_follows_a_form_feed_is_read_under_the_parsers_numbers() -> None:
    text = numbered(source("def a():\n    return 1\n\n\x0c\ndef b():\n    return 2\n"))
    assert text.endswith("    6|     return 2\n")


def test_r11_lone_carriage_returns_number_lines() -> None:
    assert "    3| def f():\n" in numbered(source("a = 1\rb = 2\rdef f():\r    return 3\r"))


def test_rendered_files_follow_one_another() -> None:
    first, second = source("x\n", "a.py"), source("y\n", "b.py")
    assert render([first, second]) == numbered(first) + numbered(second)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=80))
def test_tokens_are_the_characters_of_the_numbered_form_divided(text: str) -> None:
    file = source(text)
    characters = len(numbered(file))
    assert characters / CHARACTERS_A_TOKEN <= file.tokens < characters / CHARACTERS_A_TOKEN + 1


@given(st.integers(1, 10**7), st.integers(0, 30))
def test_the_size_of_wide_numbers_is_counted(first_line: int, lines: int) -> None:
    text = numbered_text("a.py", ["xy"] * lines, first_line)
    assert numbered_characters("a.py", 2 * lines, lines, first_line) == len(text)
