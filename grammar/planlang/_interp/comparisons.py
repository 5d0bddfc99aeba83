"""Comparisons and what decides by truth: ``and``, ``or``, conditional expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from planlang._nodes import And, Compare, Conditional, Or

from .context import Build, Code, Run, tallest
from .iterate import membership
from .values import Frame, PlanDict, PlanSet
from .walk import LONG_KEY, equal, identical, order

__all__ = ["both", "compare", "conditional", "either"]

Test = Callable[[Frame, Any, Any], bool]


def _order_test(op: str) -> Test:
    return lambda frame, x, y: order(frame[0].meter, op, x, y)


_TESTS: Final[dict[str, Test]] = {
    "==": lambda frame, x, y: equal(frame[0].meter, x, y),
    "!=": lambda frame, x, y: not equal(frame[0].meter, x, y),
    **{op: _order_test(op) for op in ("<", "<=", ">", ">=")},
    "in": membership,
    "not in": lambda frame, x, y: not membership(frame, x, y),
    "is": lambda frame, x, y: identical(frame[0].meter, x, y),
    "is not": lambda frame, x, y: not identical(frame[0].meter, x, y),
}


def _less(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x < y
        return slow(frame, x, y)

    return run


def _less_equal(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x <= y
        return slow(frame, x, y)

    return run


def _greater(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x > y
        return slow(frame, x, y)

    return run


def _greater_equal(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x >= y
        return slow(frame, x, y)

    return run


def _equal(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x == y
        return slow(frame, x, y)

    return run


def _not_equal(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x != y
        return slow(frame, x, y)

    return run


def _member(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if ((type(x) is str and len(x) < LONG_KEY) or type(x) is int) and (type(y) is PlanDict or type(y) is PlanSet):
            return x in y
        return slow(frame, x, y)

    return run


def _no_member(left: Run, right: Run, slow: Test) -> Run:
    def run(frame: Frame) -> bool:
        x = left(frame)
        y = right(frame)
        if ((type(x) is str and len(x) < LONG_KEY) or type(x) is int) and (type(y) is PlanDict or type(y) is PlanSet):
            return x not in y
        return slow(frame, x, y)

    return run


def _any_test(left: Run, right: Run, slow: Test) -> Run:
    return lambda frame: slow(frame, left(frame), right(frame))


_FAST: Final = {
    "<": _less,
    "<=": _less_equal,
    ">": _greater,
    ">=": _greater_equal,
    "==": _equal,
    "!=": _not_equal,
    "in": _member,
    "not in": _no_member,
}


def _placed(build: Build, op: str, offset: int) -> Test:
    fail, test = build.fail, _TESTS[op]

    def apply(frame: Frame, left: Any, right: Any) -> bool:
        try:
            return test(frame, left, right)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return apply


def compare(build: Build, node: Compare) -> Code:
    """Return code for a chain of comparisons, which stops at the first that does not hold."""
    parts = build.codes(node.operands)
    tests = [_placed(build, op, node.start) for op in node.ops]
    height = tallest(parts) + 8
    if any(part.waits for part in parts):
        return Code(_compare_waiting(parts, tests), True, height)
    if len(tests) == 1:
        make = _FAST.get(node.ops[0], _any_test)
        return Code(make(parts[0].run, parts[1].run, tests[0]), False, height)
    rest = [(test, part.run) for test, part in zip(tests, parts[1:], strict=True)]
    first = parts[0].run

    def run(frame: Frame) -> bool:
        left = first(frame)
        for test, part in rest:
            right = part(frame)
            if not test(frame, left, right):
                return False
            left = right
        return True

    return Code(run, False, height)


def _compare_waiting(parts: list[Code], tests: list[Test]) -> Run:
    first = parts[0]
    rest = list(zip(tests, parts[1:], strict=True))

    async def run(frame: Frame) -> bool:
        left = await first.run(frame) if first.waits else first.run(frame)
        for test, part in rest:
            right = await part.run(frame) if part.waits else part.run(frame)
            if not test(frame, left, right):
                return False
            left = right
        return True

    return run


def both(build: Build, node: And) -> Code:
    """Return code for ``and``: the first false operand, or the last one."""
    return _decide(build.codes(node.operands), stop_at=False)


def either(build: Build, node: Or) -> Code:
    """Return code for ``or``: the first true operand, or the last one."""
    return _decide(build.codes(node.operands), stop_at=True)


def _decide(parts: list[Code], stop_at: bool) -> Code:
    height = 1 + tallest(parts)
    runs = [part.run for part in parts[:-1]]
    last = parts[-1]

    def run(frame: Frame) -> Any:
        for part in runs:
            value = part(frame)
            if bool(value) is stop_at:
                return value
        return last.run(frame)

    if not any(part.waits for part in parts):
        return Code(run, False, height)

    async def run_waiting(frame: Frame) -> Any:
        for part in parts[:-1]:
            value = await part.run(frame) if part.waits else part.run(frame)
            if bool(value) is stop_at:
                return value
        return await last.run(frame) if last.waits else last.run(frame)

    return Code(run_waiting, True, height)


def conditional(build: Build, node: Conditional) -> Code:
    """Return code for ``then if test else orelse``."""
    test, then, orelse = build.codes([node.test, node.then, node.orelse])
    height = 1 + tallest([test, then, orelse])
    test_run, then_run, orelse_run = test.run, then.run, orelse.run

    def run(frame: Frame) -> Any:
        return then_run(frame) if test_run(frame) else orelse_run(frame)

    if not (test.waits or then.waits or orelse.waits):
        return Code(run, False, height)

    async def run_waiting(frame: Frame) -> Any:
        chosen = then if (await test_run(frame) if test.waits else test_run(frame)) else orelse
        return await chosen.run(frame) if chosen.waits else chosen.run(frame)

    return Code(run_waiting, True, height)
