"""Whole numbers as they are written in source, and the numbers next to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .parsed import Edit, ParsedFile


def is_whole(node: ast.AST | None) -> bool:
    """Whether a node is a whole number written out."""
    return isinstance(node, ast.Constant) and type(node.value) is int


def whole(file: ParsedFile, node: ast.AST) -> int | None:
    """The number that a node writes in decimal digits; None for anything else."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        source = file.source(node)
        return node.value if source is not None and source.isdecimal() else None
    return None


def neighbours(file: ParsedFile, node: ast.expr, least: int = 0) -> Iterator[Edit]:
    """A decimal number as one more, and as one less where that is ``least`` or more."""
    value = whole(file, node)
    if value is not None:
        yield from file.replace(node, str(value + 1))
        if value > least:
            yield from file.replace(node, str(value - 1))
