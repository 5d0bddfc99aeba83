"""min-max-against-target: a name that says smallest is given the largest, or the other way round.

A clamp looks alike and is right: ``min_size = max(min_size, 1)`` keeps a lower limit from falling. So calls of
several arguments count only when none of them is a literal or speaks of an extreme itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ._words import extreme_meant, last_name, number, quoted
from .parsed import ParsedFile
from .rules import Hit

_OTHER = {"min": "max", "max": "min"}


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find names of an extreme that are given the other one."""
    for node, _ in file.sites(ast.Assign):
        if len(node.targets) == 1:
            yield from _compared(last_name(node.targets[0]), node.value)
    for declared, _ in file.sites(ast.AnnAssign):
        if declared.value is not None:
            yield from _compared(last_name(declared.target), declared.value)


def _compared(name: str, value: ast.expr) -> Iterator[Hit]:
    meant = extreme_meant(name)
    if not meant or _taken(value) != _OTHER[meant]:
        return
    yield Hit(
        line=value.lineno,
        claim=f"`{name}` speaks of the {meant}imum and is given the {_OTHER[meant]}imum: `{quoted(value)}`",
        failing_call=quoted(value),
        expected=f"the {meant}imum of the same values",
    )


def _taken(value: ast.expr) -> str:
    """Which extreme an expression takes, give or take a number: ``min``, ``max``, or an empty text for neither."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub) and number(value.right) is not None:
        value = value.left
    match value:
        case ast.Call(func=ast.Name(id="min" | "max" as taken), args=[single], keywords=keywords):
            return "" if _keyed_backwards(keywords) or _speaks_of_extremes(single) else taken
        case ast.Call(func=ast.Name(id="min" | "max" as taken), args=[_, _, *_] as several):
            return "" if any(map(_speaks_of_extremes, several)) else taken
        case ast.Subscript(value=ast.Call(func=ast.Name(id="sorted"), args=[_], keywords=keywords), slice=index):
            return _from_sorted(keywords, number(index))
    return ""


def _from_sorted(keywords: list[ast.keyword], index: float | None) -> str:
    backwards = [keyword.value for keyword in keywords if keyword.arg == "reverse"]
    if any(keyword.arg != "reverse" for keyword in keywords) or index not in (0, -1):
        return ""
    if backwards and not isinstance(backwards[0], ast.Constant):
        return ""
    ascending = not backwards or not backwards[0].value  # type: ignore[attr-defined]  # a Constant, tested above
    return "min" if ascending == (index == 0) else "max"


def _keyed_backwards(keywords: list[ast.keyword]) -> bool:
    """Whether a key may turn the order round: any key may, since what it measures is not known."""
    return any(keyword.arg == "key" for keyword in keywords)


def _speaks_of_extremes(node: ast.expr) -> bool:
    if isinstance(node, ast.Starred):
        node = node.value
    if number(node) is not None:
        return True
    names = (last_name(inner) for inner in ast.walk(node))
    return any(extreme_meant(name) or name in ("min", "max", "inf") for name in names)
