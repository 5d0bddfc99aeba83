"""A wrong start value: what a variable holds before a loop or a branch changes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .numbers import whole
from .parsed import Edit, ParsedFile, name_of


def start_values(file: ParsedFile) -> Iterator[Edit]:
    """Numbers and flags given to variables that the function changes afterwards."""
    for node in file.nodes(ast.Assign):
        for name, value in _pairs(node):
            if _is_changed_later(file, node, name):
                yield from _other_starts(file, value)


def _pairs(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from ((name_of(one), value) for one, value in zip(target.elts, node.value.elts, strict=False))


def _is_changed_later(file: ParsedFile, start: ast.Assign, name: str) -> bool:
    return any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id == name
        and node.lineno > start.lineno
        for node in ast.walk(file.function(start))
    )


def _other_starts(file: ParsedFile, value: ast.expr) -> Iterator[Edit]:
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        yield from file.replace(value, str(not value.value))
    elif isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        if whole(file, value.operand) == 1:
            yield from file.replace(value, "0")
    elif isinstance(value, ast.List) and len(value.elts) == 1:
        yield from _other_starts(file, value.elts[0])
    else:
        yield from _other_numbers(file, value)


def _other_numbers(file: ParsedFile, value: ast.expr) -> Iterator[Edit]:
    number, source = whole(file, value), file.source(value)
    if number is not None:
        yield from file.replace(value, str(number + 1))
        if number > 0:
            yield from file.replace(value, str(number - 1))
    elif source in ("0.0", "1.0"):
        yield from file.replace(value, "1.0" if source == "0.0" else "0.0")
