"""The pieces a source text is cut into."""

from __future__ import annotations

__all__ = ["CLOSERS", "KEYWORDS", "OPENERS", "OPERATORS", "Token"]

_KEYWORDS = """
and as assert async await break class continue def del elif else except finally for from global if import in is lambda
nonlocal not or pass raise return try while with yield True False None
"""
# Longest first, so that a simple alternation finds the right one.
_OPERATORS = """
**= //= >>= <<= ... ** // >> << <= >= == != <> -> += -= *= /= %= &= |= ^= @= := + - * / % @ & | ^ ~ < > ( ) [ ] { }
, : . ; =
"""

KEYWORDS = frozenset(_KEYWORDS.split())
CLOSERS = {"(": ")", "[": "]", "{": "}"}
OPENERS = {")": "(", "]": "[", "}": "{"}
OPERATORS = tuple(_OPERATORS.split())


class Token:
    """One piece of source.

    :ivar type: the text itself for keywords and operators, else one of NAME NUMBER STRING FSTART FMIDDLE FEND
        FIELD_OPEN FIELD_CLOSE FEQ CONVERSION FCOLON NEWLINE INDENT DEDENT MATCH CASE $END.
    :ivar value: the decoded text of STRING and FMIDDLE, the number of NUMBER, else the source text.
    """

    __slots__ = ("end", "start", "type", "value")

    def __init__(self, type: str, value: str | int | float, start: int, end: int) -> None:  # noqa: A002 - lark's name for it
        self.type, self.value, self.start, self.end = type, value, start, end

    def __repr__(self) -> str:
        return f"Token({self.type!r}, {self.value!r}, {self.start}, {self.end})"
