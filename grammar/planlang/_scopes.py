"""Says for every name what it is and in which slot it lives, by Python's scoping rules.

A name that a function (or the plan, or a comprehension) binds anywhere belongs to it everywhere. Names of the plan
itself are globals; other names live in a slot of a frame, and in a cell there when an inner function reads them too.
One walk in the order of evaluation finds the places and at the same time follows which names *may* and which *must*
be bound: a read that nothing can reach is a fault, one that must be bound needs no test at run time.

`_nodes` lists what is written on the tree. :class:`Names` keeps what only the checker asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _nodes as n
from ._bound import bound_in, target_names
from ._flow import Flow, certain_loop
from ._names import BUILTINS
from ._vocabulary import Vocabulary

__all__ = ["Binding", "Names", "resolve"]


class Binding:
    """One name of one scope.

    :ivar frame: the frame that holds it, ``None`` for a global.
    :ivar reads: where it is read, in the order of evaluation. :ivar writes: where it is bound.
    :ivar loop: the comprehension or generator that binds it, if one does.
    """

    __slots__ = ("captured", "frame", "is_parameter", "loop", "name", "own", "reads", "slot", "writes")

    def __init__(self, name: str, frame: _Frame | None, slot: int) -> None:
        self.name, self.frame, self.slot = name, frame, slot
        self.captured = self.is_parameter = False
        self.loop: n.Node | None = None
        self.reads: list[n.Name] = []
        self.writes: list[n.Name] = []
        self.own: list[n.Name] = []


class Names:
    """What every name of a plan means.

    :ivar of: the binding of each name that the plan binds. :ivar read: those of its names that are read.
    :ivar unknown: reads of names that are bound nowhere and mean nothing.
    :ivar early: reads at a place that no binding can reach.
    :ivar result: ``never``, ``maybe`` or ``always``: whether the plan assigns ``result``.
    """

    def __init__(self) -> None:
        self.of: dict[n.Name, Binding] = {}
        self.read: set[n.Name] = set()
        self.bindings: list[Binding] = []
        self.unknown: list[n.Name] = []
        self.early: list[n.Name] = []
        self.result = "never"


def resolve(module: n.Module, vocabulary: Vocabulary) -> Names:
    """Write kind, slot and certainty on every name of ``module``, and return what else was learnt."""
    walk = _Walk(vocabulary)
    walk.module(module)
    return walk.names


class _Frame:
    def __init__(self, scope: n.Scope, parent: _Frame | None) -> None:
        self.scope, self.parent = scope, parent
        self.inner: dict[Binding, int] = {}

    def new_slot(self, name: str) -> int:
        self.scope.names.append(name)
        return len(self.scope.names) - 1

    def capture(self, binding: Binding) -> int:
        """Return the slot of this frame that holds the cell of an outer frame's ``binding``."""
        if binding.frame is self:
            return binding.slot
        if binding not in self.inner:
            outer = self.parent.capture(binding) if self.parent else -1
            self.inner[binding] = self.new_slot(binding.name)
            self.scope.free.append((outer, self.inner[binding]))
        return self.inner[binding]


