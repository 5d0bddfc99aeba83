"""Values that are known before a plan runs: what is written out, and names that never stand for anything else.

A name is followed where the plan assigns to it once and, if its value could be changed in place, only ever reads it:
hands it to a word, which gets a copy, compares it, or writes it into another value that is only read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from . import _nodes as n
from ._scopes import Binding
from ._survey import Survey

__all__ = ["UNKNOWN", "Written"]

UNKNOWN: Final = object()
"""What stands for a value that only a run knows."""

_DISPLAYS = n.ListDisplay | n.TupleDisplay | n.DictDisplay
_READERS = frozenset(("len", "str", "bool", "isinstance"))
_MOST_PARTS = 2_000  # of all values of a plan: names within names can double one with each line
_DEEPEST = 60


class Written:
    """What stands in a plan, asked of its nodes."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._kept_as_it_is: dict[Binding, bool] = {}
        self._values: dict[n.Node, Any] = {}
        self._parts = 0

    def stands_for(self, node: n.Node) -> n.Node:
        """Return what is written out where a name stands, if it stands for that alone; else the node itself."""
        for _ in range(_DEEPEST):
            binding = self._survey.names.of.get(node) if isinstance(node, n.Name) else None
            value = self._only_value(binding) if binding is not None else None
            if binding is None or value is None or (isinstance(value, _DISPLAYS) and not self._is_kept(binding)):
                return node
            node = value
        return node

    def value_of(self, node: n.Node) -> Any:
        """Return the plain data that a node is, whatever happens in the run, or :data:`UNKNOWN`."""
        node = self.stands_for(node)
        if node not in self._values:
            self._values[node] = self._value(node, 0)
        return self._values[node]

    def part_at(self, node: n.Node, path: Sequence[object]) -> n.Node:
        """Return the part of a value to which these keys and indexes lead, or the innermost around it."""
        node = self.stands_for(node)
        for step in path:
            inner = _part(node, step)
            if inner is None:
                break
            node = self.stands_for(inner)
        return node

    # ---- values

    def _value(self, node: n.Node, depth: int) -> Any:
        self._parts += 1
        if self._parts > _MOST_PARTS or depth > _DEEPEST:
            return UNKNOWN
        node = self.stands_for(node)
        if isinstance(node, n.Constant):
            return node.value
        if isinstance(node, n.ListDisplay | n.TupleDisplay):
            items = [self._value(item, depth + 1) for item in node.items]
            return UNKNOWN if UNKNOWN in items else items if isinstance(node, n.ListDisplay) else tuple(items)
        if isinstance(node, n.DictDisplay):
            return self._dict(node, depth + 1)
        if isinstance(node, n.Unary) and node.op == "-":
            number = self._value(node.operand, depth + 1)
            return -number if type(number) in (int, float) else UNKNOWN
        return UNKNOWN

    def _dict(self, node: n.DictDisplay, depth: int) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self._value(value, depth)
            if key is None and isinstance(inner, Mapping):
                made.update(inner)
                continue
            name = self._value(key, depth) if key is not None else UNKNOWN
            if inner is UNKNOWN or not isinstance(name, str | int | float | None):
                return UNKNOWN
            made[name] = inner
        return made

    # ---- names

    def _only_value(self, binding: Binding) -> n.Node | None:
        """Return the one value that is ever assigned to a name."""
        if len(binding.writes) != 1:
            return None
        name = binding.writes[0]
        assign = self._survey.parent.get(name)
        return assign.value if isinstance(assign, n.Assign) and assign.targets == [name] else None

    def _is_kept(self, binding: Binding) -> bool:
        known = self._kept_as_it_is.get(binding)
        if known is None:
            known = self._kept_as_it_is[binding] = self._is_only_read(binding, set())
        return known

    def _is_only_read(self, binding: Binding, seen: set[Binding]) -> bool:
        if binding in seen:
            return True
        seen.add(binding)
        return len(seen) < _DEEPEST and all(self._is_read(read, seen) for read in binding.reads)

    def _is_read(self, node: n.Node, seen: set[Binding]) -> bool:
        """Say whether where a node stands its value is not changed, nor kept where something else could change it."""
        user = self._survey.parent.get(node)
        while isinstance(user, n.Keyword | _DISPLAYS):
            node, user = user, self._survey.parent.get(user)
        if isinstance(user, n.Call):
            return node is not user.function and (self._survey.word(user) is not None or _only_looks(user))
        if isinstance(user, n.Compare | n.Field):
            return True
        if isinstance(user, n.For | n.Clause):
            return user.iterable is node and self._holds_scalars(node)
        if isinstance(user, n.Assign) and user.value is node and len(user.targets) == 1:
            target = user.targets[0]
            binding = self._survey.names.of.get(target) if isinstance(target, n.Name) else None
            return binding is not None and self._is_only_read(binding, seen)
        return False

    def _holds_scalars(self, node: n.Node) -> bool:
        """A loop's variable is an item, and what happens to it changes nothing where that is a text or a number."""
        binding = self._survey.names.of.get(node) if isinstance(node, n.Name) else None
        value = self._only_value(binding) if binding is not None else node
        items = value.items if isinstance(value, n.ListDisplay | n.TupleDisplay) else [None]
        return all(isinstance(item, n.Constant) for item in items)


def _part(node: n.Node, step: object) -> n.Node | None:
    if isinstance(node, n.ListDisplay | n.TupleDisplay):
        return node.items[step] if isinstance(step, int) and step < len(node.items) else None
    if isinstance(node, n.DictDisplay):
        pairs = zip(node.keys, node.values, strict=True)
        named = [value for key, value in pairs if isinstance(key, n.Constant) and key.value == step]
        return named[-1] if named else None
    return None


def _only_looks(call: n.Call) -> bool:
    return isinstance(call.function, n.Name) and call.function.kind == n.BUILTIN and call.function.id in _READERS
