"""Code that a claim quotes, used to mend a line number that is a little off.

A claim often holds the faulty expression between backticks. When it does not stand on the line that was given
but on exactly one line nearby, that line was meant. Anything less certain changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_QUOTED = re.compile(r"`+([^`\n]{1,200})`+")
# Diffs and skipped blank lines put models off by a few lines; farther away a like line is another one.
_WINDOW_LINES = 5
# Shorter code, or one bare name, stands on too many lines to tell them apart.
_TELLING_CHARACTERS = 6


def line_of_quote(lines: Sequence[str], first: int, last: int | None, claim: str) -> int:
    """The line that ``claim`` is about: ``first``, or the only line nearby that holds code it quotes."""
    quotes = [quote for quote in map(_squeezed, _QUOTED.findall(claim)) if _telling(quote)]
    if not quotes or any(_holds(line, quotes) for line in lines[first - 1 : last or first]):
        return first
    start = max(0, first - 1 - _WINDOW_LINES)
    near = lines[start : first + _WINDOW_LINES]
    matches = [number for number, line in enumerate(near, start + 1) if _holds(line, quotes)]
    return matches[0] if len(matches) == 1 else first


def _holds(line: str, quotes: Iterable[str]) -> bool:
    squeezed = _squeezed(line)
    return any(quote in squeezed for quote in quotes)


def _squeezed(code: str) -> str:
    return "".join(code.split())


def _telling(quote: str) -> bool:
    return len(quote) >= _TELLING_CHARACTERS and not quote.isidentifier()
