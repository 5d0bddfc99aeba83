"""Cuts texts: in quotes, and in what stands for quotes elsewhere; says why a text has no end."""

from __future__ import annotations

import re

from . import _cut_messages as said
from ._characters import stray
from ._cut import Cut, Spoiled
from ._literals import unescape
from ._texts import as_text, closed_below, ends_escaped, text_before
from ._token import Token

__all__ = ["CURLY", "backtick", "curly", "plain_text", "unclosed_line"]

_TEXT_END = {
    "'": re.compile(r"[^'\\\r\n]*+(?:\\(?:\r\n|[\s\S])[^'\\\r\n]*+)*+'"),
    '"': re.compile(r'[^"\\\r\n]*+(?:\\(?:\r\n|[\s\S])[^"\\\r\n]*+)*+"'),
    "'''": re.compile(r"[^'\\]*+(?:(?:\\[\s\S]|'(?!''))[^'\\]*+)*+'''"),
    '"""': re.compile(r'[^"\\]*+(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*+"""'),
}
CURLY = {"\u201c": '\u201c\u201d\u201e"', "\u201d": '\u201c\u201d\u201e"', "\u201e": '\u201c\u201d\u201e"'}
CURLY |= dict.fromkeys("\u2018\u2019\u201a", "\u2018\u2019\u201a'")
CURLY |= dict.fromkeys("\u00ab\u00bb", '\u00ab\u00bb"') | dict.fromkeys("\u300c\u300d", '\u300c\u300d"')
CURLY |= {"\uff02": '\uff02"', "\uff07": "\uff07'"}
_LONGEST_TEMPLATE = 4_000


def backtick(cut: Cut, pos: int) -> int:
    """Read a text between backticks, as other languages have them, as if it were a text of Python."""
    close = cut.source.find("`", pos + 1)
    if close < 0 or close - pos > _LONGEST_TEMPLATE or cut.source.startswith("``", pos):
        cut.once("PL006", pos, pos + 1, *stray("`"))
        cut.line_spoiled = True
        return pos + 1
    inside = cut.source[pos + 1 : close]
    cut.once("PL006", pos, close + 1, *said.template(as_text(inside)))
    cut.out.code_characters -= close + 1 - pos
    cut.tokens.append(Token("STRING", inside, pos, close + 1))
    return close + 1


def curly(cut: Cut, pos: int) -> int:
    """Read a text between curly quotes as if they were straight."""
    quotes = CURLY[cut.source[pos]]
    straight = quotes[-1]
    line_end = cut.line_end(pos + 1)
    close = next((i for i in range(pos + 1, line_end) if cut.source[i] in quotes), -1)
    if close < 0:
        raise cut.spoil("PL007", pos, pos + 1, *said.curly_quote(cut.source[pos], straight))
    cut.once("PL007", pos, pos + 1, *said.curly_quote(cut.source[pos], straight))
    cut.tokens.append(Token("STRING", cut.source[pos + 1 : close], pos, close + 1))
    return close + 1


def plain_text(cut: Cut, prefix: str, quote: str, pos: int, inside: int) -> int:
    """Cut the text whose prefix and quote end at ``inside``, and return where it ends."""
    found = _TEXT_END[quote].match(cut.source, inside)
    if found is None:
        raise _unclosed_text(cut, quote, pos)
    end = found.end()
    text = cut.source[inside : end - len(quote)]
    if "b" in prefix:
        cut.complain("PL050", pos, end, *said.BYTES)
    elif prefix != "r":
        text = unescape(text, inside, cut.complain)
    cut.out.code_characters -= end - pos
    cut.tokens.append(Token("STRING", text.replace("\r\n", "\n").replace("\r", "\n"), pos, end))
    return end


def _unclosed_text(cut: Cut, quote: str, pos: int) -> Spoiled:
    field = _own_field(cut, quote)
    if len(quote) == 3:
        if field >= 0:
            cut.complain("PL016", field, field + 1, *said.FIELD_OPEN)
            return Spoiled(cut.line_end(pos + 3), [])
        cut.complain("PL013", pos, pos + 3, *said.unclosed_quote(quote))
        return Spoiled(len(cut.source), [])
    if field >= 0:
        return cut.spoil("PL016", field, field + 1, *said.FIELD_OPEN)
    return unclosed_line(cut, quote, pos, pos + 1)


def unclosed_line(cut: Cut, quote: str, start: int, inside: int) -> Spoiled:
    """Name why a text with one quote has no end on its line, and skip what belongs to it."""
    before = text_before(cut.tokens[cut.line_token :], cut.source, start)
    if before is not None and before.end <= cut.layout.line_begin(start):
        before = None  # inside brackets a statement has several lines, and reading never goes back to one of them
    if before is not None and before.end == start and cut.source[start] == quote:
        return cut.spoil("PL013", start, inside, *said.one_quote_more(quote))
    if before is not None and cut.source[before.end - 1] == quote:
        column = before.start - cut.layout.line_begin(before.start) + 1
        return cut.spoil("PL013", before.end - 1, before.end, *said.closed_too_early(quote, column))
    if ends_escaped(cut.source[inside : cut.line_end(inside)], quote):
        return cut.spoil("PL013", start, inside, *said.escaped_quote(quote))
    close = closed_below(cut.source, quote, inside)
    if close < 0:
        return cut.spoil("PL013", start, inside, *said.unclosed_quote(quote))
    cut.complain("PL013", start, inside, *said.over_lines(quote))
    resume = cut.line_end(close)
    return Spoiled(resume, cut.still_open(cut.source[close + 1 : resume]))


def _own_field(cut: Cut, quote: str) -> int:
    """Return where the field opened in which a quote is really the end of the f-string around it, or -1."""
    for opener, start in reversed(cut.brackets):
        if opener.startswith("f"):
            return start if opener == "f" + quote else -1
    return -1
