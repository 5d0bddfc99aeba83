"""The words of a name, and which of them speak of the smallest or the largest."""

from __future__ import annotations

import ast
import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SMALL = frozenset(
    (
        "min",
        "minima",
        "minimum",
        "minimal",
        "smallest",
        "lowest",
        "least",
        "earliest",
        "shortest",
        "nearest",
        "closest",
        "cheapest",
    )
)
_LARGE = frozenset(
    (
        "max",
        "maxima",
        "maximum",
        "maximal",
        "largest",
        "biggest",
        "highest",
        "greatest",
        "latest",
        "longest",
        "farthest",
        "furthest",
    )
)

QUOTE_CHARS = 120
"""Code quoted in a claim is cut here, so that two quotations and the rule's record fit into 400 characters."""


def words_of(name: str) -> list[str]:
    """Return the lower-case words of a snake-case or camel-case name."""
    return [word.lower() for word in _WORD.findall(name)]


def extreme_meant(name: str) -> str:
    """Return ``min`` or ``max`` when a name speaks of that extreme alone, else an empty text."""
    words = set(words_of(name))
    small, large = bool(words & _SMALL), bool(words & _LARGE)
    if small == large:
        return ""
    return "min" if small else "max"


def last_name(node: ast.AST) -> str:
    """Return the identifier that a name or an attribute ends on, or an empty text."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def quoted(node: ast.AST, limit: int = QUOTE_CHARS) -> str:
    """Return code on one line, cut to a length."""
    try:
        text = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        return "..."
    return text if len(text) <= limit else text[: limit - 3] + "..."


def number(node: ast.AST) -> int | float | None:
    """Return the value of a literal number, a sign included, or ``None``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None
