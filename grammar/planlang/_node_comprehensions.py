"""Nodes of comprehensions and generator expressions."""

from __future__ import annotations

from ._node import Node, Scope, tallest

__all__ = ["Clause", "DictComp", "Generator", "ListComp", "SetComp"]


class Clause(Node):
    __slots__ = ("conditions", "iterable", "target")
    fields = ("iterable", "target", "conditions")

    def __init__(self, start: int, end: int, target: Node, iterable: Node, conditions: list[Node]) -> None:
        super().__init__(start, end, 1 + tallest([target, iterable, *conditions]))
        self.target, self.iterable, self.conditions = target, iterable, conditions


class _Comprehension(Node):
    __slots__ = ("cells", "clauses", "element", "slots")
    fields = ("clauses", "element")

    def __init__(self, start: int, end: int, element: Node, clauses: list[Clause]) -> None:
        super().__init__(start, end, 1 + tallest([element, *clauses]))
        self.element, self.clauses = element, clauses
        self.slots: list[int] = []
        self.cells: list[int] = []


class ListComp(_Comprehension):
    __slots__ = ()


class SetComp(_Comprehension):
    __slots__ = ()


class DictComp(Node):
    __slots__ = ("cells", "clauses", "key", "slots", "value")
    fields = ("clauses", "key", "value")

    def __init__(self, start: int, end: int, key: Node, value: Node, clauses: list[Clause]) -> None:
        super().__init__(start, end, 1 + tallest([key, value, *clauses]))
        self.key, self.value, self.clauses = key, value, clauses
        self.slots: list[int] = []
        self.cells: list[int] = []


class Generator(Node):
    __slots__ = ("body_waits", "clauses", "element", "scope")
    fields = ("clauses", "element")

    def __init__(self, start: int, end: int, element: Node, clauses: list[Clause]) -> None:
        super().__init__(start, end, 1 + tallest([element, *clauses]))
        self.element, self.clauses = element, clauses
        self.scope = Scope("generator")
        self.body_waits = False
