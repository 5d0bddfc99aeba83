"""Which names a piece of a plan binds."""

from __future__ import annotations

from collections.abc import Iterable

from . import _nodes as n

__all__ = ["bound_in", "target_names"]


def bound_in(body: Iterable[n.Node]) -> list[n.Name]:
    """Return the names that the statements of ``body`` bind, without those of inner functions and comprehensions."""
    found: list[n.Name] = []
    waiting = list(body)[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, n.Assign):
            for target in node.targets:
                found.extend(target_names(target))
        elif isinstance(node, n.AugAssign):
            found.extend(target_names(node.target))
        elif isinstance(node, n.For):
            found.extend(target_names(node.target))
            waiting.extend([*node.body, *node.orelse][::-1])
        elif isinstance(node, n.If):
            waiting.extend(node.orelse[::-1])
            for arm in node.bodies[::-1]:
                waiting.extend(arm[::-1])
        elif isinstance(node, n.Def):
            found.append(node.target)
        elif isinstance(node, n.Refused):
            found.extend(node.binds)
            waiting.extend(node.parts[::-1])
    return found


def target_names(target: n.Node) -> list[n.Name]:
    """Return the names that a target binds."""
    if isinstance(target, n.Name):
        return [target]
    if isinstance(target, n.TupleDisplay | n.ListDisplay):
        return [name for item in target.items for name in target_names(item)]
    if isinstance(target, n.Starred):
        return target_names(target.value)
    return []
