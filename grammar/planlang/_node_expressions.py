"""Nodes of the expressions, but for functions and comprehensions."""

from __future__ import annotations

from ._node import NEVER, UNRESOLVED, Node, tallest

__all__ = [
    "And",
    "Call",
    "Chain",
    "Compare",
    "Conditional",
    "Constant",
    "DictDisplay",
    "FString",
    "Field",
    "Keyword",
    "ListDisplay",
    "MethodCall",
    "Name",
    "Or",
    "SetDisplay",
    "Slice",
    "Starred",
    "Subscript",
    "TupleDisplay",
    "Unary",
]


class Constant(Node):
    __slots__ = ("value",)

    def __init__(self, start: int, end: int, value: int | float | str | bool | None) -> None:
        super().__init__(start, end)
        self.value = value


class Name(Node):
    __slots__ = ("certain", "id", "kind", "slot")

    def __init__(self, start: int, end: int, id: str) -> None:  # noqa: A002 - the field's name in Python's own tree
        super().__init__(start, end)
        self.id = id
        self.kind, self.slot, self.certain = UNRESOLVED, -1, False


class Field(Node):
    __slots__ = ("conversion", "spec", "value")
    fields = ("value", "spec")

    def __init__(self, start: int, end: int, value: Node, conversion: str, spec: FString | None) -> None:
        super().__init__(start, end, 1 + tallest([value, spec]))
        self.value, self.conversion, self.spec = value, conversion, spec


class FString(Node):
    __slots__ = ("parts",)
    fields = ("parts",)

    def __init__(self, start: int, end: int, parts: list[str | Field]) -> None:
        super().__init__(start, end, 1 + tallest([part for part in parts if isinstance(part, Field)]))
        self.parts = parts


class _Display(Node):
    __slots__ = ("items",)
    fields = ("items",)

    def __init__(self, start: int, end: int, items: list[Node]) -> None:
        super().__init__(start, end, 1 + tallest(items))
        self.items = items


class ListDisplay(_Display):
    __slots__ = ()


class TupleDisplay(_Display):
    __slots__ = ()


class SetDisplay(_Display):
    __slots__ = ()


class DictDisplay(Node):
    __slots__ = ("keys", "values")
    fields = ("keys", "values")

    def __init__(self, start: int, end: int, keys: list[Node | None], values: list[Node]) -> None:
        super().__init__(start, end, 1 + max(tallest(keys), tallest(values)))
        self.keys, self.values = keys, values


class Starred(Node):
    __slots__ = ("value",)
    fields = ("value",)

    def __init__(self, start: int, end: int, value: Node) -> None:
        super().__init__(start, end, 1 + value.height)
        self.value = value


class Keyword(Node):
    __slots__ = ("name", "value")
    fields = ("value",)

    def __init__(self, start: int, end: int, name: str | None, value: Node) -> None:
        super().__init__(start, end, 1 + value.height)
        self.name, self.value = name, value


class Call(Node):
    __slots__ = ("args", "callee", "function", "keywords")
    fields = ("function", "args", "keywords")

    def __init__(self, start: int, end: int, function: Node, args: list[Node], keywords: list[Keyword]) -> None:
        super().__init__(start, end, 1 + tallest([function, *args, *keywords]))
        self.function, self.args, self.keywords = function, args, keywords
        self.callee = NEVER


class MethodCall(Node):
    """``name_start`` and ``name_end`` are the place of the method's name."""

    __slots__ = ("args", "keywords", "name", "name_end", "name_start", "receiver")
    fields = ("receiver", "args", "keywords")

    def __init__(
        self,
        start: int,
        end: int,
        receiver: Node,
        name: str,
        args: list[Node],
        keywords: list[Keyword],
        name_span: tuple[int, int],
    ) -> None:
        super().__init__(start, end, 1 + tallest([receiver, *args, *keywords]))
        self.receiver, self.name, self.args, self.keywords = receiver, name, args, keywords
        self.name_start, self.name_end = name_span


class Subscript(Node):
    __slots__ = ("index", "value")
    fields = ("value", "index")

    def __init__(self, start: int, end: int, value: Node, index: Node) -> None:
        super().__init__(start, end, 1 + max(value.height, index.height))
        self.value, self.index = value, index


class Slice(Node):
    __slots__ = ("lower", "step", "upper")
    fields = ("lower", "upper", "step")

    def __init__(self, start: int, end: int, lower: Node | None, upper: Node | None, step: Node | None) -> None:
        super().__init__(start, end, 1 + tallest([lower, upper, step]))
        self.lower, self.upper, self.step = lower, upper, step


class Unary(Node):
    __slots__ = ("op", "operand")
    fields = ("operand",)

    def __init__(self, start: int, end: int, op: str, operand: Node) -> None:
        super().__init__(start, end, 1 + operand.height)
        self.op, self.operand = op, operand


class _Operands(Node):
    __slots__ = ("operands",)
    fields = ("operands",)

    def __init__(self, start: int, end: int, operands: list[Node]) -> None:
        super().__init__(start, end, 1 + tallest(operands))
        self.operands = operands


class And(_Operands):
    __slots__ = ()


class Or(_Operands):
    __slots__ = ()


class Chain(_Operands):
    __slots__ = ("ops",)

    def __init__(self, start: int, end: int, operands: list[Node], ops: list[str]) -> None:
        super().__init__(start, end, operands)
        self.ops = ops


class Compare(_Operands):
    __slots__ = ("ops",)

    def __init__(self, start: int, end: int, operands: list[Node], ops: list[str]) -> None:
        super().__init__(start, end, operands)
        self.ops = ops


class Conditional(Node):
    __slots__ = ("orelse", "test", "then")
    fields = ("test", "then", "orelse")

    def __init__(self, start: int, end: int, test: Node, then: Node, orelse: Node) -> None:
        super().__init__(start, end, 1 + max(test.height, then.height, orelse.height))
        self.test, self.then, self.orelse = test, then, orelse
