"""A wrong arithmetic operator, but not where the operands are plainly texts or lists, or nothing would change."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .parsed import Edit, ParsedFile, name_of

OPERATORS: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("+", "//")),
    ast.Div: ("/", ("*", "//")),
    ast.FloorDiv: ("//", ("/", "%")),
    ast.Mod: ("%", ("//",)),
    ast.Pow: ("**", ("*",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.BitXor: ("^", ("|",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
}
_NEUTRAL = {"+": 0, "-": 0, "*": 1, "/": 1, "//": 1, "**": 1, "<<": 0, ">>": 0}
_TEXT_CALLS = frozenset(
    {"bytes", "chr", "dict", "format", "hex", "join", "list", "lower", "repr", "replace", "sorted", "str", "strip"}
    | {"ljust", "lstrip", "rjust", "rstrip", "split", "tuple", "upper", "zfill"}
)
_SEQUENCES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)


def operators(file: ParsedFile) -> Iterator[Edit]:
    """Every arithmetic operator between values that may be numbers, as one that is easily written instead."""
    for node in file.nodes(ast.BinOp):
        old, others = OPERATORS.get(type(node.op), ("", ()))
        if _is_sequence(node.left) or _is_sequence(node.right):
            continue
        for new in others:
            if not _same_value(node.right, old, new):
                yield from file.operator(node.left, node.right, old, new)


def _is_sequence(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or (isinstance(node.op, ast.Add) and _is_sequence(node.right))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    if isinstance(node, ast.Call):
        return name_of(node.func) in _TEXT_CALLS
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice)
    return isinstance(node, _SEQUENCES)


def _same_value(right: ast.expr, old: str, new: str) -> bool:
    """Whether the right operand leaves every number as it is under both operators: ``x * 1`` and ``x // 1``."""
    if not isinstance(right, ast.Constant) or type(right.value) not in (int, float):
        return False
    neutral = (_NEUTRAL.get(old), _NEUTRAL.get(new))
    return all(value is not None and value == right.value for value in neutral)
