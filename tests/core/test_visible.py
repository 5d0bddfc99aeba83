"""Foreign text as it is shown: nothing hidden, nothing that moves a cursor, no markup."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from planloom.cli._console import ForeignConsole
from planloom.visible import visible

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_visible_text_holds_no_control_character_and_no_half_of_a_pair(text: str) -> None:
    shown = visible(text)
    assert all(c in "\t\n" or unicodedata.category(c) not in ("Cc", "Cs") for c in shown)
    assert visible(shown) == shown


@pytest.mark.parametrize("text", ["plain", "größe\n\tline", "⟨x⟩ [red] \N{SNOWMAN}"])
def test_text_that_hides_nothing_is_unchanged(text: str) -> None:
    assert visible(text) == text


@given(ANY_TEXT)
def test_a_console_shows_any_text_without_a_control_character(text: str) -> None:
    stream = io.StringIO()
    console = ForeignConsole(stream, forgiven=BrokenPipeError)
    console.print(Text(text))
    console.print(text)
    shown = stream.getvalue()
    assert all(c in "\t\n" or unicodedata.category(c) not in ("Cc", "Cs") for c in shown)


def test_a_console_reads_no_markup_and_no_emoji_codes() -> None:
    stream = io.StringIO()
    ForeignConsole(stream, forgiven=BrokenPipeError).print("[/] [red]:smile:[/red]")
    assert stream.getvalue() == "[/] [red]:smile:[/red]\n"
