"""Lines and indentation: NEWLINE is the cutter's, INDENT and DEDENT come from here.

A line that is indented where no block opened, or not indented where one did, is said so once and then read as if it
were right, so that the lines after it keep their own problems.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ._faults import Fault
from ._prose import looks_like_prose
from ._token import Token

__all__ = ["Layout"]

_INDENT = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t]*(?:\#[^\r\n]*)?(?:\r\n|\r|\n))+|[ \t]*(?:\#[^\r\n]*)?\Z")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^\r\n]*")
# Not compiled here: it is looked for after a bracket that was never closed, and only there.
_STATEMENT = (
    r"(?m)^[ \t]*(?:(?:for|if|def|return|while|import|from|try|with|class|break|continue|pass|elif|else)\b"
    r"|[A-Za-z_]\w*[ \t]*(?:=(?!=)|[+\-|]=|\())"
)
_OPENERS = frozenset(("if", "elif", "else", "for", "while", "def", "with", "try", "except", "finally", "class"))
_TAB = 8


class Layout:
    """The indentation of the lines seen so far.

    :ivar spoiled: the last line was replaced, so an indented block after it is no fault of its own.
    """

    def __init__(self, source: str, tokens: list[Token], faults: list[Fault]) -> None:
        self.source, self.tokens, self.faults = source, tokens, faults
        self.columns = [0]
        self.real = [True]
        self.style = ""
        self.spoiled = False

    def line(self, pos: int, once: Callable[[str, int, int, str, str], None]) -> tuple[int, int]:
        """Go to the first token of the next line that has one; return its place and how much was skipped."""
        begin = pos
        while True:
            blank = _BLANK_LINES.match(self.source, pos)
            if blank and blank.end() > pos:
                pos = blank.end()
            fence = _FENCE.match(self.source, pos)
            if fence is None:
                break
            once("PL008", pos, fence.end(), *_FENCE_SAID)
            pos = fence.end()
            if pos < len(self.source):
                pos += 2 if self.source.startswith("\r\n", pos) else 1
        found = _INDENT.match(self.source, pos)
        after = found.end() if found else pos
        if after < len(self.source):
            self._indent(self._column(self.source[pos:after], pos, once), after)
        return after, pos - begin

    def line_begin(self, pos: int) -> int:
        """Return where the physical line around ``pos`` begins."""
        return max(self.source.rfind("\n", 0, pos), self.source.rfind("\r", 0, pos)) + 1

    def next_statement(self, pos: int) -> int:
        """Return the end of the line before the next one that looks like a statement of an open block, or -1."""
        for found in re.compile(_STATEMENT).finditer(self.source, pos + 1):
            text = found.group()
            if len(text) - len(text.lstrip()) <= self.columns[-1]:
                return found.start() - 1
        return -1

    def finish(self, size: int) -> None:
        """Close what is open at the end of the source."""
        tokens = self.tokens
        if tokens and tokens[-1].type not in ("NEWLINE", "INDENT", "DEDENT"):
            tokens.append(Token("NEWLINE", "", size, size))
        self._expect_block(size)
        while len(self.columns) > 1:
            self._pop(size)
        tokens.append(Token("$END", "", size, size))

    def _column(self, blanks: str, pos: int, once: Callable[[str, int, int, str, str], None]) -> int:
        style = blanks[:1]
        if len(set(blanks)) > 1 or (style and self.style not in ("", style)):
            once("PL015", pos, pos + len(blanks), *_TABS_SAID)
        self.style = self.style or style
        return len(blanks.expandtabs(_TAB))

    def _opened(self) -> bool:
        tokens = self.tokens
        return len(tokens) > 1 and tokens[-1].type == "NEWLINE" and tokens[-2].type == ":"

    def _lacks_colon(self) -> bool:
        """Say whether the line before opens a block without its ``:``, which the parser will name."""
        if len(self.tokens) < 2:
            return False
        at = len(self.tokens) - 2
        while at >= 0 and self.tokens[at].type not in ("NEWLINE", "INDENT", "DEDENT"):
            at -= 1
        line = self.tokens[at + 1 :]
        if not line or line[0].type not in _OPENERS:
            return False
        depth = 0
        for token in line:
            depth += (token.type in ("(", "[", "{")) - (token.type in (")", "]", "}"))
            if token.type == ":" and depth == 0:
                return False
        return True

    def _expect_block(self, pos: int) -> None:
        if self._opened():
            if self._is_prose():
                return
            colon = self.tokens[-2]
            self.faults.append(Fault("PL014", colon.start, colon.end, *_NO_BLOCK))
            for kind in ("INDENT", "pass", "NEWLINE", "DEDENT"):
                self.tokens.append(Token(kind, "", pos, pos))

    def _is_prose(self) -> bool:
        begin = self.line_begin(self.tokens[-2].start)
        return looks_like_prose(self.source[begin : self.tokens[-2].end])

    def _indent(self, column: int, pos: int) -> None:
        if column > self.columns[-1]:
            real = self._opened()
            forgotten = not real and self._lacks_colon()
            if real:
                self.tokens.append(Token("INDENT", "", pos, pos))
            elif not self.tokens:
                message = f"the plan begins with a line that is indented by {column}"
                hint = f"take {column} blanks from this line, and from every other that has them."
                self.faults.append(Fault("PL014", pos, pos + 1, message, hint))
            elif not self.spoiled and not forgotten:
                self.faults.append(Fault("PL014", pos, pos + 1, *_unexpected(column, self.columns[-1])))
            self.columns.append(column)
            self.real.append(real)
        else:
            self._expect_block(pos)
            while column < self.columns[-1]:
                self._pop(pos)
            if column > self.columns[-1]:
                self.faults.append(Fault("PL014", pos, pos + 1, *_unmatched(column, self.columns)))
                self.columns.append(column)
                self.real.append(False)
        self.spoiled = False

    def _pop(self, pos: int) -> None:
        self.columns.pop()
        if self.real.pop():
            self.tokens.append(Token("DEDENT", "", pos, pos))


_FENCE_SAID = ("a code fence is not part of a plan", "delete this line, and the other one that belongs to it.")
_TABS_SAID = (
    "this indentation mixes tabs and blanks",
    "indent every block with four blanks more than the line that opens it.",
)
_NO_BLOCK = (
    "the block after this `:` is missing",
    "indent the lines that belong to it by four blanks, or write `pass` there.",
)


def _unexpected(column: int, expected: int) -> tuple[str, str]:
    return (
        f"this line is indented by {column}, but no block opens before it",
        f"indent it by {expected}, or end the line that should open the block with `:`.",
    )


def _unmatched(column: int, open_columns: list[int]) -> tuple[str, str]:
    shown = ", ".join(str(c) for c in open_columns)
    return f"this line is indented by {column}, which matches no open block", f"indent it by one of: {shown}."
