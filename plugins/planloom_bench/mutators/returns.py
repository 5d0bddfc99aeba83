"""A return value that is not the one meant: negated, one off, not converted, its parts exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .conditions import negated
from .numbers import neighbours, whole
from .parsed import Edit, ParsedFile, name_of

# What they return is still something that a caller can work with when their argument comes back instead.
_CONVERSIONS = frozenset({"abs", "float", "int", "list", "reversed", "round", "set", "sorted", "str", "tuple"})
_TRIMMING = frozenset({"casefold", "lower", "lstrip", "rstrip", "strip", "upper"})
_COUNTS = frozenset({"len", "sum", "int", "round", "abs", "count", "index"})


def changed_returns(file: ParsedFile) -> Iterator[Edit]:
    """Every ``return`` of a value, with a value that is near it."""
    for node in file.nodes(ast.Return):
        value = node.value
        if isinstance(value, ast.Constant):
            yield from _constant(file, value)
        elif isinstance(value, ast.UnaryOp):
            yield from _signed(file, value)
        elif isinstance(value, ast.Compare):
            yield from negated(file, value)
        elif isinstance(value, ast.Tuple) and len(value.elts) == 2:
            yield from file.swap(*value.elts)
        elif isinstance(value, ast.IfExp):
            yield from _branches(file, value)
        elif isinstance(value, ast.BinOp):
            yield from _operands(file, value)
        elif isinstance(value, ast.Call):
            yield from _call(file, value)


def _constant(file: ParsedFile, value: ast.Constant) -> Iterator[Edit]:
    if isinstance(value.value, bool):
        yield from file.replace(value, str(not value.value))
    else:
        yield from neighbours(file, value)


def _signed(file: ParsedFile, value: ast.UnaryOp) -> Iterator[Edit]:
    if isinstance(value.op, ast.Not):
        yield from negated(file, value)
    elif isinstance(value.op, ast.USub):
        if whole(file, value.operand) == 1:
            yield from file.replace(value, "0")
        else:
            yield from file.replace(value, file.source(value.operand))


def _branches(file: ParsedFile, value: ast.IfExp) -> Iterator[Edit]:
    """``a if test else b`` as ``b if test else a``."""
    yield from file.swap(value.body, value.orelse)


def _operands(file: ParsedFile, value: ast.BinOp) -> Iterator[Edit]:
    """``a - b`` as ``b - a``, where the order matters and both sides are simple enough to be confused."""
    plain = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    ordered = isinstance(value.op, ast.Add | ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow)
    if ordered and isinstance(value.left, plain) and isinstance(value.right, plain):
        yield from file.swap(value.left, value.right)


def _call(file: ParsedFile, value: ast.Call) -> Iterator[Edit]:
    name, source = name_of(value.func), file.source(value)
    if name in _CONVERSIONS and isinstance(value.func, ast.Name) and len(value.args) == 1 and not value.keywords:
        yield from file.replace(value, file.source(value.args[0]))
    elif name in _TRIMMING and isinstance(value.func, ast.Attribute):
        yield from file.replace(value, file.source(value.func.value))
    elif name in ("any", "all") or name.startswith(("is_", "has_")):
        yield from file.replace(value, source and f"not {source}")
    if name in _COUNTS:
        yield from file.replace(value, source and f"{source} - 1")
        yield from file.replace(value, source and f"{source} + 1")
