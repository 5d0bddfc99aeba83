"""Which names may, and which must, be bound at the place that a walk has reached.

A place that cannot be reached (after ``break`` or ``return``) has no state: whatever is said about it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import _nodes as n

if TYPE_CHECKING:
    from ._scopes import Binding

__all__ = ["Flow", "certain_loop"]

_State = frozenset["Binding"] | None


def _join(a: _State, b: _State) -> _State:
    if a is None or b is None:
        return a if b is None else b
    return a & b


class _Loop:
    def __init__(self, before: _State) -> None:
        self.before = before
        self.breaks: _State = None
        self.rounds: _State = None


class _Branches:
    def __init__(self) -> None:
        self.tested: _State = None
        self.after: _State = None


class Flow:
    """The state of one function's names, moved along by the walk."""

    def __init__(self) -> None:
        self._must: _State = frozenset()
        self._may: set[Binding] = set()
        self._loops: list[_Loop] = []
        self._branches: list[_Branches] = []

    def may(self, binding: Binding) -> bool:
        """Say whether some binding can have run before this place."""
        return self._must is None or binding in self._may

    def must(self, binding: Binding) -> bool:
        """Say whether a binding has run on every way here."""
        return self._must is None or binding in self._must

    def state_of(self, binding: Binding) -> str:
        """Return ``always``, ``maybe`` or ``never``."""
        if self.must(binding):
            return "always"
        return "maybe" if binding in self._may else "never"

    def bind(self, binding: Binding) -> None:
        self._may.add(binding)
        if self._must is not None and binding not in self._must:
            self._must |= {binding}

    def stop(self) -> None:
        """The place after a ``return`` is not reached."""
        self._must = None

    def enter_loop(self, bound_inside: Iterable[Binding]) -> None:
        """Later rounds see what earlier ones bound."""
        self._may.update(bound_inside)
        self._loops.append(_Loop(self._must))

    def break_loop(self) -> None:
        if self._loops:
            self._loops[-1].breaks = _join(self._loops[-1].breaks, self._must)
        self._must = None

    def continue_loop(self) -> None:
        if self._loops:
            self._loops[-1].rounds = _join(self._loops[-1].rounds, self._must)
        self._must = None

    def end_of_rounds(self, certain: bool) -> None:
        """Go from the end of the body to the ``else``; ``certain`` when at least one round runs."""
        loop = self._loops[-1]
        ended = _join(loop.rounds, self._must)
        self._must = ended if certain else _join(loop.before, ended)

    def leave_loop(self) -> None:
        self._must = _join(self._loops.pop().breaks, self._must)

    def enter_branches(self) -> None:
        self._branches.append(_Branches())

    def start_arm(self) -> None:
        self._branches[-1].tested = self._must

    def end_arm(self) -> None:
        branches = self._branches[-1]
        branches.after = _join(branches.after, self._must)
        self._must = branches.tested

    def leave_branches(self) -> None:
        self._must = _join(self._branches.pop().after, self._must)


def certain_loop(iterable: n.Node) -> bool:
    """Say whether a loop over ``iterable`` runs at least once, as the source alone shows."""
    if isinstance(iterable, n.ListDisplay | n.TupleDisplay | n.SetDisplay):
        return any(not isinstance(item, n.Starred) for item in iterable.items)
    if isinstance(iterable, n.Constant):
        return isinstance(iterable.value, str) and bool(iterable.value)
    if isinstance(iterable, n.Call) and isinstance(iterable.function, n.Name) and not iterable.keywords:
        if iterable.function.id in ("enumerate", "list", "reversed", "sorted") and iterable.args:
            return certain_loop(iterable.args[0])
        if iterable.function.id == "range":
            return _full_range(iterable.args)
    return False


def _full_range(args: list[n.Node]) -> bool:
    bounds = [arg.value for arg in args if isinstance(arg, n.Constant) and isinstance(arg.value, int)]
    if len(bounds) != len(args) or not 1 <= len(bounds) <= 3 or (len(bounds) == 3 and bounds[2] == 0):
        return False
    return len(range(*bounds)) > 0
