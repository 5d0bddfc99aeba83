"""What every rule of the grammar may use while it makes its node, and how parts tell where they stand."""

from __future__ import annotations

from typing import Any

from . import _nodes as n
from ._faults import Fault
from ._limits import Rules
from ._refusals import REFUSALS
from ._token import Token

__all__ = ["Building", "Parts", "end_of", "nodes_in", "span"]

Parts = list[Any]
"""The parts of a finished rule in source order: tokens, nodes, and what inner rules returned."""


class Building:
    """One parse: its source and what was found wrong so far."""

    def __init__(self, source: str, rules: Rules, faults: list[Fault]) -> None:
        self.source, self.rules, self.faults = source, rules, faults

    def complain(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        """Note a fault."""
        self.faults.append(Fault(code, start, end, message, hint))

    def refuse(self, kind: str, start: int, end: int, hint: str = "") -> None:
        """Note that Python was written which plans do not have."""
        code, message, usual_hint = REFUSALS[kind]
        self.complain(code, start, end, message, hint or usual_hint)

    def refused(self, kind: str, mark: Token, parts: Parts, binds: list[n.Name], hint: str = "") -> n.Refused:
        """Note it, and return the node that keeps its ``parts`` for the checks to come."""
        self.refuse(kind, mark.start, mark.end, hint)
        inside = nodes_in(parts)
        end = max([mark.end, *(node.end for node in inside)])
        start = min([mark.start, *(node.start for node in inside)])
        return n.Refused(start, end, kind, (mark.start, mark.end), inside, binds)

    def text_of(self, node: n.Node, most: int = 60) -> str:
        """Return the source of ``node`` for use in a hint, or ``...`` where it is long."""
        text = self.source[node.start : node.end]
        return text if len(text) <= most and "\n" not in text else "..."

    def one_value(self, node: n.Node) -> n.Node:
        """Return ``node``, which must not be starred here."""
        if isinstance(node, n.Starred):
            hint = f"write `[{self.text_of(node)}]`, or delete the `*`."
            self.complain("PL020", node.start, node.end, "`*` spreads a value, but nothing here takes several", hint)
            return node.value
        return node


def nodes_in(parts: Parts) -> list[n.Node]:
    """Return the nodes among ``parts``, blocks laid flat."""
    found: list[n.Node] = []
    for part in parts:
        if isinstance(part, n.Node):
            found.append(part)
        elif isinstance(part, list):
            found.extend(item for item in part if isinstance(item, n.Node))
    return found


def end_of(part: Any) -> int:
    """Return where a token, a node or a block ends."""
    last = part[-1] if isinstance(part, list) else part
    end: int = last.end
    return end


def span(parts: Parts) -> tuple[int, int]:
    """Return where the first part starts and the last one ends."""
    return parts[0].start, end_of(parts[-1])
