"""Text that models and audited code wrote, made fit to be shown and stored.

Such text can hide what it says (right-to-left overrides, zero-width characters), break a terminal or a parser
(controls) or not be text at all (half a surrogate pair, from file names that are no UTF-8). Pages for people name such
characters; files for programs keep everything that UTF-8 can hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from planloom.visible import visible

__all__ = ["LONGEST_CODE_LINE", "clipped", "code_line", "one_line", "plain_data", "prose", "visible"]

_SPAN = re.compile(r"`([^`\s](?:[^`\n]*[^`\s])?)`")
_LONGEST_TEXT = 2_000
LONGEST_CODE_LINE = 400


def one_line(text: str) -> str:
    """The visible text on a single line, its blanks collapsed, cut when it is too long to read."""
    return " ".join(clipped(visible(text)).split())


def clipped(text: str, longest: int = _LONGEST_TEXT) -> str:
    """The text, or as many of its first characters as ``longest`` says and how many are missing."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} … ({len(text) - longest:,} more characters)"


def code_line(text: str) -> str:
    """A line of code as a page shows it: nothing hidden, no line end inside, and no longer than people read."""
    return clipped(visible(text).replace("\n", "⟨U+000A⟩"), LONGEST_CODE_LINE)


def prose(text: str) -> list[tuple[bool, str]]:
    """The text in pieces, each with whether it is code: models set code between single backticks.

    Text that uses backticks in any other way is one piece, and no code.
    """
    ticks = text.count("`")
    if ticks % 2 or len(_SPAN.findall(text)) * 2 != ticks:
        return [(False, text)]
    return [(bool(index % 2), piece) for index, piece in enumerate(_SPAN.split(text)) if piece]


def plain_data(value: Any) -> Any:
    """JSON data for a value made of attrs classes, mappings and sequences, in characters that UTF-8 can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {plain_data(str(key)): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    return {field.name: plain_data(getattr(value, field.name)) for field in attrs.fields(type(value))}
