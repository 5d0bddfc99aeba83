"""Nodes that stand for what the language refuses: never part of an accepted tree."""

from __future__ import annotations

from ._node import Node, tallest
from ._node_expressions import Name

__all__ = ["Attribute", "BadTarget", "Refused"]


class Attribute(Node):
    """An attribute that is not called. ``name_start`` and ``name_end`` are the place of its name."""

    __slots__ = ("name", "name_end", "name_start", "value")
    fields = ("value",)

    def __init__(self, start: int, end: int, value: Node, name: str, name_span: tuple[int, int]) -> None:
        super().__init__(start, end, 1 + value.height)
        self.value, self.name = value, name
        self.name_start, self.name_end = name_span


class Refused(Node):
    """Python that plans do not have: ``kind`` says what, ``mark`` where to point, ``binds`` which names it binds.

    Its parts stay in the tree, so that their own problems are found in the same round.
    """

    __slots__ = ("binds", "kind", "mark", "parts")
    fields = ("parts",)

    def __init__(
        self, start: int, end: int, kind: str, mark: tuple[int, int], parts: list[Node], binds: list[Name]
    ) -> None:
        super().__init__(start, end, 1 + tallest(parts))
        self.kind, self.mark, self.parts, self.binds = kind, mark, parts, binds


class BadTarget(Node):
    """Something on the left of ``=`` (or after ``for``) that cannot be assigned to; nothing below it is looked at."""

    __slots__ = ("value",)

    def __init__(self, start: int, end: int, value: Node) -> None:
        super().__init__(start, end)  # as high as what is looked at
        self.value = value
