"""Code as a worker sees it: a heading with the path, then every line behind its number.

The size of that text is known from the lines alone, so a tree of files is packed without ever building it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Measured for numbered Python code over many files; it is fewer than the usual four because of the numbers.
CHARACTERS_A_TOKEN = 2.54542

_NUMBER_WIDTH = 5
_BAR = "| "


def numbered_lines(lines: Sequence[str], first_line: int = 1) -> str:
    """Each of ``lines`` behind its number, right-aligned in five columns, from ``first_line`` on."""
    return "".join(f"{n:>{_NUMBER_WIDTH}}{_BAR}{line}\n" for n, line in enumerate(lines, first_line))


def numbered_text(path: str, lines: Sequence[str], first_line: int = 1) -> str:
    """The heading ``### path`` and the numbered lines, every line ended by LF."""
    return f"### {path}\n{numbered_lines(lines, first_line)}"


def numbered_characters(path: str, text_characters: int, lines: int, first_line: int = 1) -> int:
    """The length of `numbered_text` for so many ``lines`` that hold ``text_characters`` without their ends."""
    columns = (_NUMBER_WIDTH + len(_BAR) + 1) * lines
    return len(path) + 5 + text_characters + columns + _wider_numbers(first_line, first_line + lines - 1)


def tokens_of(characters: int) -> int:
    """Numbered characters as tokens, rounded up so that a sum of parts is never below the whole."""
    return math.ceil(characters / CHARACTERS_A_TOKEN)


def _wider_numbers(first: int, last: int) -> int:
    """Characters by which the numbers ``first`` to ``last`` stand out of their five columns."""
    wider = 0
    limit = 10**_NUMBER_WIDTH
    while limit <= last:
        wider += last - max(first, limit) + 1
        limit *= 10
    return wider
