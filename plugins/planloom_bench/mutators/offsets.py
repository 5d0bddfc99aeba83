"""Off by one: in a range, an index, a slice or the start of an enumeration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .numbers import is_whole, neighbours
from .parsed import Edit, ParsedFile, name_of


def off_by_one(file: ParsedFile) -> Iterator[Edit]:
    """Bounds and indices one too far, or one short."""
    for node in file.nodes(ast.Call):
        if name_of(node.func) == "range" and not node.keywords:
            for bound in node.args[:2]:
                yield from _shifted(file, bound)
        elif name_of(node.func) == "enumerate":
            yield from _counted(file, node)
    for index in file.nodes(ast.Subscript):
        if isinstance(index.slice, ast.Slice):
            yield from _sliced(file, index.slice)
        elif not isinstance(index.slice, ast.Name | ast.Attribute | ast.Call):
            yield from _shifted(file, index.slice)


def _counted(file: ParsedFile, call: ast.Call) -> Iterator[Edit]:
    starts = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "start")]
    for start in starts:
        yield from neighbours(file, start)
    if not starts and call.args:
        source = file.source(call.args[0])
        yield from file.replace(call.args[0], source and f"{source}, 1")


def _sliced(file: ParsedFile, piece: ast.Slice) -> Iterator[Edit]:
    if piece.lower is not None:
        # A slice that begins at 0 says so by saying nothing.
        yield from neighbours(file, piece.lower, least=1) if is_whole(piece.lower) else _shifted(file, piece.lower)
    if piece.upper is not None:
        yield from _shifted(file, piece.upper)


def _shifted(file: ParsedFile, bound: ast.expr) -> Iterator[Edit]:
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        yield from neighbours(file, bound.operand, least=1)
    elif isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Add | ast.Sub):
        yield from _without_one(file, bound)
        yield from neighbours(file, bound.right, least=1)
    elif isinstance(bound, ast.Name | ast.Attribute | ast.Call):
        source = file.source(bound)
        yield from file.replace(bound, source and f"{source} - 1")
        yield from file.replace(bound, source and f"{source} + 1")
    else:
        yield from neighbours(file, bound)


def _without_one(file: ParsedFile, sum_: ast.BinOp) -> Iterator[Edit]:
    """``n + 1`` and ``n - 1`` as ``n``."""
    sign = "+" if isinstance(sum_.op, ast.Add) else "-"
    span = file.span(sum_)
    if span is not None and isinstance(sum_.right, ast.Constant) and sum_.right.value == 1:
        for place in file.operator(sum_.left, sum_.right, sign, sign):
            kept = file.lines[span[0] - 1][span[1] : place.start].rstrip()
            yield from file.replace(sum_, kept)
