"""Cuts a source text into tokens, and says there what only the text can tell.

The cut is by hand, because the true cause of most broken plans is known here and nowhere later: a stack of open
brackets names the one that was never closed, at the place where it opened; f-strings are cut by the same code, so
that fields nest with the same quotes; indentation, tabs, curly quotes, fences and characters that are not Python are
seen in place. A fault never stops the cut: the line that it spoils is replaced by ``pass`` so that the rest of the
plan is still read.

Depth is bounded here, before anything recursive looks at the text: brackets and f-strings may nest only so far.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from . import _cut_messages as said
from ._characters import clean, stray, stray_pair
from ._faults import Fault
from ._layout import Layout
from ._limits import Rules
from ._literals import number, unescape
from ._prose import looks_like_prose
from ._texts import as_text, closed_below, ends_escaped, text_before
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
_TEXT_END = {
    "'": re.compile(r"[^'\\\r\n]*+(?:\\(?:\r\n|[\s\S])[^'\\\r\n]*+)*+'"),
    '"': re.compile(r'[^"\\\r\n]*+(?:\\(?:\r\n|[\s\S])[^"\\\r\n]*+)*+"'),
    "'''": re.compile(r"[^'\\]*+(?:(?:\\[\s\S]|'(?!''))[^'\\]*+)*+'''"),
    '"""': re.compile(r'[^"\\]*+(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*+"""'),
}
_LINE_END = re.compile(r"[^\r\n]*")
_SELF_DOCUMENTING = re.compile(r"=(?!=)[ \t\r\n]*(?=[}!:])")
_CONVERSION = re.compile(r"![ \t]*(\w*)[ \t]*")
_CURLY = {"\u201c": '\u201c\u201d\u201e"', "\u201d": '\u201c\u201d\u201e"', "\u201e": '\u201c\u201d\u201e"'}
_CURLY |= dict.fromkeys("\u2018\u2019\u201a", "\u2018\u2019\u201a'")
_CURLY |= dict.fromkeys("\u00ab\u00bb", '\u00ab\u00bb"') | dict.fromkeys("\u300c\u300d", '\u300c\u300d"')
_CURLY |= {"\uff02": '\uff02"', "\uff07": "\uff07'"}
_LONGEST_TEMPLATE = 4_000
_STARTS = frozenset(("NAME", "NUMBER", "STRING", "FSTART", "True", "False", "None", "(", "[", "{", "-"))
_DEEPEST_FSTRING = 12
_REREADS = 4
"""How often the text after a bracket that was never closed is read again; each costs a pass over the rest."""


