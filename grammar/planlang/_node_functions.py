"""Nodes of functions: their parameters, their bodies, what they return."""

from __future__ import annotations

from ._node import Node, Scope, tallest
from ._node_expressions import Name

__all__ = ["Def", "Lambda", "Parameter", "Parameters", "Return"]


class Parameter(Node):
    __slots__ = ("default", "target")
    fields = ("default", "target")

    def __init__(self, start: int, end: int, target: Name, default: Node | None) -> None:
        super().__init__(start, end, 1 + tallest([default]))
        self.target, self.default = target, default


class Parameters(Node):
    __slots__ = ("double_star", "keyword_only", "positional", "star")
    fields = ("positional", "star", "keyword_only", "double_star")

    def __init__(
        self,
        start: int,
        end: int,
        positional: list[Parameter],
        star: Parameter | None,
        keyword_only: list[Parameter],
        double_star: Parameter | None,
    ) -> None:
        super().__init__(start, end, 1 + tallest([*positional, star, *keyword_only, double_star]))
        self.positional, self.star = positional, star
        self.keyword_only, self.double_star = keyword_only, double_star

    def in_slot_order(self) -> list[Parameter]:
        """Return all parameters in the order of their frame slots."""
        star = [] if self.star is None else [self.star]
        double_star = [] if self.double_star is None else [self.double_star]
        return [*self.positional, *star, *self.keyword_only, *double_star]


class Def(Node):
    __slots__ = ("body", "body_waits", "parameters", "scope", "target")
    fields = ("parameters", "target", "body")

    def __init__(self, start: int, end: int, target: Name, parameters: Parameters, body: list[Node]) -> None:
        super().__init__(start, end, 1 + max(parameters.height, tallest(body)))
        self.target, self.parameters, self.body = target, parameters, body
        self.scope = Scope("function")
        self.body_waits = False


class Lambda(Node):
    __slots__ = ("body", "body_waits", "parameters", "scope")
    fields = ("parameters", "body")

    def __init__(self, start: int, end: int, parameters: Parameters, body: Node) -> None:
        super().__init__(start, end, 1 + max(parameters.height, body.height))
        self.parameters, self.body = parameters, body
        self.scope = Scope("function")
        self.body_waits = False


class Return(Node):
    __slots__ = ("value",)
    fields = ("value",)

    def __init__(self, start: int, end: int, value: Node | None) -> None:
        super().__init__(start, end, 1 + tallest([value]))
        self.value = value
