"""A variable of the same function in another's place: one that is bound by then, and whose name is near."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import takewhile

from .parsed import Edit, Function, ParsedFile

_NOT_VALUES = frozenset({"self", "cls", "mcs", "_"})
_BLOCKS = ("body", "orelse", "finalbody")
# Two names a place: a function with many variables would otherwise bury every other edit.
_CANDIDATES = 2


def wrong_variables(file: ParsedFile) -> Iterator[Edit]:
    """Variables that are read, as others that hold a value at the same point."""
    bound: dict[ast.AST, set[str]] = {}
    for node in file.nodes(ast.Name):
        if not isinstance(node.ctx, ast.Load) or _is_called(file, node):
            continue
        statement = next(around for around in file.ancestors(node) if isinstance(around, ast.stmt))
        if statement not in bound:
            bound[statement] = _bound_before(file, statement)
        names = bound[statement] - _NOT_VALUES
        if node.id in names:
            for name in _nearest(node.id, names - {node.id}):
                if not _says_nothing(file, node, name):
                    yield from file.replace(node, name)


def _is_called(file: ParsedFile, node: ast.Name) -> bool:
    parent = file.parent(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _bound_before(file: ParsedFile, statement: ast.stmt) -> set[str]:
    """Parameters, and what the statements before this one and around it bind, up to the function."""
    names: set[str] = set()
    inner: ast.AST = statement
    for around in file.ancestors(statement):
        for block in _BLOCKS:
            names |= _bound_by(_before(getattr(around, block, None), inner))
        if isinstance(around, Function):
            return names | _parameters(around)
        if isinstance(around, ast.For | ast.AsyncFor) and inner in around.body:
            names |= _stored(around.target)
        elif isinstance(around, ast.With | ast.AsyncWith):
            names |= {name for item in around.items if item.optional_vars for name in _stored(item.optional_vars)}
        inner = around
    return names


def _before(block: object, inner: ast.AST) -> list[ast.stmt]:
    if isinstance(block, list) and inner in block:
        return block[: block.index(inner)]
    return []


def _bound_by(statements: Iterable[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.Assign):
            names |= {name for target in statement.targets for name in _stored(target)}
        elif isinstance(statement, ast.AnnAssign) and statement.value:
            names |= _stored(statement.target)
    return names


def _stored(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _parameters(function: Function) -> set[str]:
    return {argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}


def _nearest(name: str, others: Iterable[str]) -> list[str]:
    def distance(other: str) -> tuple[int, int, str]:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False)))
        return -shared, abs(len(name) - len(other)), other

    return sorted(others, key=distance)[:_CANDIDATES]


def _says_nothing(file: ParsedFile, node: ast.Name, name: str) -> bool:
    """Whether the edit assigns a variable to itself or compares it with itself: nobody writes that."""
    parent = file.parent(node)
    if isinstance(parent, ast.Assign):
        return any(name in _stored(target) for target in parent.targets)
    if isinstance(parent, ast.Compare):
        return any(isinstance(side, ast.Name) and side.id == name for side in (parent.left, *parent.comparators))
    return False
