"""One look over a resolved plan that all checks share: nodes by kind, and what stands around each of them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from . import _nodes as n
from ._faults import Fault
from ._handed import Handed, handed, items_of
from ._names import BUILTINS
from ._scopes import Binding, Names
from ._vocabulary import Vocabulary, Word

__all__ = ["Function", "Survey", "root_of"]

Function = n.Def | n.Lambda


class Survey:
    """A plan, ready to be judged.

    :ivar parent: the node around each node. :ivar whole: whether every line could be read.
    :ivar functions: the functions that a name is bound to, in source order.
    """

    def __init__(self, source: str, module: n.Module, names: Names, vocabulary: Vocabulary, whole: bool) -> None:
        self.source, self.module, self.names, self.vocabulary, self.whole = source, module, names, vocabulary, whole
        self.faults: list[Fault] = []
        self.parent: dict[n.Node, n.Node] = {}
        self._handed: dict[n.Node, list[Handed]] = {}
        self._by_type: defaultdict[type[n.Node], list[n.Node]] = defaultdict(list)
        self._visit(module)
        self._reads = sorted(names.read, key=lambda name: name.start)
        self._read_at = [name.start for name in self._reads]
        self.owner: dict[int, Function | n.Generator] = {
            id(node.scope): node for node in self.all(n.Def, n.Lambda, n.Generator)
        }
        self.functions: dict[Binding, list[Function]] = {}
        for node in self.all(n.Def):
            self._bind(node.target, node)
        for assign in self.all(n.Assign):
            if isinstance(assign.value, n.Lambda):
                for target in assign.targets:
                    self._bind(target, assign.value)

    def _visit(self, top: n.Node) -> None:
        waiting, parent, by_type = [top], self.parent, self._by_type
        while waiting:
            node = waiting.pop()
            by_type[type(node)].append(node)
            if node.fields:
                below = n.children(node)
                parent.update(dict.fromkeys(below, node))
                waiting.extend(below[::-1])

    def _bind(self, target: n.Node, function: Function) -> None:
        binding = self.names.of.get(target) if isinstance(target, n.Name) else None
        if binding is not None:
            self.functions.setdefault(binding, []).append(function)

    def complain(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        """Note a fault."""
        self.faults.append(Fault(code, start, end, message, hint))

    def at(self, code: str, node: n.Node, message: str, hint: str) -> None:
        """Note a fault of a whole node."""
        self.complain(code, node.start, node.end, message, hint)

    def all(self, *kinds: type[n.Node]) -> list[Any]:
        """Return the nodes of these kinds, each kind in source order."""
        return [node for kind in kinds for node in self._by_type.get(kind, [])]

    def above(self, node: n.Node) -> Iterator[n.Node]:
        """Yield what stands around ``node``, innermost first."""
        while node in self.parent:
            node = self.parent[node]
            yield node

    def within(self, node: n.Node) -> Iterator[n.Node]:
        """Yield ``node`` and everything below it, in source order."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(n.children(node)[::-1])

    def read_in(self, node: n.Node) -> list[n.Name]:
        """Return the names that are read in ``node``, of those that the plan binds, in source order."""
        return self._reads[bisect_left(self._read_at, node.start) : bisect_left(self._read_at, node.end)]

    def text(self, node: n.Node, most: int = 90) -> str:
        """Return the source of ``node`` for a hint, or ``...`` where it is long."""
        found = self.source[node.start : node.end]
        return found if len(found) <= most and "\n" not in found else "..."

    def word(self, node: n.Node) -> Word | None:
        """Return the word that ``node`` calls, if it calls one by name."""
        if not isinstance(node, n.Call) or not isinstance(node.function, n.Name) or node.function.kind != n.WORD:
            return None
        entry = self.vocabulary.get(node.function.id)
        return entry if isinstance(entry, Word) else None

    def runs_tasks(self, node: n.Node) -> bool:
        """Say whether ``node`` calls a word that runs functions as tasks."""
        word = self.word(node)
        return word is not None and word.runs_tasks

    def spends(self, node: n.Node) -> bool:
        """Say whether ``node`` calls a word that costs money."""
        word = self.word(node)
        return word is not None and word.spends

    def known(self) -> list[str]:
        """Return every name that means something in this plan."""
        bound = {binding.name for binding in self.names.bindings}
        return sorted(bound | set(self.vocabulary.words) | set(self.vocabulary.values) | BUILTINS)

    def handed(self, call: n.Call) -> list[Handed]:
        """Return the arguments of ``call`` that hold functions for its word to run as tasks."""
        found = self._handed.get(call)
        if found is None:
            word = self.word(call)
            found = self._handed[call] = handed(word, call) if word is not None and word.runs_tasks else []
        return found

    def functions_in(self, argument: n.Node) -> list[Function]:
        """Return the functions that an argument holds: written there or by name."""
        found: list[Function] = []
        for item in items_of(argument):
            if isinstance(item, n.Lambda):
                found.append(item)
            elif isinstance(item, n.Name) and item in self.names.of:
                found.extend(self.functions.get(self.names.of[item], []))
        return found


def root_of(node: n.Node) -> n.Name | None:
    """Return the name whose value ``node`` is, or is a part of, or nothing."""
    while isinstance(node, n.Subscript):
        node = node.value
    return node if isinstance(node, n.Name) else None
