"""Assignments, ``if``, ``return`` and the other simple statements."""

from __future__ import annotations

from typing import Any

from planlang._nodes import (
    GLOBAL,
    LOCAL,
    Assign,
    AugAssign,
    Break,
    Continue,
    ExprStatement,
    If,
    Name,
    Node,
    Pass,
    Return,
    Subscript,
)

from .arithmetic import binary, in_place
from .blocks import BREAK, CONTINUE, RETURN, block
from .context import HEADER, Build, Code, Run, tallest, then
from .names import name as read_name
from .subscripts import get_item, set_item
from .targets import Setter, name_setter, subscript_parts, target
from .values import Frame

__all__ = ["assign", "aug_assign", "expression", "if_statement", "jump", "return_statement"]


def expression(build: Build, node: ExprStatement) -> Code:
    """Return code that evaluates an expression for its effects."""
    value = build.code(node.value)
    evaluate = value.run
    if value.waits:
        return then(value, lambda _frame, _value: None, value.height + 1)

    def run(frame: Frame) -> None:
        evaluate(frame)

    return Code(run, False, value.height + 1)


def jump(_build: Build, node: Pass | Break | Continue) -> Code:
    """Return code for ``pass``, ``break`` and ``continue``."""
    signal = BREAK if isinstance(node, Break) else CONTINUE if isinstance(node, Continue) else None
    return Code(lambda _frame: signal, False, 1)


def assign(build: Build, node: Assign) -> Code:
    """Return code for ``a = b = value``: the value first, then the targets from left to right."""
    value = build.code(node.value)
    setters = [target(build, each) for each in node.targets]
    height = 1 + max(value.height, *(setter.height for setter in setters))
    if value.waits and len(setters) == 1 and not setters[0].waits:
        return then(value, setters[0].run, height)
    if value.waits or any(setter.waits for setter in setters):
        return Code(_assign_waiting(value, setters), True, height)
    evaluate = value.run
    if len(setters) > 1:

        def run_many(frame: Frame) -> None:
            made = evaluate(frame)
            for setter in setters:
                setter.run(frame, made)

        return Code(run_many, False, height)
    first = node.targets[0]
    if isinstance(first, Name) and first.kind in (GLOBAL, LOCAL):
        return _store_name(build, first, evaluate, height)
    store = setters[0].run

    def run(frame: Frame) -> None:
        store(frame, evaluate(frame))

    return Code(run, False, height)


def _store_name(build: Build, node: Name, evaluate: Run, height: int) -> Code:
    cells, at, slot = build.globals, node.slot, node.slot + HEADER

    def run_global(frame: Frame) -> None:
        cells[at] = evaluate(frame)

    def run_local(frame: Frame) -> None:
        frame[slot] = evaluate(frame)

    if node.kind == GLOBAL:
        return Code(run_global, False, height)
    return Code(run_local, False, height, into=slot, value=evaluate)


def _assign_waiting(value: Code, setters: list[Setter]) -> Run:
    async def run(frame: Frame) -> None:
        made = await value.run(frame) if value.waits else value.run(frame)
        for setter in setters:
            if setter.waits:
                await setter.run(frame, made)
            else:
                setter.run(frame, made)

    return run


def aug_assign(build: Build, node: AugAssign) -> Code:
    """Return code for ``target op= value``; containers that can change in place do."""
    if isinstance(node.target, Subscript):
        return _aug_subscript(build, node, node.target)
    assert isinstance(node.target, Name), "the parser lets nothing else be the target"
    value = build.code(node.value)
    slow = in_place(build, node.op, node.start)
    read = read_name(build, node.target)
    height = 6 + value.height
    if not value.waits:
        combined = binary(build, node.op, read, value, node.value, slow)
        if node.target.kind in (GLOBAL, LOCAL):
            return _store_name(build, node.target, combined, height)
        store = name_setter(build, node.target)
        return Code(lambda frame: store(frame, combined(frame)), False, height)
    put = name_setter(build, node.target)
    slot = read.slot
    if slot:  # nothing can bind it anew while the value is waited for
        return then(value, lambda frame, made: put(frame, slow(frame, frame[slot], made)), height)

    async def run(frame: Frame) -> None:
        before = read.run(frame)
        put(frame, slow(frame, before, await value.run(frame)))

    return Code(run, True, height)


