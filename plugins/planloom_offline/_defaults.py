"""inverted-default: a parameter that loses what was given for it, and stays None where nothing was.

``if limit is not None: limit = 10`` does the opposite of a default. It counts where the parameter's own default is None
and its new value has nothing to do with the old one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ._words import quoted
from .parsed import Function, ParsedFile
from .rules import Hit


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find defaults that are given to what needs none."""
    for node, function in file.sites(ast.If):
        match node:
            case ast.If(body=[ast.Assign(targets=[ast.Name(id=name)], value=value)], orelse=[]):
                if function is not None and _is_given(node.test, name) and _is_default(function, name, value):
                    yield _hit(node, name, value)
    for assigned, function in file.sites(ast.Assign):
        match assigned:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.IfExp(test=test, body=value, orelse=ast.Name(id=kept))
            ):
                if (
                    function is not None
                    and kept == name
                    and _is_given(test, name)
                    and _is_default(function, name, value)
                ):
                    yield _hit(assigned, name, value)


def _is_given(test: ast.expr, name: str) -> bool:
    match test:
        case ast.Compare(
            left=ast.Name(id=tested), ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None)]
        ):
            return tested == name
        case ast.Name(id=tested):
            return tested == name
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[ast.Is() | ast.Eq()], comparators=[right])):
            is_none = isinstance(right, ast.Constant) and right.value is None
            return is_none and isinstance(left, ast.Name) and left.id == name
    return False


def _is_default(function: Function, name: str, value: ast.expr) -> bool:
    """Whether a parameter is None by default, and a value is not None and does not come of it."""
    given = function.node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = dict(zip([one.arg for one in plain[len(plain) - len(given.defaults) :]], given.defaults, strict=True))
    defaults |= {one.arg: default for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default}
    default = defaults.get(name)
    if not isinstance(default, ast.Constant) or default.value is not None:
        return False
    is_none = isinstance(value, ast.Constant) and value.value is None
    return not is_none and not any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))


def _hit(node: ast.stmt, name: str, value: ast.expr) -> Hit:
    return Hit(
        line=node.lineno,
        claim=f"`{name}` becomes `{quoted(value)}` only when something else was given, and stays None otherwise",
        failing_call=quoted(node.test if isinstance(node, ast.If) else node),
        expected=f"`{name} is None`",
    )
