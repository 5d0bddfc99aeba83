"""extreme-accumulator: a running minimum that starts below everything, or a running maximum that starts above.

``best = -inf`` followed by ``best = min(best, x)`` never changes; so does a smallest value that starts at 0 in a loop
over lengths. The update is looked for inside a loop, the start before it, and both must be the only two places that
assign the name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import attrs

from ._words import extreme_meant, number, quoted
from .parsed import Function, FunctionNode, ParsedFile
from .rules import Hit

_INFINITIES = frozenset(("inf", "infinity", "maxsize", "Infinity", "INF", "oo"))


@attrs.frozen
class _Update:
    """An update of an accumulator: what it keeps (``min`` or ``max``) and the values it compares with."""

    keeps: str
    node: ast.stmt
    value: ast.expr


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find running extremes whose start no value can pass."""
    for function in file.functions:
        starts = dict(_starts(function.node))
        if starts:
            yield from _mismatches(function, starts)


def _starts(function: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Names with the infinity they start at, outside any loop; zero for names that speak of an extreme."""
    for statement in _outside_loops(function.body):
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            for name, value in _pairs(target, statement.value):
                if _infinite(value) or (number(value) == 0 and extreme_meant(name)):
                    yield name, value


def _outside_loops(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.With | ast.Try):
            yield from _outside_loops(statement.body)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, its in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, its)


def _infinite(value: ast.expr) -> int:
    """Return 1 for plus infinity or a largest integer, -1 for minus, 0 for anything else."""
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_infinite(operand)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
            sign = -1 if text.strip().startswith("-") else 1
            return sign if text.strip(" +-").lower() in ("inf", "infinity") else 0
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return int(name in _INFINITIES)
    return 0


def _mismatches(function: Function, starts: dict[str, ast.expr]) -> Iterator[Hit]:
    for name, start in starts.items():
        updates = list(_updates(function.node, name))
        if not updates or len(updates) + 1 != _assignments(function.node, name):
            continue
        kinds = {update.keeps for update in updates}
        if len(kinds) == 1 and _never_passes(name, start, updates[0]):
            yield _hit(name, start, updates[0])


def _never_passes(name: str, start: ast.expr, update: _Update) -> bool:
    side = _infinite(start)
    if side:
        return side == (-1 if update.keeps == "min" else 1)
    if extreme_meant(name) == "max":
        return update.keeps == "min"
    return update.keeps == "min" and _never_negative(update.value)


def _never_negative(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("len", "abs")


def _updates(function: FunctionNode, name: str) -> Iterator[_Update]:
    loops = (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    inside = {id(node): node for loop in loops for node in ast.walk(loop)}
    for node in inside.values():
        update = _update(node, name) if isinstance(node, ast.If | ast.Assign) else None
        if update is not None:
            yield update


def _update(node: ast.If | ast.Assign, name: str) -> _Update | None:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.Call(func=ast.Name(id="min" | "max" as keeps), args=[one, other], keywords=[]),
        ) if target == name:
            values = [value for value in (one, other) if getattr(value, "id", "") != name]
            return _Update(keeps, node, values[0]) if len(values) == 1 else None
        case ast.If(test=ast.Compare(left=left, ops=[op], comparators=[right]), orelse=[]):
            return _guarded(node, name, left, op, right)
    return None


def _guarded(node: ast.If, name: str, left: ast.expr, op: ast.cmpop, right: ast.expr) -> _Update | None:
    """Read ``if value < best: best = value`` and its mirror image."""
    below = isinstance(op, ast.Lt | ast.LtE)
    if not below and not isinstance(op, ast.Gt | ast.GtE):
        return None
    value = left if getattr(right, "id", "") == name else right
    if getattr(left if value is right else right, "id", "") != name:
        return None
    assigned = [pair for s in node.body if isinstance(s, ast.Assign) for t in s.targets for pair in _pairs(t, s.value)]
    if not any(target == name and ast.dump(its) == ast.dump(value) for target, its in assigned):
        return None
    return _Update("min" if below == (value is left) else "max", node, value)


def _assignments(function: FunctionNode, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function))


def _hit(name: str, start: ast.expr, update: _Update) -> Hit:
    keeps = "smallest" if update.keeps == "min" else "largest"
    # Where the name agrees with the start, the update is the one that went wrong.
    against_name = extreme_meant(name) not in ("", update.keeps)
    return Hit(
        line=update.node.lineno if against_name else start.lineno,
        claim=f"`{name}` keeps the {keeps} value but starts at `{quoted(start)}`, which no value can pass",
        failing_call=quoted(update.node),
        expected=f"a start that the first value replaces, such as `{'' if update.keeps == 'min' else '-'}inf`",
    )
