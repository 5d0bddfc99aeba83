"""start-value: a running sum or product that starts at another value than the neutral one.

``product = 0`` followed by nothing but ``product *= x`` stays 0. A sum or a count that starts at 1 may be meant, which
is why this is a rule of the wide set.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from ._words import number, quoted, words_of
from .parsed import FunctionNode, ParsedFile
from .rules import Hit

_SUMS = frozenset(("sum", "total", "count", "counter", "cnt", "acc", "accumulator", "check", "checksum", "result", "s"))


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find accumulators that start at a value that is not neutral."""
    for function in file.functions:
        updates = _updates(function.node)
        for name, start in _starts(function.node):
            neutral = _neutral(name, updates.get(name, []))
            value = number(start.value)
            if neutral is not None and value is not None and _wrong(value, neutral):
                yield _hit(name, start, neutral)


def _starts(node: FunctionNode) -> Iterator[tuple[str, ast.Assign]]:
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name, statement


def _updates(node: FunctionNode) -> dict[str, list[ast.operator]]:
    """The operators by which names are updated in loops; a name that loops assign otherwise has an empty list."""
    found: dict[str, list[ast.operator]] = defaultdict(list)
    plain: set[str] = set()
    for loop in (inner for inner in ast.walk(node) if isinstance(inner, ast.For | ast.While)):
        for inner in ast.walk(loop):
            match inner:
                case ast.AugAssign(target=ast.Name(id=name), op=op):
                    found[name].append(op)
                case ast.Assign(targets=[ast.Name(id=name)]):
                    plain.add(name)
    return {name: ops for name, ops in found.items() if name not in plain}


def _neutral(name: str, ops: list[ast.operator]) -> int | None:
    if ops and all(isinstance(op, ast.Mult) for op in ops):
        return 1
    if ops and all(isinstance(op, ast.Add) for op in ops) and _SUMS & set(words_of(name)):
        return 0
    return None


def _wrong(value: float, neutral: int) -> bool:
    # A product may well start at a factor of its own, only never at 0.
    return value == 0 if neutral else abs(value) in (1, 2)


def _hit(name: str, start: ast.Assign, neutral: int) -> Hit:
    return Hit(
        line=start.lineno,
        claim=f"`{quoted(start)}` starts a running {'product' if neutral else 'sum'} at another value than {neutral}",
        failing_call=quoted(start),
        expected=f"`{name} = {neutral}`",
    )