def _aug_subscript(build: Build, node: AugAssign, place: Subscript) -> Code:
    parts, index_of = subscript_parts(build, place)
    parts = [*parts, build.code(node.value)]
    slow, fail = in_place(build, node.op, node.start), build.fail
    height = 8 + tallest(parts)

    def before(frame: Frame, values: list[Any]) -> tuple[Any, Any]:
        try:
            index = index_of(values)
            return index, get_item(frame, values[0], index)
        except Exception as error:
            raise fail(place.start, error) from error.__cause__

    def store(frame: Frame, container: Any, index: Any, value: Any) -> None:
        try:
            set_item(frame, container, index, value)
        except Exception as error:
            raise fail(place.start, error) from error.__cause__

    def run(frame: Frame) -> None:
        values = [part.run(frame) for part in parts[:-1]]
        index, old = before(frame, values)
        store(frame, values[0], index, slow(frame, old, parts[-1].run(frame)))

    if not any(part.waits for part in parts):
        return Code(run, False, height)

    async def run_waiting(frame: Frame) -> None:
        values = [await part.run(frame) if part.waits else part.run(frame) for part in parts[:-1]]
        index, old = before(frame, values)
        last = parts[-1]
        value = await last.run(frame) if last.waits else last.run(frame)
        store(frame, values[0], index, slow(frame, old, value))

    return Code(run_waiting, True, height)


def if_statement(build: Build, node: If) -> Code:
    """Return code for ``if ... elif ... else``."""
    tests = build.codes(node.tests)
    bodies = [block(build, body) for body in node.bodies]
    orelse = block(build, node.orelse) if node.orelse else None
    everything = [*tests, *bodies, *([orelse] if orelse is not None else [])]
    height = 1 + tallest(everything)
    if any(code.waits for code in everything):
        return Code(_if_waiting(tests, bodies, orelse), True, height)
    otherwise = orelse.run if orelse is not None else None
    if len(tests) == 1:
        return Code(_if_one(tests[0].run, bodies[0].run, otherwise), False, height)
    arms = [(test.run, body.run) for test, body in zip(tests, bodies, strict=True)]

    def run(frame: Frame) -> Any:
        for test, body in arms:
            if test(frame):
                return body(frame)
        return None if otherwise is None else otherwise(frame)

    return Code(run, False, height)


def _if_one(test: Run, body: Run, otherwise: Run | None) -> Run:
    def run(frame: Frame) -> Any:
        return body(frame) if test(frame) else None

    def run_else(frame: Frame) -> Any:
        return body(frame) if test(frame) else otherwise(frame)  # type: ignore[misc] # chosen only when it is there

    return run if otherwise is None else run_else


def _if_waiting(tests: list[Code], bodies: list[Code], orelse: Code | None) -> Run:
    async def run(frame: Frame) -> Any:
        for test, body in zip(tests, bodies, strict=True):
            if await test.run(frame) if test.waits else test.run(frame):
                return await body.run(frame) if body.waits else body.run(frame)
        if orelse is None:
            return None
        return await orelse.run(frame) if orelse.waits else orelse.run(frame)

    return run


def return_statement(build: Build, node: Return) -> Code:
    """Return code for ``return``."""
    value: Node | None = node.value
    if value is None:
        return Code(lambda _frame: RETURN, False, 1)
    code = build.code(value)
    evaluate = code.run

    def run(frame: Frame) -> Any:
        frame[3] = evaluate(frame)
        return RETURN

    def keep(frame: Frame, made: Any) -> Any:
        frame[3] = made
        return RETURN

    if code.waits:
        return then(code, keep, code.height + 1)
    return Code(run, False, code.height + 1)
