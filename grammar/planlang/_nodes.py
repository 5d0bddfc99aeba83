"""The tree of a plan: plain slotted classes, and what later passes write on them.

Nothing here is an attribute access: a method call is a node of its own, so a plan cannot name any other attribute.
The parser knows three more nodes (:class:`Attribute`, :class:`Refused`, :class:`BadTarget`) that stand for what the
language refuses; each of them is a problem, so none is ever part of an accepted tree.

Every node has ``start`` and ``end`` (character offsets in the source), ``height`` (1 + the highest child) and
``waits``. Nodes are frozen by convention once the passes below have run.

Statements
    Module(body) ExprStatement(value) Assign(targets, value) AugAssign(target, op, value)
    For(target, iterable, body, orelse) If(tests, bodies, orelse) Break Continue Pass
    Def(target, parameters, body) Return(value or None)
Expressions
    Constant(value) Name(id) FString(parts) Field(value, conversion, spec)
    ListDisplay(items) TupleDisplay(items) SetDisplay(items) DictDisplay(keys, values) Starred(value)
    ListComp(element, clauses) SetComp(element, clauses) DictComp(key, value, clauses)
    Generator(element, clauses) Clause(target, iterable, conditions)
    Call(function, args, keywords) MethodCall(receiver, name, args, keywords) Keyword(name or None, value)
    Subscript(value, index) Slice(lower, upper, step) Unary(op, operand) Chain(operands, ops)
    Compare(operands, ops) And(operands) Or(operands) Conditional(test, then, orelse) Lambda(parameters, body)
Parameters
    Parameters(positional, star, keyword_only, double_star) Parameter(target, default)

Notes on single nodes
    FString.parts holds ``str`` and Field; ``f"{x=}"`` is the text ``x=`` followed by Field(x, "r", None).
    Field.conversion is "", "r", "s" or "a"; Field.spec is None or an FString (its fields have no spec of their own).
    DictDisplay.keys has None where the value is spread with ``**``. Keyword.name is None for ``**value``.
    Chain folds operators of one precedence, left to right: ``a + b - c`` is Chain([a, b, c], ["+", "-"]).
    Its levels are ``+ -``, ``* / // %``, ``|``, ``^``, ``&``. Unary.op is ``-``, ``+`` or ``not``.
    Compare.ops holds ``< > <= >= == !=``, ``in``, ``not in``, ``is``, ``is not``.
    AugAssign.op is the operator without its ``=``.
    If has one test and one body an arm; ``orelse`` is [] without ``else``.

What `_scopes.resolve` writes
    Name.kind, Name.slot, Name.certain (also on the targets of assignments, loops, parameters and defs):
        LOCAL    frame slot ``slot`` of the function that runs here holds the value
        CELL     frame slot ``slot`` holds a cell (some inner function captures the name)
        GLOBAL   slot ``slot`` of the plan's globals, read and written from anywhere
        WORD     an entry of the vocabulary; BUILTIN a builtin of the language. Both go by ``id``.
    ``certain`` is True where the name is bound whenever this read runs: no test for "unbound" is needed.
    Module.scope, Def.scope, Lambda.scope, Generator.scope: a :class:`Scope`, the layout of that frame. Module-level
    code has a frame too: it holds the variables of its comprehensions.
    ListComp.slots / .cells (SetComp, DictComp): frame slots of its variables, which become unbound (or, for those in
    ``cells``, get a fresh cell) each time it starts. A generator expression has a frame of its own;
    the first iterable is evaluated in the frame around it.
What `_waits.mark` writes
    ``waits`` on every node: True when evaluating it may suspend the task. Bodies of Def, Lambda and Generator do not
    count for the node itself: ``Def.body_waits``, ``Lambda.body_waits``, ``Generator.body_waits`` say it of them.
    Call.callee: NEVER (what is called cannot wait), ALWAYS (may wait, known by name) or ASK (a value is called: test
    the function's own flag at run time). A MethodCall waits only when its receiver or arguments do.
"""

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
    "And",
    "Assign",
    "Attribute",
    "AugAssign",
    "BadTarget",
    "Break",
    "Call",
    "Chain",
    "Clause",
    "Compare",
    "Conditional",
    "Constant",
    "Continue",
    "Def",
    "DictComp",
    "DictDisplay",
    "ExprStatement",
    "FString",
    "Field",
    "For",
    "Generator",
    "If",
    "Keyword",
    "Lambda",
    "ListComp",
    "ListDisplay",
    "MethodCall",
    "Module",
    "Name",
    "Node",
    "Or",
    "Parameter",
    "Parameters",
    "Pass",
    "Refused",
    "Return",
    "Scope",
    "SetComp",
    "SetDisplay",
    "Slice",
    "Starred",
    "Subscript",
    "TupleDisplay",
    "Unary",
    "children",
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


def _tallest(nodes: Sequence[Node | None]) -> int:
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
        if value is None:
            continue
        if isinstance(value, Node):
            found.append(value)
            continue
        for item in value:
            if isinstance(item, Node):
                found.append(item)
            elif isinstance(item, list):
                found.extend(item)
    return found


# --- statements ---------------------------------------------------------------------------------------------------


class Module(Node):
    __slots__ = ("body", "scope")
    fields = ("body",)

    def __init__(self, start: int, end: int, body: list[Node]) -> None:
        super().__init__(start, end, 1 + _tallest(body))
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
        super().__init__(start, end, 1 + max(_tallest(targets), value.height))
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
        super().__init__(start, end, 1 + _tallest([target, iterable, *body, *orelse]))
        self.target, self.iterable, self.body, self.orelse = target, iterable, body, orelse


