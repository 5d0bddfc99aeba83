"""Runs the parser's tables over the tokens of a plan.

The tables come from ``plan.lark``; this is the machine for them. Where a token does not fit, the cause is named by
`_syntax`, the line is read as ``pass``, and the parse goes on with the next line, so that one round finds the errors
of many lines.
"""

from __future__ import annotations

from typing import Any

from . import _nodes as n
from ._building import Building
from ._faults import Fault
from ._limits import DEFAULT_RULES, Rules
from ._tables import Tables, tables
from ._token import Token
from ._tokenizer import Tokens, tokenize

__all__ = ["Parsed", "parse"]

_MOST_FAULTS = 20
"""Syntax errors after which the rest of a text is not worth reading."""

_FOLLOWERS = frozenset(("else", "elif", "except", "finally", "CASE"))
"""What may follow only a block: after a line that could not be read, its absence says nothing."""


class Parsed:
    """A source text, parsed.

    :ivar module: the tree, or ``None`` when the text is too deep to look at.
    :ivar whole: false when lines were left out because they could not be read.
    """

    def __init__(self, cut: Tokens, module: n.Module | None, whole: bool) -> None:
        self.cut, self.module, self.whole = cut, module, whole
        self.source, self.faults = cut.source, cut.faults


def parse(source: str, rules: Rules = DEFAULT_RULES) -> Parsed:
    """Return the tree of ``source`` and every fault of its text and syntax; never raises."""
    cut = tokenize(source, rules)
    machine = _Machine(tables(), cut, Building(cut.source, rules, cut.faults))
    module = machine.run()
    if module.height > rules.node_height:
        place = _too_high(module, rules.node_height)
        message = f"this nests more than {rules.node_height} levels deep"
        hint = "give parts of it names of their own, in lines before this one."
        if isinstance(place, n.If | n.For | n.Def | n.Refused):
            hint = "move the inner blocks into functions of their own."
        cut.faults.append(Fault("PL004", place.start, min(place.start + 1, place.end), message, hint))
        return Parsed(cut, None, False)
    return Parsed(cut, module, cut.whole and not machine.failed)


def _too_high(module: n.Node, most: int) -> n.Node:
    """Return the lowest statement or expression on the tallest path that is itself too tall."""
    node = module
    while True:
        tallest = max(n.children(node), key=lambda child: child.height)
        if tallest.height <= most:
            return tallest
        node = tallest


class _Machine:
    def __init__(self, of: Tables, cut: Tokens, building: Building) -> None:
        self.tables, self.cut, self.building = of, cut, building
        self.states = [of.start]
        self.values: list[Any] = []
        self.failed = 0
        self.after_lost_line = not cut.whole

    def run(self) -> n.Module:
        tokens = self.cut.tokens
        at = self._feed(tokens, 0)
        while at < len(tokens):
            at = self._feed(tokens, self._recover(tokens, at))
        module: n.Module = self.values[0]
        return module

    def _feed(self, tokens: list[Token], at: int) -> int:
        """Push tokens from ``at`` until one does not fit; return its place, or the end."""
        rows, rules = self.tables.rows, self.tables.rules
        states, values, building, skips = self.states, self.values, self.building, self.tables.skips
        state, size, end = states[-1], len(tokens), self.tables.end
        while at < size:
            token = tokens[at]
            kind = token.type
            while True:
                action = rows[state].get(kind)
                if action is None:
                    return at
                if action >= 0:
                    break
                rule = rules[-action - 1]
                if rule.single:
                    chain = (states[-2], state, kind)
                    known = skips.get(chain)
                    state = states[-1] = self._skip(*chain) if known is None else known
                    continue
                length = rule.length
                parts = values[-length:] if length else []
                if rule.spliced:
                    parts = _flat(rule.spliced, parts)
                value = parts if rule.builder is None else rule.builder(building, parts)
                if length:
                    del states[-length:], values[-length:]
                state = rule.goto[states[-1]]
                states.append(state)
                values.append(value)
                if state == end and kind == "$END":
                    return size
            at += 1
            state = action
            states.append(state)
            values.append(token)
        return at

    def _skip(self, below: int, state: int, kind: str) -> int:
        """Follow rules that only pass one thing through, a dozen for each name, and remember where they end."""
        chain = (below, state, kind)
        rows, rules = self.tables.rows, self.tables.rules
        action = rows[state].get(kind)
        while action is not None and action < 0 and rules[-action - 1].single:
            state = rules[-action - 1].goto[below]
            action = rows[state].get(kind)
        self.tables.skips[chain] = state
        return state

    def _recover(self, tokens: list[Token], at: int) -> int:
        """Name the fault at ``tokens[at]``, read its line as ``pass``, and return where to go on."""
        token = tokens[at]
        lost_header = token.type in _FOLLOWERS and self.after_lost_line and self._at_line_start(tokens, at)
        self.failed += 1
        self.after_lost_line = True
        if not lost_header:
            from ._syntax import say  # plans that read well need none of it

            say(self.building, self.cut.source, tokens, at, self.tables.rows[self.states[-1]])
        if self.failed >= _MOST_FAULTS:
            return self._give_up(tokens)
        if not self._at_line_start(tokens, at) or token.type in _FOLLOWERS:
            at = _next_line(tokens, at)
        elif token.type in ("INDENT", "DEDENT"):
            del tokens[at]
            return at
        self._unwind()
        place = tokens[at].start
        filler = [Token("pass", "pass", place, place), Token("NEWLINE", "", place, place)]
        if tokens[at].type == "INDENT":
            _drop_indent(tokens, at)
        tokens[at:at] = filler
        return at

    def _at_line_start(self, tokens: list[Token], at: int) -> bool:
        return at == 0 or tokens[at - 1].type in ("NEWLINE", "INDENT", "DEDENT")

    def _unwind(self) -> None:
        """Go back to where the line began."""
        while "pass" not in self.tables.rows[self.states[-1]] or self._in_header():
            self.states.pop()
            self.values.pop()

    def _in_header(self) -> bool:
        """Say whether a block must start here: ``if x: pass`` could go on with ``pass`` too."""
        return "INDENT" in self.tables.rows[self.states[-1]] or "NEWLINE" in self.tables.rows[self.states[-1]]

    def _give_up(self, tokens: list[Token]) -> int:
        self.states[:] = [self.tables.start]
        self.values.clear()
        tokens[:] = [tokens[-1]]
        return 0


def _flat(spliced: list[int], parts: list[Any]) -> list[Any]:
    """Return ``parts`` with the lists at the places ``spliced`` laid flat."""
    flat, rest = [], 0
    if spliced[0] == 0:
        flat, rest = parts[0], 1  # a growing repetition: extended in place, or it would be copied once an item
    for at in range(rest, len(parts)):
        if at in spliced:
            flat.extend(parts[at])
        else:
            flat.append(parts[at])
    return flat


def _next_line(tokens: list[Token], at: int) -> int:
    """Return the place after the line around ``at``; at the end of the text, the place of its last token."""
    while at < len(tokens) - 1 and tokens[at].type != "NEWLINE":
        at += 1
    return min(at + 1, len(tokens) - 1)


def _drop_indent(tokens: list[Token], at: int) -> None:
    """Take away the INDENT at ``at`` and its DEDENT: the block's lines are then read where its header stood."""
    depth = 0
    for place in range(at, len(tokens)):
        if tokens[place].type == "INDENT":
            depth += 1
        elif tokens[place].type == "DEDENT":
            depth -= 1
            if depth == 0:
                del tokens[place]
                break
    del tokens[at]
