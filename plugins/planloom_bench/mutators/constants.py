"""A wrong constant: a number near the right one or one with its digits mixed up, a flag the other way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .numbers import neighbours, whole
from .parsed import Edit, ParsedFile, name_of

_DECIMAL = re.compile(r"\d+\.\d+")


def wrong_constants(file: ParsedFile) -> Iterator[Edit]:
    """Numbers and flags in expressions; what bounds, indices, starts, steps and returns hold has kinds of its own."""
    for node in file.nodes(ast.Constant):
        if not _belongs_elsewhere(file, node):
            yield from _numbers(file, node)
            yield from _flags(file, node)


def _belongs_elsewhere(file: ParsedFile, node: ast.Constant) -> bool:
    parent = file.parent(node)
    if isinstance(parent, ast.UnaryOp):
        parent = file.parent(parent)
    if isinstance(parent, ast.Call):
        return name_of(parent.func) in ("range", "enumerate")
    if isinstance(parent, ast.Assign):
        return all(isinstance(target, ast.Name) for target in parent.targets) and _is_updated(file, parent)
    return isinstance(parent, ast.Subscript | ast.Slice | ast.Return | ast.AugAssign | ast.While)


def _is_updated(file: ParsedFile, start: ast.Assign) -> bool:
    names = {name_of(target) for target in start.targets}
    return any(
        isinstance(node, ast.AugAssign) and name_of(node.target) in names for node in ast.walk(file.function(start))
    )


def _numbers(file: ParsedFile, node: ast.Constant) -> Iterator[Edit]:
    value, source = whole(file, node), file.source(node)
    if value is not None:
        yield from neighbours(file, node, least=1)
        yield from _mixed_digits(file, node, str(value))
        if value >= 100 and value % 10 == 0:
            yield from file.replace(node, str(value // 10))
    elif source and _DECIMAL.fullmatch(source):
        yield from _mixed_digits(file, node, source)
        yield from file.replace(node, source[:-1] + str((int(source[-1]) + 1) % 10))


def _mixed_digits(file: ParsedFile, node: ast.Constant, source: str) -> Iterator[Edit]:
    """The last two digits exchanged, where the number stays written as numbers are."""
    last = source[-2:]
    mixed = source[:-2] + last[::-1]
    if last.isdecimal() and ("." in mixed or not mixed.startswith("0")):
        yield from file.replace(node, mixed)


def _flags(file: ParsedFile, node: ast.Constant) -> Iterator[Edit]:
    parent = file.parent(node)
    if isinstance(node.value, bool) and not (isinstance(parent, ast.keyword) and parent.arg == "reverse"):
        yield from file.replace(node, str(not node.value))
