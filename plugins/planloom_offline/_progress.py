"""no-progress: a ``while`` loop whose condition nothing in its body can change, or a bisection that may stand still."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ._words import quoted
from .parsed import ParsedFile
from .rules import Hit

_LEAVES = ast.Break | ast.Return | ast.Raise | ast.Yield | ast.YieldFrom | ast.Await


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find loops that cannot come nearer to their end."""
    for loop, _ in file.sites(ast.While):
        stuck = _stuck(loop)
        if stuck:
            yield _hit(loop, stuck)


def _stuck(loop: ast.While) -> str:
    if _steady(loop):
        return "nothing in its body changes its condition"
    return _bisection(loop)


def _steady(loop: ast.While) -> bool:
    """Whether a condition on plain names meets a body that neither assigns them, nor leaves, nor calls with them."""
    parts = list(ast.walk(loop.test))
    names = {node.id for node in parts if isinstance(node, ast.Name)}
    if not names or any(isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.NamedExpr) for node in parts):
        return False
    return not any(_changes(node, names) for statement in loop.body for node in ast.walk(statement))


def _changes(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in names:
            return True
        case ast.Call(func=called, args=arguments):
            parts = [inner for part in (called, *arguments) for inner in ast.walk(part)]
            return any(isinstance(inner, ast.Name) and inner.id in names for inner in parts)
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in names:
            return True
    return isinstance(node, _LEAVES | ast.Global | ast.Nonlocal)


def _bisection(loop: ast.While) -> str:
    """Say which bound of ``while low < high`` is set to the middle itself, where the middle can equal it."""
    match loop.test:
        case ast.Compare(left=ast.Name(id=low), ops=[ast.Lt() | ast.LtE() as op], comparators=[ast.Name(id=high)]):
            middle = _middle(loop, low, high)
        case _:
            return ""
    # Halves are rounded down, so that the middle may be the lower bound and is the upper one only when both are equal.
    bounds = (low,) if isinstance(op, ast.Lt) else (low, high)
    for node in (inner for statement in loop.body for inner in ast.walk(statement)):
        match node:
            case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Name(id=value)) if value == middle:
                if bound in bounds and not any(isinstance(inner, _LEAVES) for inner in loop.body):
                    return f"`{bound} = {value}` may leave both bounds where they are"
    return ""


def _middle(loop: ast.While, low: str, high: str) -> str:
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.FloorDiv() | ast.RShift()) as value):
                if {low, high} <= {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}:
                    return name
    return ""


def _hit(loop: ast.While, stuck: str) -> Hit:
    return Hit(
        line=loop.lineno,
        claim=f"`while {quoted(loop.test)}` may never end: {stuck}",
        failing_call=f"any call that enters `while {quoted(loop.test)}`",
        expected="a step towards the end of the loop",
    )
