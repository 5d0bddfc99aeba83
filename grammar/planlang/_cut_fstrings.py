"""Cuts f-strings: their text here, the code of their fields by the same code that cuts a plan.

So fields nest with the same quotes, and a fault in a field is named as it is anywhere else.
"""

from __future__ import annotations

import re

from . import _cut_messages as said
from ._cut import Cut, Spoiled, TooDeep
from ._cut_texts import unclosed_line
from ._literals import unescape
from ._token import Token

__all__ = ["field_part", "fstring"]

_SELF_DOCUMENTING = re.compile(r"=(?!=)[ \t\r\n]*(?=[}!:])")
_CONVERSION = re.compile(r"![ \t]*(\w*)[ \t]*")
_DEEPEST_FSTRING = 12


def fstring(cut: Cut, prefix: str, quote: str, pos: int, inside: int) -> int:
    """Cut the f-string whose prefix and quote end at ``inside``, and return where it ends."""
    cut.fstring_depth += 1
    if cut.fstring_depth > _DEEPEST_FSTRING:
        cut.complain("PL004", pos, inside, *said.too_deep(_DEEPEST_FSTRING))
        raise TooDeep
    cut.tokens.append(Token("FSTART", cut.source[pos:inside], pos, inside))
    end = _fstring_parts(cut, "r" in prefix, quote, pos, inside)
    cut.fstring_depth -= 1
    return end


def _fstring_parts(cut: Cut, raw: bool, quote: str, start: int, pos: int) -> int:
    source, size = cut.source, len(cut.source)
    begin, single = pos, len(quote) == 1
    while pos < size:
        char = source[pos]
        if char == quote[0] and source.startswith(quote, pos):
            _middle(cut, begin, pos, raw)
            cut.tokens.append(Token("FEND", quote, pos, pos + len(quote)))
            cut.out.code_characters -= len(quote)
            return pos + len(quote)
        if char == "{" and source[pos + 1 : pos + 2] != "{":
            _middle(cut, begin, pos, raw)
            begin = pos = _field(cut, pos, quote, raw)
        elif char in "{}":
            pos = _brace(cut, pos)
        elif char == "\\":
            pos = _skip_escape(cut, pos, raw)
        elif single and char in "\r\n":
            break
        else:
            pos += 1
    if not single:
        cut.complain("PL013", start, start + len(quote), *said.unclosed_quote(quote))
        raise Spoiled(size, [])
    raise unclosed_line(cut, quote, start, begin if begin == start else start + 1)


def _brace(cut: Cut, pos: int) -> int:
    if cut.source.startswith(("{{", "}}"), pos):
        return pos + 2
    cut.complain("PL016", pos, pos + 1, *said.SINGLE_BRACE)
    return pos + 1


def _skip_escape(cut: Cut, pos: int, raw: bool) -> int:
    after = cut.source[pos + 1 : pos + 3]
    if not raw and after == "N{":
        close = cut.source.find("}", pos)
        return close + 1 if close >= 0 else len(cut.source)
    if after[:1] in ("{", "}"):
        return pos + 1
    return pos + 3 if after == "\r\n" else pos + 2


def _middle(cut: Cut, begin: int, end: int, raw: bool) -> None:
    if begin == end:
        return
    cut.out.code_characters -= end - begin
    text = cut.source[begin:end].replace("{{", "{").replace("}}", "}")
    if not raw:
        text = unescape(text, begin, cut.complain)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    cut.tokens.append(Token("FMIDDLE", text, begin, end))


def _field(cut: Cut, pos: int, quote: str, raw: bool) -> int:
    """Cut one ``{...}`` and return where the text goes on."""
    cut.open_bracket("f" + quote, pos)
    base = len(cut.brackets) - 1
    cut.tokens.append(Token("FIELD_OPEN", "{", pos, pos + 1))
    opened = len(cut.tokens)
    end = cut.code(pos + 1, base)
    if end >= len(cut.source):
        raise cut.spoil("PL016", pos, pos + 1, *said.FIELD_OPEN)
    if len(cut.tokens) == opened or cut.tokens[opened].type in ("FEQ", "CONVERSION"):
        raise cut.spoil("PL016", pos, end + 1, *said.EMPTY_FIELD)
    if cut.source[end] == ":":
        end = _spec(cut, end, quote, raw)
    cut.tokens.append(Token("FIELD_CLOSE", "}", end, end + 1))
    cut.brackets.pop()
    return end + 1


def field_part(cut: Cut, pos: int) -> int:
    """Read what may follow the expression of a field: the place of its ``:`` or ``}``, or -1 for "more code"."""
    source = cut.source
    equals = _SELF_DOCUMENTING.match(source, pos)
    if equals:
        cut.tokens.append(Token("FEQ", "=", pos, equals.end()))
        pos = equals.end()
    if source[pos] == "!" and source[pos + 1 : pos + 2] != "=":
        pos = _conversion(cut, pos)
    return pos if source[pos : pos + 1] in ("}", ":") else -1


def _conversion(cut: Cut, pos: int) -> int:
    found = _CONVERSION.match(cut.source, pos)
    letter = found.group(1) if found else ""
    end = found.end() if found else pos + 1
    if letter not in ("r", "s", "a"):
        cut.complain("PL016", pos, end, *said.bad_conversion(letter))
        letter = "r"
    if cut.source[end : end + 1] not in ("}", ":"):
        raise cut.spoil("PL016", cut.brackets[-1][1], end, *said.FIELD_OPEN)
    cut.tokens.append(Token("CONVERSION", letter, pos, end))
    return end


def _spec(cut: Cut, pos: int, quote: str, raw: bool) -> int:
    """Cut a format specification from its colon, and return the place of the closing brace."""
    cut.tokens.append(Token("FCOLON", ":", pos, pos + 1))
    source, begin, pos = cut.source, pos + 1, pos + 1
    while pos < len(source):
        char = source[pos]
        if char == "}":
            _middle(cut, begin, pos, raw)
            return pos
        if char == "{":
            _middle(cut, begin, pos, raw)
            begin = pos = _field(cut, pos, quote, raw)
        elif source.startswith(quote, pos) or (len(quote) == 1 and char in "\r\n"):
            break
        else:
            pos += 1
    raise cut.spoil("PL016", cut.brackets[-1][1], cut.brackets[-1][1] + 1, *said.FIELD_OPEN)
