"""Cuts a source text into tokens, and says there what only the text can tell.

The cut is by hand, because the true cause of most broken plans is known here and nowhere later: a stack of open
brackets names the one that was never closed, at the place where it opened; f-strings are cut by the same code, so
that fields nest with the same quotes; indentation, tabs, curly quotes, fences and characters that are not Python are
seen in place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from . import _cut_messages as said
from ._characters import stray, stray_pair
from ._cut import Cut, Spoiled, Tokens, TooDeep
from ._cut_fstrings import field_part, fstring
from ._cut_texts import CURLY, backtick, curly, plain_text, unclosed_line
from ._limits import Rules
from ._literals import number
from ._prose import looks_like_prose
from ._token import CLOSERS, KEYWORDS, OPENERS, OPERATORS, Token

__all__ = ["Tokens", "tokenize"]

_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t]|\\(?:\r\n|\r|\n))+)"
    r"|(?P<newline>\r\n|\r|\n)"
    r"|(?P<comment>\#[^\r\n]*)"
    r"|(?P<text>(?:[rRuUfFbBtT]{1,2})?(?:'''|\"\"\"|'|\"))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>0[xXoObB]\w*|\.?\d(?:[eE][+-](?=\d)|[\w.])*)"
    rf"|(?P<op>{'|'.join(re.escape(op) for op in OPERATORS)})"
)
_STARTS = frozenset(("NAME", "NUMBER", "STRING", "FSTART", "True", "False", "None", "(", "[", "{", "-"))


def tokenize(source: str, rules: Rules) -> Tokens:
    """Cut ``source``; its faults are part of what comes out."""
    return _Cutter(source, rules).run()


class _Cutter(Cut):
    def __init__(self, source: str, rules: Rules) -> None:
        super().__init__(source, rules)
        self.in_match = False
        self.readers: dict[str, Callable[[str, int, int], int]] = {
            "name": self._name,
            "op": self._operator,
            "text": self._text,
            "number": self._number,
            "newline": self._newline,
            "comment": self._comment,
        }

    def run(self) -> Tokens:
        size = len(self.source)
        pos = self._line_start(1 if self.source.startswith("\ufeff") else 0)
        while pos < size:
            try:
                pos = self.code(pos, -1)
                if self.brackets:
                    pos = self.never_closed()
            except Spoiled as spoiled:
                pos = spoiled.resume
                self.brackets[:] = spoiled.brackets
                self.fstring_depth, self.line_spoiled = 0, True
            except TooDeep:
                pos, self.line_spoiled = size, True
        if self.line_spoiled:
            self.replace_line(size)
        self.layout.finish(size)
        return self.out

    def code(self, pos: int, base: int) -> int:
        """Cut code from ``pos`` to the end, or to the end of the f-string field that bracket ``base`` opened."""
        source, size, match = self.source, len(self.source), _TOKEN.match
        read = self.readers
        while pos < size:
            if len(self.brackets) == base + 1 and base >= 0 and source[pos] in "}:!=":
                stop = field_part(self, pos)
                if stop >= 0:
                    return stop
            found = match(source, pos)
            if found is None:
                pos = self._not_python(pos)
                continue
            kind = found.lastgroup or ""
            pos = self._blank(found.end()) if kind == "blank" else read[kind](found.group(), pos, base)
        return pos

    def _blank(self, end: int) -> int:
        if end == len(self.source) and self.source[end - 1] in "\r\n":
            self.complain("PL006", end - 2, end - 1, *said.BACKSLASH)
        return end

    def _name(self, word: str, pos: int, base: int) -> int:
        end = pos + len(word)
        self.tokens.append(Token(word if word in KEYWORDS else "NAME", word, pos, end))
        if not word.isascii() and word not in self.told:
            self.told.add(word)
            self.complain("PL030", pos, end, *stray(word))
        return end

    def _operator(self, op: str, pos: int, base: int) -> int:
        if op in OPENERS:
            return self.close_bracket(op, pos, base)
        if op in CLOSERS:
            self.open_bracket(op, pos)
        self.tokens.append(Token(op, op, pos, pos + len(op)))
        return pos + len(op)

    def _number(self, text: str, pos: int, base: int) -> int:
        value = number(text, pos, self.rules.literal, self.bad_number)
        self.tokens.append(Token("NUMBER", value, pos, pos + len(text)))
        return pos + len(text)

    def _comment(self, text: str, pos: int, base: int) -> int:
        if base >= 0 and len(self.brackets[base][0]) == len("f'") and "}" in text:
            raise self.spoil("PL016", pos, pos + 1, *said.FIELD_COMMENT)
        self.out.code_characters -= len(text)
        return pos + len(text)

    def _newline(self, text: str, pos: int, base: int) -> int:
        end = pos + len(text)
        self.out.code_characters -= len(text)
        if base >= 0 and len(self.brackets) == base + 1 and len(self.brackets[-1][0]) == 2:
            start = self.brackets[-1][1]
            raise self.spoil("PL016", start, pos, *said.FIELD_OPEN)
        if self.brackets:
            return end
        if self.line_spoiled:
            self.replace_line(pos)
        self._soft_keyword()
        self.tokens.append(Token("NEWLINE", "", pos, end))
        return self._line_start(end)

    def _soft_keyword(self) -> None:
        """Turn the names `match` and `case` into keywords where they head a block, so that they are refused as such."""
        line = self.tokens[self.line_token :]
        if len(line) < 3 or line[0].value not in ("match", "case") or line[0].type != "NAME":
            return
        if line[1].type in _STARTS and any(token.type == ":" for token in line):
            if line[0].value == "match" and line[-1].type == ":":
                line[0].type, self.in_match = "MATCH", True
            elif line[0].value == "case" and self.in_match:
                line[0].type = "CASE"

    def _line_start(self, pos: int) -> int:
        pos, skipped = self.layout.line(pos, self.once)
        self.out.code_characters -= skipped
        self.line_token = len(self.tokens)
        return pos

    def _not_python(self, pos: int) -> int:
        char = self.source[pos]
        if char in CURLY:
            return curly(self, pos)
        if char == "`" and not self.line_spoiled:
            return backtick(self, pos)
        if char == "\\" and any(opener.startswith("f") for opener, _ in self.brackets):
            raise self.spoil("PL016", pos, pos + 1, *said.FIELD_BACKSLASH)
        if char == "\\":
            raise self.spoil("PL006", pos, pos + 1, *said.BACKSLASH)
        if not self.line_spoiled and looks_like_prose(self.source[self.layout.line_begin(pos) : self.line_end(pos)]):
            raise self.spoil("PL006", pos, pos + 1, "", "")
        pair = stray_pair(self.source, pos)
        if not self.line_spoiled:
            self.once("PL006", pos, pos + (2 if pair else 1), *(pair or stray(char)))
        self.line_spoiled = self.line_spoiled or not char.isspace()
        return pos + 1

    def _text(self, opening: str, pos: int, base: int) -> int:
        inside = pos + len(opening)
        quote = opening.lstrip("rRuUfFbBtT")
        prefix = opening[: len(opening) - len(quote)].lower()
        if prefix in ("", "r", "u", "b", "br", "rb"):
            return plain_text(self, prefix, quote, pos, inside)
        if prefix in ("f", "fr", "rf"):
            return fstring(self, prefix, quote, pos, inside)
        if self.tokens and self.tokens[-1].type in ("STRING", "FEND") and self.tokens[-1].end == pos:
            raise unclosed_line(self, quote, pos, inside)  # 'don't': no prefix, but a word that goes on
        self.complain("PL019", pos, inside, *said.prefix(opening, prefix, quote))
        return plain_text(self, "", quote, pos, inside)
