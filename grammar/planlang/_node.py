"""What all nodes of a plan's tree have, and what later passes write on some of them; `_nodes` explains the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

__all__ = [
    "ALWAYS",
    "ASK",
    "BUILTIN",
    "CELL",
    "GLOBAL",
    "LOCAL",
    "NEVER",
    "UNRESOLVED",
    "WORD",
    "Node",
    "Scope",
    "children",
    "tallest",
]

UNRESOLVED, LOCAL, CELL, GLOBAL, WORD, BUILTIN = "", "local", "cell", "global", "word", "builtin"
NEVER, ALWAYS, ASK = "never", "always", "ask"


class Scope:
    """The layout of one frame.

    :ivar kind: ``module``, ``function`` (Def and Lambda) or ``generator``.
    :ivar names: the name in each frame slot; parameters come first (positional, ``*``, keyword-only, ``**``).
    :ivar parameters: how many slots are parameters.
    :ivar cells: slots that hold a fresh cell from the start of a call. For a parameter: its value, wrapped.
    :ivar free: ``(outer, inner)`` pairs: the cell in slot ``outer`` of the frame where the function is made goes to
        slot ``inner`` of each of its calls.
    :ivar global_names: of a module: the name in each slot of the globals.
    """

    __slots__ = ("cells", "free", "global_names", "kind", "names", "parameters")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.names: list[str] = []
        self.parameters = 0
        self.cells: list[int] = []
        self.free: list[tuple[int, int]] = []
        self.global_names: list[str] = []


def tallest(nodes: Sequence[Node | None]) -> int:
    height = 0
    for node in nodes:
        if node is not None and node.height > height:
            height = node.height
    return height


class Node:
    """One place in a plan. ``fields`` names the attributes that hold nodes or lists of them, in source order."""

    __slots__ = ("end", "height", "start", "waits")
    fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, start: int, end: int, height: int = 1) -> None:
        self.start, self.end, self.height, self.waits = start, end, height, False


def children(node: Node) -> list[Node]:
    """Return the nodes right below, in source order; text parts of f-strings are left out."""
    found: list[Node] = []
    for field in node.fields:
        value = getattr(node, field)
        if isinstance(value, Node):
            found.append(value)
        elif value:
            for item in value:
                if isinstance(item, Node):
                    found.append(item)
                elif isinstance(item, list):
                    found.extend(item)
    return found
