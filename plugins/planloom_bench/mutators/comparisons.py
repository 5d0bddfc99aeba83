"""The boundary of a comparison: ``<`` where ``<=`` belongs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .parsed import Edit, ParsedFile

_FLIPPED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}


def boundaries(file: ParsedFile) -> Iterator[Edit]:
    """Every ordering, with or without equality the other way round."""
    for node in file.nodes(ast.Compare):
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, node.comparators, strict=False):
            if type(op) in _FLIPPED and not _is_about_versions(left):
                yield from file.operator(left, right, *_FLIPPED[type(op)])


def _is_about_versions(node: ast.expr) -> bool:
    return "version" in ast.dump(node).lower()
