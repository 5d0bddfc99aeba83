"""A condition the wrong way round, written as a person would write it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .parsed import Edit, ParsedFile

_OPPOSITES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Lt: ("<", ">="),
    ast.GtE: (">=", "<"),
    ast.Gt: (">", "<="),
    ast.LtE: ("<=", ">"),
}


def negations(file: ParsedFile) -> Iterator[Edit]:
    """The tests of branches, loops, conditional expressions and filters, negated, and the operands of each."""
    for branch in file.nodes(ast.If):
        yield from _negated(file, branch.test)
    for loop in file.nodes(ast.While):
        yield from _negated(file, loop.test)
    for choice in file.nodes(ast.IfExp):
        yield from _negated(file, choice.test)
    for comprehension in file.nodes(ast.comprehension):
        for test in comprehension.ifs:
            yield from _negated(file, test)


def _negated(file: ParsedFile, test: ast.expr) -> Iterator[Edit]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _negated(file, value)
    else:
        yield from negated(file, test)


def negated(file: ParsedFile, test: ast.expr) -> Iterator[Edit]:
    """The edit that makes an expression say the opposite."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        source = file.source(test)
        yield from file.replace(test, source and source.removeprefix("not").lstrip())
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from file.operator(test.left, test.comparators[0], *_OPPOSITES[type(test.ops[0])])
    elif isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        source = file.source(test)
        yield from file.replace(test, source and f"not {source}")
