"""What moves a loop on, changed: its update, its step, ``break`` and ``continue``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .arithmetic import OPERATORS
from .numbers import neighbours
from .parsed import Edit, Function, ParsedFile

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def changed_updates(file: ParsedFile) -> Iterator[Edit]:
    """Updates in loops with another operator, step or none at all; ``break`` for ``continue`` and back."""
    for update in file.nodes(ast.AugAssign):
        if _is_in_loop(file, update):
            yield from _changed(file, update)
    for leaving in file.nodes(ast.Break):
        yield from file.replace(leaving, "continue")
    for going_on in file.nodes(ast.Continue):
        yield from file.replace(going_on, "break")


def _is_in_loop(file: ParsedFile, node: ast.AST) -> bool:
    for around in file.ancestors(node):
        if isinstance(around, Function):
            return False
        if isinstance(around, _LOOPS):
            return True
    return False


def _changed(file: ParsedFile, update: ast.AugAssign) -> Iterator[Edit]:
    old, others = OPERATORS.get(type(update.op), ("", ()))
    if not old:
        return
    texts = isinstance(update.value, ast.JoinedStr | ast.List | ast.ListComp) or (
        isinstance(update.value, ast.Constant) and isinstance(update.value.value, str)
    )
    for new in () if texts else others:
        yield from file.operator(update.target, update.value, f"{old}=", f"{new}=")
    yield from file.operator(update.target, update.value, f"{old}=", "=")
    yield from neighbours(file, update.value, least=1)