class Tokens:
    """A source text, cut.

    :ivar whole: false when some lines could not be read, so that nothing can be said about names.
    :ivar source: the text that the offsets belong to; characters that no plan may hold are blanks in it.
    :ivar code_characters: characters outside of texts, comments and blank lines.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[Token] = []
        self.faults: list[Fault] = []
        self.whole = True
        self.code_characters = len(source)


class _Spoiled(Exception):
    """The rest of the physical line cannot be read; ``resume`` is where to go on, with ``brackets`` open."""

    def __init__(self, resume: int, brackets: list[tuple[str, int]]) -> None:
        self.resume, self.brackets = resume, brackets


class _TooDeep(Exception):
    """Brackets nest too deep to go on."""


def tokenize(source: str, rules: Rules) -> Tokens:
    """Cut ``source``; its faults are part of what comes out."""
    return _Cutter(source, rules).run()


class _Cutter:
    def __init__(self, source: str, rules: Rules) -> None:
        self.out = Tokens(source)
        self.out.source = clean(source, self.out.faults)
        self.source = self.out.source
        self.rules = rules
        self.tokens = self.out.tokens
        self.brackets: list[tuple[str, int]] = []
        self.layout = Layout(self.source, self.tokens, self.out.faults)
        self.line_token = 0
        self.fstring_depth = 0
        self.rereads = 0
        self.line_spoiled = self.in_match = False
        self.told: set[str] = set()
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
                pos = self._code(pos, -1)
                if self.brackets:
                    pos = self._never_closed()
            except _Spoiled as spoiled:
                pos = spoiled.resume
                self.brackets[:] = spoiled.brackets
                self.fstring_depth, self.line_spoiled = 0, True
            except _TooDeep:
                pos, self.line_spoiled = size, True
        if self.line_spoiled:
            self._replace_line(size)
        self.layout.finish(size)
        return self.out

    # ---- faults

    def complain(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        self.out.faults.append(Fault(code, start, end, message, hint))

    def _bad_number(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        self.complain(code, start, end, message, hint)
        self.line_spoiled = self.line_spoiled or code == "PL018"

    def once(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        """Complain about a cause that usually strikes many times in one plan."""
        if code not in self.told:
            self.told.add(code)
            self.complain(code, start, end, message, hint)

    def _replace_line(self, pos: int) -> None:
        self.out.whole = self.line_spoiled = False
        del self.tokens[self.line_token :]
        self.brackets.clear()
        self.tokens.append(Token("pass", "pass", pos, pos))
        self.layout.spoiled = True

    def _line_end(self, pos: int) -> int:
        found = _LINE_END.match(self.source, pos)
        return found.end() if found else pos

    def _spoil(self, code: str, start: int, end: int, message: str, hint: str) -> _Spoiled:
        """Complain, and return the jump to the next line; prose is named as such instead."""
        line_start = max(self.source.rfind("\n", 0, start), self.source.rfind("\r", 0, start)) + 1
        line = self.source[line_start : self._line_end(start)]
        if looks_like_prose(line):
            self.once("PL009", line_start, line_start + len(line), *said.PROSE)
        else:
            self.complain(code, start, end, message, hint)
        resume = self._line_end(start)
        return _Spoiled(resume, self._still_open(self.source[start:resume]))

    def _still_open(self, unread: str) -> list[tuple[str, int]]:
        """Return the brackets that are open after a line of which ``unread`` could not be cut."""
        inside = next((i for i, (opener, _) in enumerate(self.brackets) if opener[0] == "f"), len(self.brackets))
        still = self.brackets[:inside]
        for char in reversed(unread.rstrip(" \t:")):
            if not still or char != CLOSERS[still[-1][0]]:
                break
            still.pop()
        return still

    def _never_closed(self) -> int:
        """Name the bracket that swallowed the rest of the source; return where its line should have ended."""
        self.rereads += 1
        start = self.brackets[0][1]
        resume = self.layout.next_statement(self._line_end(start)) if self.rereads <= _REREADS else -1
        if not self.line_spoiled:
            openers = "".join(opener[0].replace("f", "{") for opener, _ in self._open_before(resume))
            last = self.source[: resume if resume >= 0 else len(self.source)].rstrip()
            line = last.count("\n") + 1 if self.rereads <= _REREADS else 0
            self.complain("PL011", start, start + 1, *said.unclosed_at_end(openers, line))
        self.line_spoiled = True
        self.brackets.clear()
        return resume if resume >= 0 else len(self.source)

    def _open_before(self, end: int) -> list[tuple[str, int]]:
        """Return the first bracket that is open, and those inside it that were opened before ``end``."""
        return [self.brackets[0], *(b for b in self.brackets[1:] if end < 0 or b[1] < end)]

    # ---- code

    def _code(self, pos: int, base: int) -> int:
        """Cut code from ``pos`` to the end, or to the end of the f-string field that bracket ``base`` opened."""
        source, size, match = self.source, len(self.source), _TOKEN.match
        read = self.readers
        while pos < size:
            if len(self.brackets) == base + 1 and base >= 0 and source[pos] in "}:!=":
                stop = self._field_part(pos)
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
            return self._close(op, pos, base)
        if op in CLOSERS:
            self._open(op, pos)
        self.tokens.append(Token(op, op, pos, pos + len(op)))
        return pos + len(op)

    def _number(self, text: str, pos: int, base: int) -> int:
        value = number(text, pos, self.rules.literal, self._bad_number)
        self.tokens.append(Token("NUMBER", value, pos, pos + len(text)))
        return pos + len(text)

    def _comment(self, text: str, pos: int, base: int) -> int:
        if base >= 0 and len(self.brackets[base][0]) == len("f'") and "}" in text:
            raise self._spoil("PL016", pos, pos + 1, *said.FIELD_COMMENT)
        self.out.code_characters -= len(text)
        return pos + len(text)

    def _newline(self, text: str, pos: int, base: int) -> int:
        end = pos + len(text)
        self.out.code_characters -= len(text)
        if base >= 0 and len(self.brackets) == base + 1 and len(self.brackets[-1][0]) == 2:
            start = self.brackets[-1][1]
            raise self._spoil("PL016", start, pos, *said.FIELD_OPEN)
        if self.brackets:
            return end
        if self.line_spoiled:
            self._replace_line(pos)
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

    def _open(self, opener: str, pos: int) -> None:
        self.brackets.append((opener, pos))
        if len(self.brackets) > self.rules.node_height:
            self.complain("PL004", pos, pos + 1, *said.too_deep(self.rules.node_height))
            raise _TooDeep

    def _close(self, closer: str, pos: int, base: int) -> int:
        """Match a closing bracket with what is open, and return where to go on."""
        inner = self.brackets[base + 1 :]
        if inner and inner[-1][0] == OPENERS[closer]:
            self.brackets.pop()
        elif any(opener == OPENERS[closer] for opener, _ in inner):
            self._close_skipped(closer)
        elif inner:
            opener = self.brackets.pop()[0]
            self._spoil_on("PL012", pos, *said.mismatch(closer, opener))
        else:
            self._spoil_on("PL012", pos, *said.stray_closer(closer))
        self.tokens.append(Token(closer, closer, pos, pos + 1))
        return pos + 1

    def _close_skipped(self, closer: str) -> None:
        """Close what lies inside the bracket that ``closer`` belongs to: those were never closed."""
        while self.brackets[-1][0] != OPENERS[closer]:
            opener, start = self.brackets.pop()
            self._spoil_on("PL011", start, *said.unclosed(opener, closer))
        self.brackets.pop()

    def _spoil_on(self, code: str, start: int, message: str, hint: str) -> None:
        """Complain about a bracket; its line is cut to the end, only to find where that is."""
        if not self.line_spoiled:
            self.complain(code, start, start + 1, message, hint)
        self.line_spoiled = True

    def _not_python(self, pos: int) -> int:
        char = self.source[pos]
        if char in _CURLY:
            return self._curly(pos)
        if char == "`" and not self.line_spoiled:
            return self._backtick(pos)
        if char == "\\" and any(opener.startswith("f") for opener, _ in self.brackets):
            raise self._spoil("PL016", pos, pos + 1, *said.FIELD_BACKSLASH)
        if char == "\\":
            raise self._spoil("PL006", pos, pos + 1, *said.BACKSLASH)
        if not self.line_spoiled and looks_like_prose(self.source[self.layout.line_begin(pos) : self._line_end(pos)]):
            raise self._spoil("PL006", pos, pos + 1, "", "")
        pair = stray_pair(self.source, pos)
        if not self.line_spoiled:
            self.once("PL006", pos, pos + (2 if pair else 1), *(pair or stray(char)))
        self.line_spoiled = self.line_spoiled or not char.isspace()
        return pos + 1

    # ---- texts

    def _backtick(self, pos: int) -> int:
        """Read a text between backticks, as other languages have them, as if it were a text of Python."""
        close = self.source.find("`", pos + 1)
        if close < 0 or close - pos > _LONGEST_TEMPLATE or self.source.startswith("``", pos):
            self.once("PL006", pos, pos + 1, *stray("`"))
            self.line_spoiled = True
            return pos + 1
        inside = self.source[pos + 1 : close]
        self.once("PL006", pos, close + 1, *said.template(as_text(inside)))
        self.out.code_characters -= close + 1 - pos
        self.tokens.append(Token("STRING", inside, pos, close + 1))
        return close + 1

    def _curly(self, pos: int) -> int:
        """Read a text between curly quotes as if they were straight."""
        quotes = _CURLY[self.source[pos]]
        straight = quotes[-1]
        line_end = self._line_end(pos + 1)
        close = next((i for i in range(pos + 1, line_end) if self.source[i] in quotes), -1)
        if close < 0:
            raise self._spoil("PL007", pos, pos + 1, *said.curly_quote(self.source[pos], straight))
        self.once("PL007", pos, pos + 1, *said.curly_quote(self.source[pos], straight))
        self.tokens.append(Token("STRING", self.source[pos + 1 : close], pos, close + 1))
        return close + 1

    def _text(self, opening: str, pos: int, base: int) -> int:
        inside = pos + len(opening)
        quote = opening.lstrip("rRuUfFbBtT")
        prefix = opening[: len(opening) - len(quote)].lower()
        if prefix in ("", "r", "u", "b", "br", "rb"):
            return self._plain_text(prefix, quote, pos, inside)
        if prefix in ("f", "fr", "rf"):
            return self._fstring(prefix, quote, pos, inside)
        self.complain("PL019", pos, inside, *said.prefix(opening, prefix, quote))
        return self._plain_text("", quote, pos, inside)

    def _plain_text(self, prefix: str, quote: str, pos: int, inside: int) -> int:
        found = _TEXT_END[quote].match(self.source, inside)
        if found is None:
            raise self._unclosed_text(quote, pos)
        end = found.end()
        text = self.source[inside : end - len(quote)]
        if "b" in prefix:
            self.complain("PL050", pos, end, *said.BYTES)
        elif prefix != "r":
            text = unescape(text, inside, self.complain)
        self.out.code_characters -= end - pos
        self.tokens.append(Token("STRING", text.replace("\r\n", "\n").replace("\r", "\n"), pos, end))
        return end

    def _unclosed_text(self, quote: str, pos: int) -> _Spoiled:
        field = self._own_field(quote)
        if len(quote) == 3:
            if field >= 0:
                self.complain("PL016", field, field + 1, *said.FIELD_OPEN)
                return _Spoiled(self._line_end(pos + 3), [])
            self.complain("PL013", pos, pos + 3, *said.unclosed_quote(quote))
            return _Spoiled(len(self.source), [])
        if field >= 0:
            return self._spoil("PL016", field, field + 1, *said.FIELD_OPEN)
        return self._unclosed_line(quote, pos, pos + 1)

    def _unclosed_line(self, quote: str, start: int, inside: int) -> _Spoiled:
        """Name why a text with one quote has no end on its line, and skip what belongs to it."""
        before = text_before(self.tokens[self.line_token :], self.source, start)
        if before is not None and before.end <= self.layout.line_begin(start):
            before = None  # inside brackets a statement has several lines, and reading never goes back to one of them
        if before is not None and before.end == start:
            return self._spoil("PL013", start, inside, *said.one_quote_more(quote))
        if before is not None and self.source[before.end - 1] == quote:
            column = before.start - self.layout.line_begin(before.start) + 1
            return self._spoil("PL013", before.end - 1, before.end, *said.closed_too_early(quote, column))
        if ends_escaped(self.source[inside : self._line_end(inside)], quote):
            return self._spoil("PL013", start, inside, *said.escaped_quote(quote))
        close = closed_below(self.source, quote, inside)
        if close < 0:
            return self._spoil("PL013", start, inside, *said.unclosed_quote(quote))
        self.complain("PL013", start, inside, *said.over_lines(quote))
        resume = self._line_end(close)
        return _Spoiled(resume, self._still_open(self.source[close + 1 : resume]))

    def _own_field(self, quote: str) -> int:
        """Return where the field opened in which a quote is really the end of the f-string around it, or -1."""
        for opener, start in reversed(self.brackets):
            if opener.startswith("f"):
                return start if opener == "f" + quote else -1
        return -1

    # ---- f-strings

    def _fstring(self, prefix: str, quote: str, pos: int, inside: int) -> int:
        self.fstring_depth += 1
        if self.fstring_depth > _DEEPEST_FSTRING:
            self.complain("PL004", pos, inside, *said.too_deep(_DEEPEST_FSTRING))
            raise _TooDeep
        self.tokens.append(Token("FSTART", self.source[pos:inside], pos, inside))
        end = self._fstring_parts("r" in prefix, quote, pos, inside)
        self.fstring_depth -= 1
        return end

    def _fstring_parts(self, raw: bool, quote: str, start: int, pos: int) -> int:
        source, size = self.source, len(self.source)
        begin, single = pos, len(quote) == 1
        while pos < size:
            char = source[pos]
            if char == quote[0] and source.startswith(quote, pos):
                self._middle(begin, pos, raw)
                self.tokens.append(Token("FEND", quote, pos, pos + len(quote)))
                self.out.code_characters -= len(quote)
                return pos + len(quote)
            if char == "{" and source[pos + 1 : pos + 2] != "{":
                self._middle(begin, pos, raw)
                begin = pos = self._field(pos, quote, raw)
            elif char in "{}":
                pos = self._brace(pos)
            elif char == "\\":
                pos = self._skip_escape(pos, raw)
            elif single and char in "\r\n":
                break
            else:
                pos += 1
        if not single:
            self.complain("PL013", start, start + len(quote), *said.unclosed_quote(quote))
            raise _Spoiled(size, [])
        raise self._unclosed_line(quote, start, begin if begin == start else start + 1)

    def _brace(self, pos: int) -> int:
        if self.source.startswith(("{{", "}}"), pos):
            return pos + 2
        self.complain("PL016", pos, pos + 1, *said.SINGLE_BRACE)
        return pos + 1

    def _skip_escape(self, pos: int, raw: bool) -> int:
        after = self.source[pos + 1 : pos + 3]
        if not raw and after == "N{":
            close = self.source.find("}", pos)
            return close + 1 if close >= 0 else len(self.source)
        if after[:1] in ("{", "}"):
            return pos + 1
        return pos + 3 if after == "\r\n" else pos + 2

    def _middle(self, begin: int, end: int, raw: bool) -> None:
        if begin == end:
            return
        self.out.code_characters -= end - begin
        text = self.source[begin:end].replace("{{", "{").replace("}}", "}")
        if not raw:
            text = unescape(text, begin, self.complain)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.tokens.append(Token("FMIDDLE", text, begin, end))

    def _field(self, pos: int, quote: str, raw: bool) -> int:
        """Cut one ``{...}`` and return where the text goes on."""
        self._open("f" + quote, pos)
        base = len(self.brackets) - 1
        self.tokens.append(Token("FIELD_OPEN", "{", pos, pos + 1))
        opened = len(self.tokens)
        end = self._code(pos + 1, base)
        if end >= len(self.source):
            raise self._spoil("PL016", pos, pos + 1, *said.FIELD_OPEN)
        if len(self.tokens) == opened or self.tokens[opened].type in ("FEQ", "CONVERSION"):
            raise self._spoil("PL016", pos, end + 1, *said.EMPTY_FIELD)
        if self.source[end] == ":":
            end = self._spec(end, quote, raw)
        self.tokens.append(Token("FIELD_CLOSE", "}", end, end + 1))
        self.brackets.pop()
        return end + 1

    def _field_part(self, pos: int) -> int:
        """Read what may follow the expression of a field: the place of its ``:`` or ``}``, or -1 for "more code"."""
        source = self.source
        equals = _SELF_DOCUMENTING.match(source, pos)
        if equals:
            self.tokens.append(Token("FEQ", "=", pos, equals.end()))
            pos = equals.end()
        if source[pos] == "!" and source[pos + 1 : pos + 2] != "=":
            pos = self._conversion(pos)
        return pos if source[pos : pos + 1] in ("}", ":") else -1

    def _conversion(self, pos: int) -> int:
        found = _CONVERSION.match(self.source, pos)
        letter = found.group(1) if found else ""
        end = found.end() if found else pos + 1
        if letter not in ("r", "s", "a"):
            self.complain("PL016", pos, end, *said.bad_conversion(letter))
            letter = "r"
        if self.source[end : end + 1] not in ("}", ":"):
            raise self._spoil("PL016", self.brackets[-1][1], end, *said.FIELD_OPEN)
        self.tokens.append(Token("CONVERSION", letter, pos, end))
        return end

    def _spec(self, pos: int, quote: str, raw: bool) -> int:
        """Cut a format specification from its colon, and return the place of the closing brace."""
        self.tokens.append(Token("FCOLON", ":", pos, pos + 1))
        source, begin, pos = self.source, pos + 1, pos + 1
        while pos < len(source):
            char = source[pos]
            if char == "}":
                self._middle(begin, pos, raw)
                return pos
            if char == "{":
                self._middle(begin, pos, raw)
                begin = pos = self._field(pos, quote, raw)
            elif source.startswith(quote, pos) or (len(quote) == 1 and char in "\r\n"):
                break
            else:
                pos += 1
        raise self._spoil("PL016", self.brackets[-1][1], self.brackets[-1][1] + 1, *said.FIELD_OPEN)
