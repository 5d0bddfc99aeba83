"""Chains of operators, unary operators, and the augmented ones.

Exact integers take a fast path written out for each operator: it saves a third of an arithmetic loop and so pays
for all the charging. Everything else goes to the charged operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, mul, sub
from typing import Any, Final

from planlang._nodes import Chain, Constant, Node, Unary

from .context import Build, Code, Run, eager, tallest, then
from .iterate import items_of
from .operators import BINARY, IN_PLACE, UNARY, Operator, extend_list
from .values import Frame, PlanList

__all__ = ["binary", "chain", "in_place", "unary"]

Slow = Callable[[Frame, Any, Any], Any]
_NESTED: Final = 4  # longer chains are folded in a loop, so that they take one host frame


def _slow(build: Build, operator: Operator, offset: int) -> Slow:
    fail = build.fail

    def apply(frame: Frame, left: Any, right: Any) -> Any:
        try:
            return operator(frame[0], left, right)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return apply


def _operand(code: Code) -> tuple[Run, int]:
    """Return how to read an operand: a name that is surely bound is read from its slot, which saves a call."""
    return code.run, code.slot


def _add(build: Build, left: Code, right: Code, slow: Slow) -> Run:
    (left_run, left_slot), (right_run, right_slot) = _operand(left), _operand(right)
    few, many, low, high = build.meter.few, build.meter.many, build.meter.low, build.meter.high

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        y = frame[right_slot] if right_slot else right_run(frame)
        if type(x) is int and type(y) is int:
            z = x + y
            if few <= z <= many or low <= z <= high:
                return z
        return slow(frame, x, y)

    return run


def _subtract(build: Build, left: Code, right: Code, slow: Slow) -> Run:
    (left_run, left_slot), (right_run, right_slot) = _operand(left), _operand(right)
    few, many, low, high = build.meter.few, build.meter.many, build.meter.low, build.meter.high

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        y = frame[right_slot] if right_slot else right_run(frame)
        if type(x) is int and type(y) is int:
            z = x - y
            if few <= z <= many or low <= z <= high:
                return z
        return slow(frame, x, y)

    return run


def _multiply(build: Build, left: Code, right: Code, slow: Slow) -> Run:
    (left_run, left_slot), (right_run, right_slot) = _operand(left), _operand(right)
    few, many, low, high = build.meter.few, build.meter.many, build.meter.low, build.meter.high

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        y = frame[right_slot] if right_slot else right_run(frame)
        if type(x) is int and type(y) is int:
            z = x * y
            if few <= z <= many or low <= z <= high:
                return z
        return slow(frame, x, y)

    return run


def _floor(build: Build, left: Code, right: Code, slow: Slow) -> Run:
    (left_run, left_slot), (right_run, right_slot) = _operand(left), _operand(right)
    high = build.meter.high

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        y = frame[right_slot] if right_slot else right_run(frame)
        if type(x) is int and type(y) is int and y:
            z = x // y
            if z <= high:
                return z
        return slow(frame, x, y)

    return run


def _modulo(_build: Build, left: Code, right: Code, slow: Slow) -> Run:
    (left_run, left_slot), (right_run, right_slot) = _operand(left), _operand(right)

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        y = frame[right_slot] if right_slot else right_run(frame)
        if type(x) is int and type(y) is int and y:
            return x % y
        return slow(frame, x, y)

    return run


def _add_constant(build: Build, left: Code, y: int, slow: Slow) -> Run:
    left_run, left_slot = _operand(left)
    few, many, low, high = build.meter.few, build.meter.many, build.meter.low, build.meter.high

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        if type(x) is int:
            z = x + y
            if few <= z <= many or low <= z <= high:
                return z
        return slow(frame, x, y)

    return run


def _subtract_constant(build: Build, left: Code, y: int, slow: Slow) -> Run:
    left_run, left_slot = _operand(left)
    few, many, low, high = build.meter.few, build.meter.many, build.meter.low, build.meter.high

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        if type(x) is int:
            z = x - y
            if few <= z <= many or low <= z <= high:
                return z
        return slow(frame, x, y)

    return run


def _multiply_constant(build: Build, left: Code, y: int, slow: Slow) -> Run:
    left_run, left_slot = _operand(left)
    few, many, low, high = build.meter.few, build.meter.many, build.meter.low, build.meter.high

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        if type(x) is int:
            z = x * y
            if few <= z <= many or low <= z <= high:
                return z
        return slow(frame, x, y)

    return run


def _modulo_constant(_build: Build, left: Code, y: int, slow: Slow) -> Run:
    left_run, left_slot = _operand(left)

    def run(frame: Frame) -> Any:
        x = frame[left_slot] if left_slot else left_run(frame)
        if type(x) is int and y:
            return x % y
        return slow(frame, x, y)

    return run


_FAST: Final = {"+": _add, "-": _subtract, "*": _multiply, "//": _floor, "%": _modulo}
_NATIVE: Final[dict[str, Callable[[int, int], int]]] = {"+": add, "-": sub, "*": mul}
_CONSTANT: Final = {
    "+": _add_constant,
    "-": _subtract_constant,
    "*": _multiply_constant,
    "%": _modulo_constant,
}


def binary(build: Build, op: str, left: Code, right: Code, right_node: Node, slow: Slow) -> Run:
    """Return a closure for ``left op right`` whose operands cannot wait."""
    if op in _CONSTANT and type(right_node) is Constant and type(right_node.value) is int:
        return _CONSTANT[op](build, left, right_node.value, slow)
    if op in _FAST:
        return _FAST[op](build, left, right, slow)

    left_run, right_run = left.run, right.run

    def run(frame: Frame) -> Any:
        return slow(frame, left_run(frame), right_run(frame))

    return run


def chain(build: Build, node: Chain) -> Code:
    """Return code for operators of one precedence, applied from left to right."""
    parts = build.codes(node.operands)
    slows = [_slow(build, BINARY[op], node.start) for op in node.ops]
    height = tallest(parts) + 5
    if any(part.waits for part in parts):
        return _chain_waiting(build, parts, node.ops, slows, height)
    if len(parts) > _NESTED:
        return Code(_chain_folded(parts, slows), False, height)
    left = parts[0]
    for number, op in enumerate(node.ops):
        run = binary(build, op, left, parts[number + 1], node.operands[number + 1], slows[number])
        left = Code(run, False, height + len(parts))
    return left


def _chain_folded(parts: list[Code], slows: list[Slow]) -> Run:
    first = parts[0].run
    rest = [(slow, part.run) for slow, part in zip(slows, parts[1:], strict=True)]

    def run(frame: Frame) -> Any:
        value = first(frame)
        for slow, part in rest:
            value = slow(frame, value, part(frame))
        return value

    return run


def _chain_waiting(build: Build, parts: list[Code], ops: Sequence[str], slows: list[Slow], height: int) -> Code:
    applied = [_applied(build, op, slow) for op, slow in zip(ops, slows, strict=True)]
    first, rest = parts[0], list(zip(applied, parts[1:], strict=True))
    slot = first.slot
    if slot and len(parts) == 2:  # nothing can bind it anew while the other one is waited for
        apply = applied[0]
        return then(parts[1], lambda frame, right: apply(frame, frame[slot], right), height)
    if not any(part.waits for part in parts[1:]):
        return then(first, lambda frame, value: _fold(frame, value, rest), height)

    async def run(frame: Frame) -> Any:
        value = await first.run(frame) if first.waits else first.run(frame)
        for apply, part in rest:
            value = apply(frame, value, await part.run(frame) if part.waits else part.run(frame))
        return value

    return Code(run, True, height)


def _fold(frame: Frame, value: Any, rest: Sequence[tuple[Slow, Code]]) -> Any:
    for apply, part in rest:
        value = apply(frame, value, part.run(frame))
    return value


def _applied(build: Build, op: str, slow: Slow) -> Slow:
    """Return the operator with a fast path for exact integers, where it has one."""
    native = _NATIVE.get(op)
    few, many, low, high = build.meter.few, build.meter.many, build.meter.low, build.meter.high
    if native is None:
        return slow

    def apply(frame: Frame, left: Any, right: Any) -> Any:
        if type(left) is int and type(right) is int:
            made = native(left, right)
            if few <= made <= many or low <= made <= high:
                return made
        return slow(frame, left, right)

    return apply


def in_place(build: Build, op: str, offset: int) -> Slow:
    """Return the function for ``target op= value``, which changes lists, dicts and sets where they are."""
    slow = _slow(build, IN_PLACE[op], offset)
    if op != "+":
        return slow
    fail = build.fail

    def apply(frame: Frame, left: Any, right: Any) -> Any:
        if type(left) is not PlanList:
            return slow(frame, left, right)
        try:
            extend_list(frame[0], left, items_of(frame, right))
        except Exception as error:
            raise fail(offset, error) from error.__cause__
        return left

    return apply


def unary(build: Build, node: Unary) -> Code:
    """Return code for ``-x``, ``+x`` and ``not x``."""
    if node.op == "not":
        return eager(build, node.start, [build.code(node.operand)], lambda _frame, values: not values[0])
    operator = UNARY[node.op]
    return eager(build, node.start, [build.code(node.operand)], lambda frame, values: operator(frame[0], values[0]))
