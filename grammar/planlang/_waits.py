"""Says what may wait, so that only that pays for being able to.

Words that suspend wait. A call by name waits when the function of that name may; this is exact, and found by going
round until nothing changes. A call of a value (a parameter, an item) can only wait if some function or word that may
wait is used as a value somewhere; lambdas and names handed straight to a word that runs tasks do not count for that,
because only the word calls them.
"""

from __future__ import annotations

from . import _nodes as n
from ._handed import items_of
from ._scopes import Binding
from ._survey import Function, Survey
from ._vocabulary import Word

__all__ = ["mark"]


def mark(survey: Survey) -> None:
    """Write ``waits``, ``body_waits`` and ``callee`` on the nodes of a resolved plan."""
    marks = _Marks(survey)
    while marks.round():
        pass


class _Marks:
    """What is known of a plan's functions and calls so far.

    :ivar known: the functions that a name stands for, where it stands for nothing else.
    :ivar escaping: the functions that are used as values. :ivar still: the calls that do not wait, as far as is known.
    """

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.known: dict[Binding, list[Function]] = {}
        self.escaping: list[Function] = []
        self.waiting_word_escapes = False
        self.values_wait = False
        self.still: list[n.Call] = survey.all(n.Call)
        self._collect()

    # ---- which functions are used as values

    def _collect(self) -> None:
        named: set[n.Node] = set()
        for binding, functions in self.survey.functions.items():
            named.update(functions)
            if len(functions) == len(binding.writes):
                self.known[binding] = functions
            else:
                self.escaping.extend(functions)
        called = self._called()
        self.escaping.extend(f for f in self.survey.all(n.Lambda) if f not in called and f not in named)
        for name in self.survey.all(n.Name):
            if name in called:
                continue
            if self._word_waits(name):
                self.waiting_word_escapes = True
            elif name in self.survey.names.read:
                self.escaping.extend(self.known.get(self.survey.names.of[name], ()))

    def _called(self) -> set[n.Node]:
        """Return what is called where it stands, by the plan or by the word that it is handed to."""
        called: set[n.Node] = set()
        for call in self.survey.all(n.Call):
            called.add(call.function)
            for given in self.survey.handed(call):
                called.update(x for x in items_of(given.argument) if isinstance(x, n.Lambda | n.Name))
        return called

    def _word_waits(self, name: n.Name) -> bool:
        word = self.survey.vocabulary.get(name.id) if name.kind == n.WORD else None
        return isinstance(word, Word) and (word.suspends or word.runs_tasks)

    # ---- what waits

    def round(self) -> bool:
        """Look at every call that does not wait so far; say whether another round may find more."""
        self.values_wait = self.waiting_word_escapes or any(function.body_waits for function in self.escaping)
        still: list[n.Call] = []
        for call in self.still:
            call.callee = self._callee(call.function)
            if call.callee == n.NEVER:
                still.append(call)
            else:
                self._rise(call)
        found = len(still) < len(self.still)
        self.still = still
        return found

    def _rise(self, node: n.Node) -> None:
        """Write on ``node``, and on what stands around it, that it waits: a function does when it is called."""
        while not node.waits:
            node.waits = True
            outer = self.survey.parent.get(node)
            if outer is None:
                return
            if isinstance(outer, n.Def | n.Lambda) and node is not outer.parameters:
                outer.body_waits = True
                return
            node = self._out_of_generator(node, outer)

    def _out_of_generator(self, node: n.Node, outer: n.Node) -> n.Node:
        """Return ``outer``, or the generator whose part it is; its consumer waits, so where it stands may wait."""
        generator = self.survey.parent.get(outer) if isinstance(outer, n.Clause) else outer
        if not isinstance(generator, n.Generator):
            return outer
        first = generator.clauses[0]
        if outer is first:
            generator.body_waits = generator.body_waits or node is not first.iterable
            return generator
        if generator is outer:
            generator.body_waits = True
        return outer

    def _callee(self, function: n.Node) -> str:
        if isinstance(function, n.Name):
            if function.kind == n.WORD:
                return n.ALWAYS if self._word_waits(function) else n.NEVER
            if function.kind == n.BUILTIN:
                return n.NEVER
            binding = self.survey.names.of.get(function)
            if binding is not None and binding in self.known:
                return n.ALWAYS if any(f.body_waits for f in self.known[binding]) else n.NEVER
        if isinstance(function, n.Lambda):
            return n.ALWAYS if function.body_waits else n.NEVER
        return n.ASK if self.values_wait else n.NEVER
