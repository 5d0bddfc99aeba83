"""Two arguments of a call in the wrong order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from .parsed import Edit, ParsedFile, name_of

# Calls that do not mind the order, and calls where another order is no mistake that anybody makes.
_SYMMETRIC = frozenset(
    {"add", "allclose", "dist", "gcd", "hypot", "intersection", "isclose", "lcm", "max", "min", "mul", "print", "union"}
    | {"and_", "eq", "ne", "or_", "set", "symmetric_difference", "xor"}
)
_FIXED = frozenset({"delattr", "filter", "getattr", "hasattr", "isinstance", "issubclass", "map", "reduce", "setattr"})


def swapped_arguments(file: ParsedFile) -> Iterator[Edit]:
    """Neighbouring positional arguments exchanged."""
    for node in file.nodes(ast.Call):
        name = name_of(node.func)
        if not name or name in _SYMMETRIC | _FIXED or any(isinstance(arg, ast.Starred) for arg in node.args):
            continue
        for first, second in pairwise(node.args):
            if _may_be_confused(first, second):
                yield from file.swap(first, second)


def _may_be_confused(first: ast.expr, second: ast.expr) -> bool:
    if ast.dump(first) == ast.dump(second):
        return False
    texts = [isinstance(node, ast.Constant) and isinstance(node.value, str) for node in (first, second)]
    numbers = [isinstance(node, ast.Constant) and not isinstance(node.value, str) for node in (first, second)]
    unlike = (texts[0] and numbers[1]) or (numbers[0] and texts[1])
    odd = (ast.GeneratorExp, ast.Lambda, ast.NamedExpr)
    return not unlike and not isinstance(first, odd) and not isinstance(second, odd)
