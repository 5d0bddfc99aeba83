"""Says what may wait, so that only that pays for being able to.

Words that suspend wait. A call by name waits when the function of that name may; this is exact, and found by going
round until nothing changes. A call of a value (a parameter, an item) can only wait if some function or word that may
wait is used as a value somewhere; lambdas and names handed straight to a word that runs tasks do not count for that,
because only the word calls them.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _nodes as n
from ._handed import handed, items_of
from ._scopes import Binding, Names
from ._vocabulary import Vocabulary, Word

__all__ = ["mark"]

_Function = n.Def | n.Lambda


def mark(module: n.Module, names: Names, vocabulary: Vocabulary) -> None:
    """Write ``waits``, ``body_waits`` and ``callee`` on the nodes of a resolved ``module``."""
    marks = _Marks(names, vocabulary)
    marks.collect(module)
    while marks.round(module):
        pass


class _Marks:
    def __init__(self, names: Names, vocabulary: Vocabulary) -> None:
        self.names, self.vocabulary = names, vocabulary
        self.known: dict[Binding, list[_Function] | None] = {}
        self.escaping: list[_Function] = []
        self.waiting_word_escapes = False
        self.values_wait = False
        self.changed = False

    # ---- which functions are used as values

    def collect(self, module: n.Module) -> None:
        """Find which names are bound to functions only, and which functions are used as values."""
        nodes = _all_nodes(module)
        self._bindings(nodes)
        called: set[n.Node] = set()
        reads: list[n.Name] = []
        for node in nodes:
            if isinstance(node, n.Call):
                called.add(node.function)
                word = self._runs_tasks(node)
                if word is not None:
                    called.update(_thunks(word, node))
            elif isinstance(node, n.Lambda) and node not in called and not self._named(node):
                self.escaping.append(node)
            elif isinstance(node, n.Name):
                reads.append(node)
        for name in reads:
            if name not in called and self._word_waits(name):
                self.waiting_word_escapes = True
            binding = self.names.of.get(name)
            if binding is not None and name not in called and name not in binding.writes:
                self.escaping.extend(self.known.get(binding) or [])

    def _bindings(self, nodes: Sequence[n.Node]) -> None:
        functions: dict[Binding, list[_Function]] = {}
        sure: dict[Binding, int] = {}
        for node in nodes:
            for name, function in _named_functions(node):
                binding = self.names.of.get(name)
                if binding is not None:
                    functions.setdefault(binding, []).append(function)
                    sure[binding] = sure.get(binding, 0) + 1
        for binding, found in functions.items():
            self.known[binding] = found if sure[binding] == len(binding.writes) else None
            if self.known[binding] is None:
                self.escaping.extend(found)

    def _named(self, node: n.Lambda) -> bool:
        return any(node in (found or ()) for found in self.known.values())

    def _runs_tasks(self, node: n.Call) -> Word | None:
        """Return the word that a call names, if it runs tasks."""
        if not isinstance(node.function, n.Name) or node.function.kind != n.WORD:
            return None
        word = self.vocabulary.get(node.function.id)
        return word if isinstance(word, Word) and word.runs_tasks else None

    def _word_waits(self, name: n.Name) -> bool:
        word = self.vocabulary.get(name.id) if name.kind == n.WORD else None
        return isinstance(word, Word) and (word.suspends or word.runs_tasks)

    # ---- what waits

    def round(self, module: n.Module) -> bool:
        """Mark everything once more; say whether another round may change anything."""
        self.changed = False
        self.values_wait = self._some_value_waits()
        self._mark(module)
        # A round goes from the leaves up: where nothing is called by a name or as a value, one is all it takes.
        return self.changed and (bool(self.known) or self.values_wait != self._some_value_waits())

    def _some_value_waits(self) -> bool:
        return self.waiting_word_escapes or any(function.body_waits for function in self.escaping)

    def _mark(self, node: n.Node) -> bool:
        if isinstance(node, n.Def | n.Lambda):
            waits = self._mark_function(node)
        elif isinstance(node, n.Generator):
            waits = self._mark_generator(node)
        else:
            waits = self._mark_all(n.children(node))
            if isinstance(node, n.Call):
                waits = self._call_waits(node) or waits
        if waits != node.waits:
            node.waits, self.changed = waits, True
        return waits

    def _mark_all(self, nodes: Sequence[n.Node]) -> bool:
        waits = False
        for node in nodes:
            waits = self._mark(node) or waits
        return waits

    def _mark_function(self, node: _Function) -> bool:
        waits = self._mark(node.parameters)
        body = node.body if isinstance(node.body, list) else [node.body]
        body_waits = self._mark_all(body)
        if body_waits != node.body_waits:
            node.body_waits, self.changed = body_waits, True
        if isinstance(node, n.Def):
            self._mark(node.target)
        return waits

    def _mark_generator(self, node: n.Generator) -> bool:
        first, *rest = node.clauses
        waits = self._mark(first.iterable)
        parts = [first.target, *first.conditions, *rest, node.element]
        body_waits = self._mark_all(parts)
        if body_waits != node.body_waits:
            node.body_waits, self.changed = body_waits, True
        # Its consumer waits for its elements: where a waiting generator stands, the consumer may wait.
        return waits or body_waits

    def _call_waits(self, node: n.Call) -> bool:
        callee = self._callee(node.function)
        if callee != node.callee:
            node.callee, self.changed = callee, True
        return callee != n.NEVER

    def _callee(self, function: n.Node) -> str:
        if isinstance(function, n.Name):
            if function.kind == n.WORD:
                return n.ALWAYS if self._word_waits(function) else n.NEVER
            if function.kind == n.BUILTIN:
                return n.NEVER
            found = self.known.get(self.names.of[function]) if function in self.names.of else None
            if found is not None:
                return n.ALWAYS if any(f.body_waits for f in found) else n.NEVER
        if isinstance(function, n.Lambda):
            return n.ALWAYS if function.body_waits else n.NEVER
        return n.ASK if self.values_wait else n.NEVER


def _all_nodes(module: n.Module) -> list[n.Node]:
    """Return all nodes of a plan, each before those below it, later ones first."""
    found: list[n.Node] = []
    waiting: list[n.Node] = [module]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting.extend(n.children(node))
    return found


def _named_functions(node: n.Node) -> list[tuple[n.Name, _Function]]:
    if isinstance(node, n.Def):
        return [(node.target, node)]
    if isinstance(node, n.Assign) and isinstance(node.value, n.Lambda):
        return [(target, node.value) for target in node.targets if isinstance(target, n.Name)]
    return []


def _thunks(word: Word, node: n.Call) -> list[n.Node]:
    """Return the functions that a call of a word that runs tasks is given where it stands, for the word to call."""
    found = [item for given in handed(word, node) for item in items_of(given.argument)]
    return [node for node in found if isinstance(node, n.Lambda | n.Name)]
