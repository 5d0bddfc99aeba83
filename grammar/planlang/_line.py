"""The line of a syntax error, as those who look for its cause see it."""

from __future__ import annotations

from collections.abc import Mapping

from ._token import Token

__all__ = ["ENDS", "STARTS", "VALUES", "Line", "Said", "shown"]

VALUES = frozenset(("NAME", "NUMBER", "STRING", "FSTART", "FEND", "True", "False", "None"))
ENDS = VALUES | {")", "]", "}"}
STARTS = VALUES | {"(", "[", "{", "lambda", "not"}

Said = tuple[str, str, str] | tuple[str, str, str, int, int] | None
"""Code, message and hint; start and end where it is not the token that did not fit."""


class Line:
    """The tokens of the line with the error, cut at the error.

    :ivar bad: the token that does not fit. :ivar after: the one behind it.
    :ivar expected: the types of tokens that would fit.
    """

    def __init__(self, source: str, tokens: list[Token], at: int, expected: Mapping[str, int]) -> None:
        start = at
        while start > 0 and tokens[start - 1].type not in ("NEWLINE", "INDENT", "DEDENT"):
            start -= 1
        stop = at
        while stop < len(tokens) - 1 and tokens[stop].type not in ("NEWLINE", "$END"):
            stop += 1
        self.source, self.expected = source, expected
        self.before, self.rest = tokens[start:at], tokens[at:stop]
        self.bad = tokens[at]
        self.after = tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
        self.begin = max(source.rfind("\n", 0, self.bad.start), source.rfind("\r", 0, self.bad.start)) + 1
        ends = [end for end in (source.find("\n", self.begin), source.find("\r", self.begin)) if end >= 0]
        self.end = min(ends, default=len(source))

    @property
    def first(self) -> str:
        """The type of the first token before the error, or nothing."""
        return self.before[0].type if self.before else ""

    @property
    def last(self) -> Token | None:
        """The token before the error."""
        return self.before[-1] if self.before else None

    @property
    def text(self) -> str:
        """The physical line."""
        return self.source[self.begin : self.end].rstrip()

    @property
    def indented(self) -> int:
        """Where the physical line's first character stands."""
        return self.begin + len(self.text) - len(self.text.lstrip())

    def inside(self) -> str:
        """Return the innermost bracket that is open at the error, or nothing; a field of an f-string opens a `{f`."""
        opened: list[str] = []
        for token in self.before:
            if token.type in ("(", "[", "{", "FIELD_OPEN"):
                opened.append("{f" if token.type == "FIELD_OPEN" else token.type)
            elif token.type in (")", "]", "}", "FIELD_CLOSE") and opened:
                opened.pop()
        return opened[-1] if opened else ""


def shown(token: Token, source: str) -> str:
    """Return a token as a message names it."""
    if token.type in ("NEWLINE", "$END"):
        return "the end of the line"
    if token.type in ("INDENT", "DEDENT"):
        return "the indentation"
    text = source[token.start : token.end]
    return f"`{text}`" if len(text) <= 30 else f"`{text[:30]}...`"
