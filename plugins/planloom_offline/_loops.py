"""loop-direction: a loop whose step leads away from its end.

``range(10, 0)`` is empty, ``range(0, n, -1)`` too unless ``n`` is negative, and ``while i < n: i -= 1`` never ends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ._words import number, quoted
from .parsed import Function, ParsedFile
from .rules import Hit


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find ranges that are empty by their own bounds, and while loops that step away from their end."""
    for call, function in file.sites(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "range" and len(call.args) in (2, 3):
            yield from (hit for hit in _range(call) if not _tested(call, function))
    for loop, _ in file.sites(ast.While):
        yield from _while(loop)


def _tested(call: ast.Call, function: Function | None) -> bool:
    """Whether a condition around the loop speaks of its bounds: it may well know that they are negative."""
    bounds = {n.id for argument in call.args[:2] for n in ast.walk(argument) if isinstance(n, ast.Name)}
    if function is None or not bounds:
        return False
    return any(
        isinstance(node, ast.If | ast.IfExp | ast.While)
        and node.lineno <= call.lineno <= (node.end_lineno or 0)
        and any(isinstance(n, ast.Name) and n.id in bounds for n in ast.walk(node.test))
        for node in ast.walk(function.node)
    )


def _range(call: ast.Call) -> Iterator[Hit]:
    step = number(call.args[2]) if len(call.args) == 3 else 1
    if not step or not _empty(call.args[0], call.args[1], step):
        return
    way = "up" if step > 0 else "down"
    yield Hit(
        line=call.lineno,
        claim=f"`{quoted(call)}` counts {way} although its end lies the other way, so the loop never runs",
        failing_call=quoted(call),
        expected="bounds and step that point the same way",
    )


def _empty(start: ast.expr, stop: ast.expr, step: float) -> bool:
    first, end = number(start), number(stop)
    if first is not None and end is not None:
        # range(0, 0) is a way to write "no rounds"; bounds that lie apart are not.
        return first > end if step > 0 else first < end
    if step > 0:
        # Up to 1 or 2 counts for nothing only where a length or a sum starts it: a bare name may well be 0.
        return first is None and end is not None and _counts(start) and end <= (0 if _bare(start) else 2)
    return first is not None and first <= 0 and end is None and _counts(stop)


def _bare(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def _counts(node: ast.expr) -> bool:
    """Whether an expression is a count or a size: a name, a length, or one of them give or take a number."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return _counts(node.left) and number(node.right) is not None
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    return isinstance(node, ast.Name | ast.Attribute)


def _while(loop: ast.While) -> Iterator[Hit]:
    match loop.test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt() | ast.LtE()], comparators=[bound]):
            away = _steps(loop, name, ast.Sub)
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Gt() | ast.GtE()], comparators=[bound]):
            away = _steps(loop, name, ast.Add)
        case _:
            return
    if not away or not _steady(bound, loop):
        return
    yield Hit(
        line=loop.lineno,
        claim=f"`while {quoted(loop.test)}` is stepped by `{quoted(away)}`, away from its end, and does not stop there",
        failing_call=f"any call that enters `while {quoted(loop.test)}`",
        expected="a step towards the end",
    )


def _steps(loop: ast.While, name: str, away: type[ast.operator]) -> ast.AugAssign | None:
    """Return the step of a loop when its every change of ``name`` leads away; ``None`` otherwise."""
    found: ast.AugAssign | None = None
    for node in (inner for statement in loop.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Break | ast.Return | ast.Raise | ast.Yield | ast.Global | ast.Nonlocal):
            return None
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            if not isinstance(node.op, away) or (number(node.value) or 0) <= 0:
                return None
            found = node
    stores = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(loop))
    steps = sum(isinstance(n, ast.AugAssign) and getattr(n.target, "id", "") == name for n in ast.walk(loop))
    return found if stores == steps else None


def _steady(bound: ast.expr, loop: ast.While) -> bool:
    """Whether the end of a loop is a number or a name that the loop does not assign."""
    if number(bound) is not None:
        return True
    if not isinstance(bound, ast.Name):
        return False
    return not any(
        isinstance(n, ast.Name) and n.id == bound.id and isinstance(n.ctx, ast.Store) for n in ast.walk(loop)
    )
