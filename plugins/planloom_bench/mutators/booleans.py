"""``and`` where ``or`` belongs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from .parsed import Edit, ParsedFile


def boolean_operators(file: ParsedFile) -> Iterator[Edit]:
    """Every ``and`` as ``or``, every ``or`` as ``and``, but not between operands that are the same."""
    for node in file.nodes(ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            if ast.dump(left) != ast.dump(right):
                yield from file.operator(left, right, old, new)
