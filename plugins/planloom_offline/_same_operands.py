"""same-operands: an operator or a comparison with one value on both sides, as ``n - n`` or ``low <= low``.

``x != x`` and ``x == x`` are how one asks for NaN, and ``inf - inf`` how one makes it; sums and products of a value
with itself are plain arithmetic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from ._words import last_name, quoted
from .parsed import ParsedFile
from .rules import Hit

_POINTLESS = ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.BitXor | ast.BitAnd | ast.BitOr
_ORDERED = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Is | ast.IsNot


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find operators whose two sides are the same."""
    for function in file.functions:
        for node in ast.walk(function.node):
            if any(_same(left, right) for left, right in _sides(node)):
                yield _hit(node)


def _sides(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _POINTLESS):
            yield left, right
        case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERED):
            yield left, right
        case ast.BoolOp(values=values):
            yield from pairwise(values)
        case ast.Call(func=ast.Name(id="min" | "max"), args=[left, right]):
            yield left, right


def _same(left: ast.expr, right: ast.expr) -> bool:
    if type(left) is not type(right) or isinstance(left, ast.Constant):
        return False
    parts = list(ast.walk(left))
    # A call may give another value each time.
    if any(isinstance(node, ast.Call | ast.Await | ast.Yield) for node in parts):
        return False
    return ast.dump(left) == ast.dump(right) and not any(last_name(node).lower().endswith("inf") for node in parts)


def _hit(node: ast.AST) -> Hit:
    return Hit(
        line=getattr(node, "lineno", 1),
        claim=f"`{quoted(node)}` has the same value on both sides",
        failing_call=quoted(node),
        expected="two different values",
    )
