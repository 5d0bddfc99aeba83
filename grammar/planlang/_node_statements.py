"""Nodes of the statements, but for those of functions."""

from __future__ import annotations

from ._node import Node, Scope, tallest

__all__ = ["Assign", "AugAssign", "Break", "Continue", "ExprStatement", "For", "If", "Module", "Pass"]


class Module(Node):
    __slots__ = ("body", "scope")
    fields = ("body",)

    def __init__(self, start: int, end: int, body: list[Node]) -> None:
        super().__init__(start, end, 1 + tallest(body))
        self.body = body
        self.scope = Scope("module")


class ExprStatement(Node):
    __slots__ = ("value",)
    fields = ("value",)

    def __init__(self, start: int, end: int, value: Node) -> None:
        super().__init__(start, end, 1 + value.height)
        self.value = value


class Assign(Node):
    __slots__ = ("targets", "value")
    fields = ("value", "targets")

    def __init__(self, start: int, end: int, targets: list[Node], value: Node) -> None:
        super().__init__(start, end, 1 + max(tallest(targets), value.height))
        self.targets, self.value = targets, value


class AugAssign(Node):
    __slots__ = ("op", "target", "value")
    fields = ("target", "value")

    def __init__(self, start: int, end: int, target: Node, op: str, value: Node) -> None:
        super().__init__(start, end, 1 + max(target.height, value.height))
        self.target, self.op, self.value = target, op, value


class For(Node):
    __slots__ = ("body", "iterable", "orelse", "target")
    fields = ("iterable", "target", "body", "orelse")

    def __init__(
        self, start: int, end: int, target: Node, iterable: Node, body: list[Node], orelse: list[Node]
    ) -> None:
        super().__init__(start, end, 1 + tallest([target, iterable, *body, *orelse]))
        self.target, self.iterable, self.body, self.orelse = target, iterable, body, orelse


class If(Node):
    __slots__ = ("bodies", "orelse", "tests")
    fields = ("tests", "bodies", "orelse")

    def __init__(self, start: int, end: int, tests: list[Node], bodies: list[list[Node]], orelse: list[Node]) -> None:
        below = [*tests, *orelse]
        for body in bodies:
            below.extend(body)
        super().__init__(start, end, 1 + tallest(below))
        self.tests, self.bodies, self.orelse = tests, bodies, orelse


class Break(Node):
    __slots__ = ()


class Continue(Node):
    __slots__ = ()


class Pass(Node):
    """``pass``, and a bare annotation such as ``x: int``."""

    __slots__ = ()
