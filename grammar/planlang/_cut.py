"""The state of one cut: its tokens, its open brackets, and what it does about lines that cannot be read.

A fault never stops the cut: the line that it spoils is replaced by ``pass`` so that the rest of the plan is still read.
Depth is bounded here, before anything recursive looks at the text: brackets may nest only so far.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from . import _cut_messages as said
from ._characters import clean
from ._faults import Fault
from ._layout import Layout
from ._limits import Rules
from ._prose import looks_like_prose
from ._token import CLOSERS, OPENERS, Token

__all__ = ["Cut", "Spoiled", "Tokens", "TooDeep"]

_LINE_END = re.compile(r"[^\r\n]*")
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


class Spoiled(Exception):
    """The rest of the physical line cannot be read; ``resume`` is where to go on, with ``brackets`` open."""

    def __init__(self, resume: int, brackets: list[tuple[str, int]]) -> None:
        self.resume, self.brackets = resume, brackets


class TooDeep(Exception):
    """Brackets nest too deep to go on."""


class Cut(ABC):
    """One source text while it is cut.

    :ivar brackets: what is open, and where: the bracket, for a field of an f-string ``f`` and the quote of its text.
    :ivar line_token: the number of the first token of this line. :ivar line_spoiled: this line cannot be read.
    :ivar told: causes and names that were complained about, and are not again.
    """

    def __init__(self, source: str, rules: Rules) -> None:
        self.out = Tokens(source)
        self.source = self.out.source = clean(source, self.out.faults)
        self.rules = rules
        self.tokens = self.out.tokens
        self.brackets: list[tuple[str, int]] = []
        self.layout = Layout(self.source, self.tokens, self.out.faults)
        self.line_token = 0
        self.fstring_depth = 0
        self.rereads = 0
        self.line_spoiled = False
        self.told: set[str] = set()

    @abstractmethod
    def code(self, pos: int, base: int) -> int:
        """Cut code from ``pos`` to the end, or to the end of the f-string field that bracket ``base`` opened."""

    # ---- faults

    def complain(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        """Note a fault."""
        self.out.faults.append(Fault(code, start, end, message, hint))

    def bad_number(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        """Complain about a number; a line with something that is none cannot be read."""
        self.complain(code, start, end, message, hint)
        self.line_spoiled = self.line_spoiled or code == "PL018"

    def once(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        """Complain about a cause that usually strikes many times in one plan."""
        if code not in self.told:
            self.told.add(code)
            self.complain(code, start, end, message, hint)

    def replace_line(self, pos: int) -> None:
        """Put ``pass`` where the tokens of this line are."""
        self.out.whole = self.line_spoiled = False
        del self.tokens[self.line_token :]
        self.brackets.clear()
        self.tokens.append(Token("pass", "pass", pos, pos))
        self.layout.spoiled = True

    def line_end(self, pos: int) -> int:
        """Return where the line around ``pos`` ends."""
        found = _LINE_END.match(self.source, pos)
        return found.end() if found else pos

    def spoil(self, code: str, start: int, end: int, message: str, hint: str) -> Spoiled:
        """Complain, and return the jump to the next line; prose is named as such instead."""
        line_start = max(self.source.rfind("\n", 0, start), self.source.rfind("\r", 0, start)) + 1
        line = self.source[line_start : self.line_end(start)]
        if looks_like_prose(line):
            self.once("PL009", line_start, line_start + len(line), *said.PROSE)
        else:
            self.complain(code, start, end, message, hint)
        resume = self.line_end(start)
        return Spoiled(resume, self.still_open(self.source[start:resume]))

    def still_open(self, unread: str) -> list[tuple[str, int]]:
        """Return the brackets that are open after a line of which ``unread`` could not be cut."""
        inside = next((i for i, (opener, _) in enumerate(self.brackets) if opener[0] == "f"), len(self.brackets))
        still = self.brackets[:inside]
        for char in reversed(unread.rstrip(" \t:")):
            if not still or char != CLOSERS[still[-1][0]]:
                break
            still.pop()
        return still

    # ---- brackets

    def open_bracket(self, opener: str, pos: int) -> None:
        """Note what opens at ``pos``; :raises TooDeep: too much is open."""
        self.brackets.append((opener, pos))
        if len(self.brackets) > self.rules.node_height:
            self.complain("PL004", pos, pos + 1, *said.too_deep(self.rules.node_height))
            raise TooDeep

    def close_bracket(self, closer: str, pos: int, base: int) -> int:
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

    def never_closed(self) -> int:
        """Name the bracket that swallowed the rest of the source; return where its line should have ended."""
        self.rereads += 1
        start = self.brackets[0][1]
        resume = self.layout.next_statement(self.line_end(start)) if self.rereads <= _REREADS else -1
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
