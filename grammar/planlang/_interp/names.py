"""Reading names and constants."""

from __future__ import annotations

from typing import Any

from planlang._nodes import BUILTIN, CELL, GLOBAL, LOCAL, WORD, Constant, Name

from .builtins import BUILTINS
from .context import HEADER, Build, Code, Run
from .values import UNBOUND, Frame

__all__ = ["constant", "name"]


def constant(_build: Build, node: Constant) -> Code:
    """Return code that gives the constant."""
    value = node.value
    return Code(lambda _frame: value, False, 1)


def name(build: Build, node: Name) -> Code:
    """Return code that reads the name; an unbound one fails as in CPython."""
    slot = node.slot + HEADER if node.kind == LOCAL and node.certain else 0
    return Code(_READERS[node.kind](build, node), False, 2, slot)


def _unbound(build: Build, node: Name) -> Any:
    if node.kind == GLOBAL:
        return build.fail(node.start, NameError(f"name '{node.id}' is not defined"))
    return build.fail(
        node.start,
        UnboundLocalError(f"cannot access local variable '{node.id}' where it is not associated with a value"),
    )


def _local(build: Build, node: Name) -> Run:
    slot = node.slot + HEADER

    def run(frame: Frame) -> Any:
        return frame[slot]

    def run_checked(frame: Frame) -> Any:
        value = frame[slot]
        if value is UNBOUND:
            raise _unbound(build, node)
        return value

    return run if node.certain else run_checked


def _cell(build: Build, node: Name) -> Run:
    slot = node.slot + HEADER

    def run(frame: Frame) -> Any:
        value = frame[slot][0]
        if value is UNBOUND:
            raise _unbound(build, node)
        return value

    return run


def _global(build: Build, node: Name) -> Run:
    slot, cells = node.slot, build.globals

    def run(_frame: Frame) -> Any:
        return cells[slot]

    def run_checked(_frame: Frame) -> Any:
        value = cells[slot]
        if value is UNBOUND:
            raise _unbound(build, node)
        return value

    return run if node.certain else run_checked


def _word(build: Build, node: Name) -> Run:
    value: Any = build.words.get(node.id)
    if value is None:
        value = build.values[node.id]
    return lambda _frame: value


def _builtin(_build: Build, node: Name) -> Run:
    value = BUILTINS[node.id]
    return lambda _frame: value


_READERS = {LOCAL: _local, CELL: _cell, GLOBAL: _global, WORD: _word, BUILTIN: _builtin}
