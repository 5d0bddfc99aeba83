"""What a text that is not written as Python has it was meant to be, and where it was meant to end."""

from __future__ import annotations

import re

from ._token import Token

__all__ = ["as_text", "closed_below", "ends_escaped", "text_before"]

_LINE_END = re.compile(r"[^\r\n]*")
_CLOSING = re.compile(r"[)\]},:;\s]*\Z")
_PLACEHOLDER = r"\$\{([^{}]+)\}"
_LONGEST_SHOWN = 80
_MOST_LINES = 30
"""Lines after which a quote is not taken for the end of a text that began on a line before."""


def as_text(inside: str) -> str:
    """Return what stands between backticks as a text or f-string of Python, or nothing where it is long or odd."""
    if len(inside) > _LONGEST_SHOWN or not inside.isprintable() or '"' in inside or "\\" in inside:
        return ""
    if re.search(_PLACEHOLDER, inside):
        return 'f"' + re.sub(_PLACEHOLDER, r"{\1}", inside) + '"'
    return f'"{inside}"'


def ends_escaped(line: str, quote: str) -> bool:
    """Say whether the rest of a line would be a whole text but for a backslash before its last quote."""
    escape = line.rfind("\\" + quote)
    return escape >= 0 and _CLOSING.match(line, escape + 2) is not None


def text_before(line: list[Token], source: str, start: int) -> Token | None:
    """Return a text of the line that ends right before a letter or the text at ``start``: too early, it seems."""
    for token in line:
        if token.type in ("STRING", "FEND") and (token.end == start or source[token.end : token.end + 1].isalnum()):
            return token
    return None


def closed_below(source: str, quote: str, inside: int) -> int:
    """Return where a text over several lines ends, or -1: at the one quote of its line, with only closers behind."""
    pos = _end(source, inside)
    for _ in range(_MOST_LINES):
        begin = pos + (2 if source.startswith("\r\n", pos) else 1)
        pos = _end(source, begin)
        line = source[begin:pos]
        if begin >= len(source) or line.count(quote) > 1:
            return -1
        at = line.find(quote)
        if at >= 0:
            return begin + at if _CLOSING.match(line, at + 1) else -1
    return -1


def _end(source: str, pos: int) -> int:
    found = _LINE_END.match(source, pos)
    return found.end() if found else pos
