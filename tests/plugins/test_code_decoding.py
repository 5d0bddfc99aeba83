"""A file's bytes become text as Python would read them, or a reason to skip the file."""

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_code import Skipped, SourceFile, read_source, source_of


def read(data: bytes) -> SourceFile:
    source = source_of("a.py", data)
    assert isinstance(source, SourceFile), source
    return source


def reason(data: bytes) -> str:
    skipped = source_of("a.py", data)
    assert isinstance(skipped, Skipped), skipped
    return skipped.reason


def test_r01_a_byte_order_mark_is_no_part_of_line_1() -> None:
    source = read(codecs.BOM_UTF8 + b"def f(x):\n    return x+1\n")
    assert source.lines == ("def f(x):", "    return x+1")


def test_r01_a_file_with_a_byte_order_mark_is_not_rewritten(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(codecs.BOM_UTF8 + b"x = 1\n")
    read_source(file)
    assert file.read_bytes() == codecs.BOM_UTF8 + b"x = 1\n"


def test_r03_a_latin_1_byte_without_a_cookie_is_skipped_with_its_line() -> None:
    assert reason(b"y = 1\nx = '\xc2'  # \xe9\n") == "not decodable as utf-8: byte 0xc2 in line 2"


def test_r05_a_nul_character_makes_a_file_no_source() -> None:
    assert reason(b"x = 1\n\x00\ny = 2\n") == "holds a NUL character in line 2, so it is no Python source"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", id="first-line"),
        pytest.param(b"#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\nx = '\xe9'\n", id="second-line"),
        pytest.param(b"#!/usr/bin/python\r# coding=latin-1\rx = '\xe9'\r", id="lone-cr"),
        pytest.param(b"# \xe9 coding: latin-1\nx = '\xe9'\n", id="beside-a-byte-of-that-encoding"),
        pytest.param(b"\x0c\n# coding: Latin-1\nx = '\xe9'\n", id="after-a-blank-line"),
    ],
)
def test_a_cookie_in_the_first_two_lines_names_the_encoding(data: bytes) -> None:
    assert "x = 'é'" in read(data).lines


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\n\n# coding: latin-1\nx = '\xe9'\n", id="third-line"),
        pytest.param(b"x = 1\n# coding: latin-1\ny = '\xe9'\n", id="after-code"),
        pytest.param(b"s = 'coding: latin-1'\ny = '\xe9'\n", id="in-a-string"),
    ],
)
def test_a_cookie_elsewhere_names_nothing(data: bytes) -> None:
    assert reason(data).startswith("not decodable as utf-8")


@pytest.mark.parametrize(
    "name", ["no-such", "hex", "rot13", "utf-7", "punycode", "unicode_escape", "utf-16", "undefined"]
)
def test_an_encoding_that_is_none_for_source_is_refused_by_name(name: str) -> None:
    assert reason(b"# coding: " + name.encode() + b"\nx = 1\n").startswith(f"names the encoding '{name}'")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_wide_byte_order_mark_gives_text_that_does_not_parse(encoding: str) -> None:
    source = read("x = 1\n".encode(encoding))
    assert source.lines == ("x = 1",)
    assert source.parse_problem is not None
    assert "Python does not read" in source.parse_problem.reason


@given(st.binary(max_size=200))
def test_any_bytes_are_source_or_skipped(data: bytes) -> None:
    assert isinstance(source_of("a.py", data), SourceFile | Skipped)


@given(st.text(max_size=100).filter(lambda text: "\0" not in text and not text.startswith("\ufeff")))
def test_utf_8_text_comes_back_as_it_was(text: str) -> None:
    if "coding" not in text:
        assert read(text.encode()).text == text


def test_a_file_that_cannot_be_opened_is_skipped_with_the_systems_reason(tmp_path: Path) -> None:
    assert read_source(tmp_path / "gone.py") == Skipped("gone.py", "cannot be read: No such file or directory")


def test_a_file_far_too_large_is_skipped_without_reading_it(tmp_path: Path) -> None:
    file = tmp_path / "data.py"
    with file.open("wb") as opened:
        opened.truncate(10**9)
    skipped = read_source(file)
    assert isinstance(skipped, Skipped)
    assert skipped.reason.startswith("is 1,000,000,000 bytes")
