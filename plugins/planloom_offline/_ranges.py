"""short-range: a loop over the indices of a sequence that leaves out its last item, or goes beyond it.

``range(len(x) - 1)`` is right where the body also reads ``x[i + 1]``; a body that reads ``x[i]`` alone has no reason
for it. A loop that leaves out the first item mostly means to: what is first was looked at before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import attrs

from ._words import number, quoted
from .parsed import ParsedFile
from .rules import Hit


@attrs.frozen
class _Range:
    """The indices up to ``len(over) + beyond``, the end left out."""

    beyond: float
    over: str


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find loops over indices that are one short or one long."""
    for function in file.functions:
        for node in ast.walk(function.node):
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                yield from _loop(node, node.target.id)


def _loop(loop: ast.For, index: str) -> Iterator[Hit]:
    counted = _range(loop.iter)
    if counted is None:
        return
    offsets = set(_offsets(loop, index, counted.over))
    if offsets != {0}:
        return
    wrong = ""
    if counted.beyond == -1:
        wrong = f"leaves out the last item of `{counted.over}`"
    elif counted.beyond > 0:
        wrong = f"goes beyond the end of `{counted.over}`"
    if wrong:
        yield Hit(
            line=loop.lineno,
            claim=f"`{quoted(loop.iter)}` {wrong}, and the loop reads no neighbour of `{counted.over}[{index}]`",
            failing_call=quoted(loop.iter),
            expected=f"`range(len({counted.over}))`",
        )


def _range(node: ast.expr) -> _Range | None:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[stop] | [_, stop]):
            pass
        case _:
            return None
    beyond: float | None = 0
    if isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add | ast.Sub):
        beyond = number(stop.right)
        beyond = -beyond if beyond is not None and isinstance(stop.op, ast.Sub) else beyond
        stop = stop.left
    match stop:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute() as over]):
            return _Range(beyond, ast.unparse(over)) if beyond is not None else None
    return None


def _offsets(loop: ast.For, index: str, over: str) -> Iterator[float | None]:
    """How far from the index the sequence is read in the loop; ``None`` where that is not known."""
    for node in (inner for statement in loop.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == over:
            yield _offset(node.slice, index)


def _offset(node: ast.expr, index: str) -> float | None:
    match node:
        case ast.Name(id=name) if name == index:
            return 0
        case ast.BinOp(left=ast.Name(id=name), op=ast.Add() | ast.Sub(), right=right) if name == index:
            return number(right)
    return None
