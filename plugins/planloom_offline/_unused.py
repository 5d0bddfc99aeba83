"""unused-local: a value is named and never read, as happens where another variable is read instead of it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from ._words import quoted
from .parsed import Function, ParsedFile
from .rules import Hit

_SEES_ALL = frozenset(("locals", "eval", "exec", "vars"))


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find plain assignments to local names that nothing reads."""
    for function in file.functions:
        # What a nested function assigns is looked at when its own turn comes.
        yield from _unread(function, {id(other.node) for other in file.functions if other.parent is function})


def _unread(function: Function, nested: set[int]) -> Iterator[Hit]:
    read, shared = Counter[str](), set[str]()
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            read[node.id] += 1
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read[node.target.id] += 1
    if _SEES_ALL & set(read):
        return
    for assigned in _assignments(function.node, nested):
        match assigned:
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in read and name not in shared:
                if not name.startswith("_"):
                    yield _hit(name, assigned)


def _assignments(node: ast.AST, nested: set[int]) -> Iterator[ast.Assign]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assign):
            yield child
        elif id(child) not in nested and not isinstance(child, ast.ClassDef | ast.Lambda | ast.expr):
            yield from _assignments(child, nested)


def _hit(name: str, assigned: ast.Assign) -> Hit:
    return Hit(
        line=assigned.lineno,
        claim=f"`{name}` is assigned by `{quoted(assigned)}` and nothing reads it",
        failing_call=quoted(assigned),
        expected=f"a use of `{name}`",
    )