class If(Node):
    __slots__ = ("bodies", "orelse", "tests")
    fields = ("tests", "bodies", "orelse")

    def __init__(self, start: int, end: int, tests: list[Node], bodies: list[list[Node]], orelse: list[Node]) -> None:
        below = [*tests, *orelse]
        for body in bodies:
            below.extend(body)
        super().__init__(start, end, 1 + _tallest(below))
        self.tests, self.bodies, self.orelse = tests, bodies, orelse


class Break(Node):
    __slots__ = ()


class Continue(Node):
    __slots__ = ()


class Pass(Node):
    """``pass``, and a bare annotation such as ``x: int``."""

    __slots__ = ()


class Def(Node):
    __slots__ = ("body", "body_waits", "parameters", "scope", "target")
    fields = ("parameters", "target", "body")

    def __init__(self, start: int, end: int, target: Name, parameters: Parameters, body: list[Node]) -> None:
        super().__init__(start, end, 1 + max(parameters.height, _tallest(body)))
        self.target, self.parameters, self.body = target, parameters, body
        self.scope = Scope("function")
        self.body_waits = False


class Return(Node):
    __slots__ = ("value",)
    fields = ("value",)

    def __init__(self, start: int, end: int, value: Node | None) -> None:
        super().__init__(start, end, 1 + _tallest([value]))
        self.value = value


# --- parameters ---------------------------------------------------------------------------------------------------


class Parameter(Node):
    __slots__ = ("default", "target")
    fields = ("default", "target")

    def __init__(self, start: int, end: int, target: Name, default: Node | None) -> None:
        super().__init__(start, end, 1 + _tallest([default]))
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
        super().__init__(start, end, 1 + _tallest([*positional, star, *keyword_only, double_star]))
        self.positional, self.star = positional, star
        self.keyword_only, self.double_star = keyword_only, double_star

    def in_slot_order(self) -> list[Parameter]:
        """Return all parameters in the order of their frame slots."""
        star = [] if self.star is None else [self.star]
        double_star = [] if self.double_star is None else [self.double_star]
        return [*self.positional, *star, *self.keyword_only, *double_star]


# --- expressions --------------------------------------------------------------------------------------------------


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
        super().__init__(start, end, 1 + _tallest([value, spec]))
        self.value, self.conversion, self.spec = value, conversion, spec


class FString(Node):
    __slots__ = ("parts",)
    fields = ("parts",)

    def __init__(self, start: int, end: int, parts: list[str | Field]) -> None:
        super().__init__(start, end, 1 + _tallest([part for part in parts if isinstance(part, Field)]))
        self.parts = parts


class _Display(Node):
    __slots__ = ("items",)
    fields = ("items",)

    def __init__(self, start: int, end: int, items: list[Node]) -> None:
        super().__init__(start, end, 1 + _tallest(items))
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
        super().__init__(start, end, 1 + max(_tallest(keys), _tallest(values)))
        self.keys, self.values = keys, values


class Starred(Node):
    __slots__ = ("value",)
    fields = ("value",)

    def __init__(self, start: int, end: int, value: Node) -> None:
        super().__init__(start, end, 1 + value.height)
        self.value = value


class Clause(Node):
    __slots__ = ("conditions", "iterable", "target")
    fields = ("iterable", "target", "conditions")

    def __init__(self, start: int, end: int, target: Node, iterable: Node, conditions: list[Node]) -> None:
        super().__init__(start, end, 1 + _tallest([target, iterable, *conditions]))
        self.target, self.iterable, self.conditions = target, iterable, conditions


class _Comprehension(Node):
    __slots__ = ("cells", "clauses", "element", "slots")
    fields = ("clauses", "element")

    def __init__(self, start: int, end: int, element: Node, clauses: list[Clause]) -> None:
        super().__init__(start, end, 1 + _tallest([element, *clauses]))
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
        super().__init__(start, end, 1 + _tallest([key, value, *clauses]))
        self.key, self.value, self.clauses = key, value, clauses
        self.slots: list[int] = []
        self.cells: list[int] = []


class Generator(Node):
    __slots__ = ("body_waits", "clauses", "element", "scope")
    fields = ("clauses", "element")

    def __init__(self, start: int, end: int, element: Node, clauses: list[Clause]) -> None:
        super().__init__(start, end, 1 + _tallest([element, *clauses]))
        self.element, self.clauses = element, clauses
        self.scope = Scope("generator")
        self.body_waits = False


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
        super().__init__(start, end, 1 + _tallest([function, *args, *keywords]))
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
        super().__init__(start, end, 1 + _tallest([receiver, *args, *keywords]))
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
        super().__init__(start, end, 1 + _tallest([lower, upper, step]))
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
        super().__init__(start, end, 1 + _tallest(operands))
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


class Lambda(Node):
    __slots__ = ("body", "body_waits", "parameters", "scope")
    fields = ("parameters", "body")

    def __init__(self, start: int, end: int, parameters: Parameters, body: Node) -> None:
        super().__init__(start, end, 1 + max(parameters.height, body.height))
        self.parameters, self.body = parameters, body
        self.scope = Scope("function")
        self.body_waits = False


# --- what the language refuses: never part of an accepted tree ----------------------------------------------------


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
        super().__init__(start, end, 1 + _tallest(parts))
        self.kind, self.mark, self.parts, self.binds = kind, mark, parts, binds


class BadTarget(Node):
    """Something on the left of ``=`` (or after ``for``) that cannot be assigned to; nothing below it is looked at."""

    __slots__ = ("value",)

    def __init__(self, start: int, end: int, value: Node) -> None:
        super().__init__(start, end, 1 + value.height)
        self.value = value