class _Walk:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.names = Names()
        self.layers: list[dict[str, Binding]] = []
        self.flow = Flow()
        self.frame = _Frame(n.Scope("module"), None)
        self.in_function = False

    # ---- scopes

    def module(self, module: n.Module) -> None:
        self.frame = _Frame(module.scope, None)
        layer: dict[str, Binding] = {}
        for name in bound_in(module.body):
            if name.id not in layer:
                layer[name.id] = self._binding(name.id, None, len(layer))
        module.scope.global_names = list(layer)
        self.layers.append(layer)
        self.block(module.body)
        self.names.result = self.flow.state_of(layer["result"]) if "result" in layer else "never"
        self._finish()

    def _binding(self, name: str, frame: _Frame | None, slot: int) -> Binding:
        binding = Binding(name, frame, slot)
        self.names.bindings.append(binding)
        return binding

    def function(self, node: n.Def | n.Lambda) -> None:
        outer_flow, outer_frame, outer_in = self.flow, self.frame, self.in_function
        self.frame = _Frame(node.scope, outer_frame)
        self.flow, self.in_function = Flow(), True
        layer: dict[str, Binding] = {}
        self.layers.append(layer)
        for parameter in node.parameters.in_slot_order():
            name = parameter.target.id
            if name not in layer:
                layer[name] = self._binding(name, self.frame, self.frame.new_slot(name))
                layer[name].is_parameter = True
            self.store(parameter.target)
        node.scope.parameters = len(node.scope.names)
        body = node.body if isinstance(node, n.Def) else []
        for bound in bound_in(body):
            if bound.id not in layer:
                layer[bound.id] = self._binding(bound.id, self.frame, self.frame.new_slot(bound.id))
        if isinstance(node, n.Lambda):
            self.expression(node.body)
        else:
            self.block(node.body)
        self.layers.pop()
        self.flow, self.frame, self.in_function = outer_flow, outer_frame, outer_in

    def _finish(self) -> None:
        for binding in self.names.bindings:
            if binding.frame is None or not binding.captured:
                continue
            if isinstance(binding.loop, n.ListComp | n.SetComp | n.DictComp):
                binding.loop.cells.append(binding.slot)
            else:
                binding.frame.scope.cells.append(binding.slot)
            for name in binding.own:
                name.kind = n.CELL

    # ---- names

    def lookup(self, name: str) -> Binding | None:
        for layer in reversed(self.layers):
            if name in layer:
                return layer[name]
        return None

    def load(self, name: n.Name) -> None:
        binding = self.lookup(name.id)
        if binding is None:
            self._outside(name)
            return
        binding.reads.append(name)
        self.names.of[name] = binding
        self.names.read.add(name)
        here = binding.frame is self.frame or (binding.frame is None and not self.in_function)
        if here and not self.flow.may(binding):
            if binding.frame is None and name.id in BUILTINS:
                name.kind = n.BUILTIN
                return
            self.names.early.append(name)
        name.certain = self.flow.must(binding) if here else binding.is_parameter
        self._place(name, binding)

    def _outside(self, name: n.Name) -> None:
        if name.id in self.vocabulary:
            name.kind, name.certain = n.WORD, True
        elif name.id in BUILTINS:
            name.kind, name.certain = n.BUILTIN, True
        else:
            self.names.unknown.append(name)

    def store(self, name: n.Name) -> None:
        binding = self.lookup(name.id)
        if binding is None:  # a name under a target that is itself a fault
            return
        binding.writes.append(name)
        self.names.of[name] = binding
        self._place(name, binding)
        name.certain = True
        self.flow.bind(binding)

    def _place(self, name: n.Name, binding: Binding) -> None:
        if binding.frame is None:
            name.kind, name.slot = n.GLOBAL, binding.slot
        elif binding.frame is self.frame:
            name.kind, name.slot = n.LOCAL, binding.slot
            binding.own.append(name)
        else:
            binding.captured = True
            name.kind, name.slot = n.CELL, self.frame.capture(binding)

    def target(self, node: n.Node) -> None:
        if isinstance(node, n.Name):
            self.store(node)
        elif isinstance(node, n.TupleDisplay | n.ListDisplay):
            for item in node.items:
                self.target(item)
        elif isinstance(node, n.Starred):
            self.target(node.value)
        else:
            self.expression(node)

    # ---- statements

    def block(self, body: list[n.Node]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: n.Node) -> None:
        visit = _STATEMENTS.get(type(node))
        if visit is None:
            self.expression(node)
        else:
            visit(self, node)

    def assign(self, node: n.Assign) -> None:
        self.expression(node.value)
        for target in node.targets:
            self.target(target)

    def aug_assign(self, node: n.AugAssign) -> None:
        if isinstance(node.target, n.Name):
            self.load(node.target)
        self.expression(node.value)
        self.target(node.target)

    def for_(self, node: n.For) -> None:
        self.expression(node.iterable)
        self._loop(node.target, node.body, node.orelse, certain_loop(node.iterable))

    def _loop(self, target: n.Node | None, body: list[n.Node], orelse: list[n.Node], certain: bool) -> None:
        bound = bound_in(body) + (target_names(target) if target is not None else [])
        later = [found for name in bound if (found := self.lookup(name.id)) is not None]
        self.flow.enter_loop(later)
        if target is not None:
            self.target(target)
        self.block(body)
        self.flow.end_of_rounds(certain)
        self.block(orelse)
        self.flow.leave_loop()

    def if_(self, node: n.If) -> None:
        self.flow.enter_branches()
        for test, body in zip(node.tests, node.bodies, strict=True):
            self.expression(test)
            self.flow.start_arm()
            self.block(body)
            self.flow.end_arm()
        self.block(node.orelse)
        self.flow.leave_branches()

    def def_(self, node: n.Def) -> None:
        self._defaults(node.parameters)
        self.store(node.target)
        self.function(node)

    def return_(self, node: n.Return) -> None:
        if node.value is not None:
            self.expression(node.value)
        self.flow.stop()

    def break_(self, node: n.Node) -> None:
        self.flow.break_loop()

    def continue_(self, node: n.Node) -> None:
        self.flow.continue_loop()

    def _defaults(self, parameters: n.Parameters) -> None:
        for parameter in parameters.in_slot_order():
            if parameter.default is not None:
                self.expression(parameter.default)

    # ---- expressions

    def expression(self, node: n.Node) -> None:
        visit = _EXPRESSIONS.get(type(node))
        if visit is not None:
            visit(self, node)
        elif node.fields:
            for child in n.children(node):
                self.expression(child)

    def lambda_(self, node: n.Lambda) -> None:
        self._defaults(node.parameters)
        self.function(node)

    def comprehension(self, node: n.ListComp | n.SetComp | n.DictComp) -> None:
        self.expression(node.clauses[0].iterable)
        layer = self._clause_layer(node)
        node.slots.extend(binding.slot for binding in layer.values())
        self.layers.append(layer)
        self._clauses(node.clauses)
        for part in (node.key, node.value) if isinstance(node, n.DictComp) else (node.element,):
            self.expression(part)
        self.layers.pop()

    def generator(self, node: n.Generator) -> None:
        self.expression(node.clauses[0].iterable)
        outer_flow, outer_frame, outer_in = self.flow, self.frame, self.in_function
        self.frame = _Frame(node.scope, outer_frame)
        self.flow, self.in_function = Flow(), True
        self.layers.append(self._clause_layer(node))
        self._clauses(node.clauses)
        self.expression(node.element)
        self.layers.pop()
        self.flow, self.frame, self.in_function = outer_flow, outer_frame, outer_in

    def _clause_layer(self, node: n.ListComp | n.SetComp | n.DictComp | n.Generator) -> dict[str, Binding]:
        """Return the bindings of the names that its clauses bind, each in a new slot of the frame."""
        layer: dict[str, Binding] = {}
        for clause in node.clauses:
            for name in target_names(clause.target):
                if name.id not in layer:
                    layer[name.id] = self._binding(name.id, self.frame, self.frame.new_slot(name.id))
                    layer[name.id].loop = node
        return layer

    def _clauses(self, clauses: list[n.Clause]) -> None:
        for place, clause in enumerate(clauses):
            if place:
                self.expression(clause.iterable)
            self.target(clause.target)
            for condition in clause.conditions:
                self.expression(condition)

    def refused(self, node: n.Refused) -> None:
        """Walk what is refused as if all of it ran, so that its parts are judged like any other line."""
        for name in node.binds:
            self.store(name)
        if node.kind == "while":
            self._loop(None, node.parts, [], True)
        else:
            self.block(node.parts)


_STATEMENTS: dict[type[n.Node], Callable[[_Walk, Any], None]] = {
    n.Assign: _Walk.assign,
    n.AugAssign: _Walk.aug_assign,
    n.For: _Walk.for_,
    n.If: _Walk.if_,
    n.Def: _Walk.def_,
    n.Return: _Walk.return_,
    n.Break: _Walk.break_,
    n.Continue: _Walk.continue_,
    n.Refused: _Walk.refused,
}
_EXPRESSIONS: dict[type[n.Node], Callable[[_Walk, Any], None]] = {
    n.Name: _Walk.load,
    n.Lambda: _Walk.lambda_,
    n.ListComp: _Walk.comprehension,
    n.SetComp: _Walk.comprehension,
    n.DictComp: _Walk.comprehension,
    n.Generator: _Walk.generator,
    n.Refused: _Walk.refused,
}
