"""Operators on a plan's values: each charges from the sizes of its operands before it works.

The tables are keyed by the operator's spelling. Every function takes the task first, because new containers belong
to it and its meter pays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from .meter import Meter
from .tasks import Task, adopt_check, locked_error
from .values import DictView, PlanDict, PlanList, PlanSet, new_dict, new_list, new_set, type_name
from .walk import check_key

__all__ = ["BINARY", "IN_PLACE", "UNARY", "Operator", "change", "resize", "set_operand", "whole"]

Operator = Callable[[Task, Any, Any], Any]

_NUMBERS: Final = frozenset((int, float, bool))
_NATIVE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
}


def whole(value: Any) -> bool:
    """Tell whether the value is an integer, ``bool`` included."""
    return type(value) is int or type(value) is bool


def change(task: Task, value: Any) -> None:
    """Return when the task may replace items of the value; else raise."""
    if value.owner is not task:
        adopt_check(value, task)


def resize(task: Task, value: Any) -> None:
    """Return when the task may add items to the value or remove some; else raise."""
    if value.owner is not task:
        adopt_check(value, task)
    if value.locks:
        raise locked_error(value)


def _unsupported(op: str, left: Any, right: Any) -> TypeError:
    return TypeError(f"unsupported operand type(s) for {op}: '{type_name(left)}' and '{type_name(right)}'")


def _numbers(meter: Meter, op: str, left: Any, right: Any) -> Any:
    made = _NATIVE[op](left, right)
    return meter.integer(made) if type(made) is int else made


def _add(task: Task, left: Any, right: Any) -> Any:
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        return _numbers(task.meter, "+", left, right)
    if kind is not other:
        if kind in (str, PlanList, tuple):
            name = type_name(left)
            raise TypeError(f'can only concatenate {name} (not "{type_name(right)}") to {name}')
        raise _unsupported("+", left, right)
    if kind is str:
        task.meter.text_of(len(left) + len(right), wide=not (left.isascii() and right.isascii()))
        return left + right
    if kind is PlanList:
        task.meter.list_of(len(left) + len(right))
        return new_list(task, list.__add__(left, right))
    if kind is tuple:
        task.meter.tuple_of(len(left) + len(right))
        return left + right
    raise _unsupported("+", left, right)


def _multiply(task: Task, left: Any, right: Any) -> Any:
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return _numbers(task.meter, "*", left, right)
    if whole(left):
        left, right = right, left
    kind = type(left)
    if kind not in (str, PlanList, tuple):
        raise _unsupported("*", left, right)
    if not whole(right):
        raise TypeError(f"can't multiply sequence by non-int of type '{type_name(right)}'")
    length = len(left) * max(0, right)
    if kind is str:
        task.meter.text_of(length, wide=not left.isascii())
        return left * right
    if kind is tuple:
        task.meter.tuple_of(length)
        return left * right
    task.meter.list_of(length)
    return new_list(task, list.__mul__(left, right))


def _arithmetic(op: str) -> Operator:
    def apply(task: Task, left: Any, right: Any) -> Any:
        if type(left) in _NUMBERS and type(right) in _NUMBERS:
            return _numbers(task.meter, op, left, right)
        if op == "%" and type(left) is str:
            raise TypeError("`%` on a text is not part of the plan language; write an f-string")
        raise _unsupported(op, left, right)

    return apply


def set_operand(task: Task, value: Any) -> Any:
    """Return a set, or a view that acts as one, as something with fast membership; ``None`` for anything else."""
    if type(value) is PlanSet:
        return value
    if type(value) is not DictView or value.kind == "values":
        return None
    if value.kind == "keys":
        return value.source
    task.meter.dict_of(len(value.source))
    for item in value.source.values():
        check_key(task.meter, item)
    return dict.fromkeys(value.source.items())


def _intersection(one: Any, two: Any) -> list[Any]:
    return [key for key in one if key in two]


def _difference(one: Any, two: Any) -> list[Any]:
    return [key for key in one if key not in two]


def _union(one: Any, two: Any) -> list[Any]:
    return [*one, *two]


def _symmetric(one: Any, two: Any) -> list[Any]:
    return [key for key in one if key not in two] + [key for key in two if key not in one]


SETS: Final[dict[str, Callable[[Any, Any], list[Any]]]] = {
    "&": _intersection,
    "-": _difference,
    "|": _union,
    "^": _symmetric,
}


def _set_operator(op: str) -> Operator:
    def apply(task: Task, left: Any, right: Any) -> Any:
        kind, other = type(left), type(right)
        if kind in _NUMBERS and other in _NUMBERS:
            return _numbers(task.meter, op, left, right)
        if op == "|" and kind is PlanDict and other is PlanDict:
            task.meter.dict_of(len(left) + len(right))
            task.meter.match_keys(min(len(left), len(right)))
            return new_dict(task, dict.__or__(left, right))
        one = set_operand(task, left)
        two = set_operand(task, right)
        if one is None or two is None:
            raise _unsupported(op, left, right)
        task.meter.dict_of(len(one) + len(two))
        task.meter.match_keys(min(len(one), len(two)))
        return new_set(task, SETS[op](one, two))

    return apply


BINARY: Final[dict[str, Operator]] = {
    "+": _add,
    "*": _multiply,
    "/": _arithmetic("/"),
    "//": _arithmetic("//"),
    "%": _arithmetic("%"),
    **{op: _set_operator(op) for op in ("-", "|", "&", "^")},
}


def extend_list(task: Task, target: PlanList, items: Any) -> None:
    """Add items, already collected by the caller, to a list."""
    resize(task, target)
    task.meter.grow_list(len(target), len(items))
    target.extend(items)


def _multiply_in_place(task: Task, left: Any, right: Any) -> Any:
    if type(left) is not PlanList or not whole(right):
        return _multiply(task, left, right)
    resize(task, left)
    task.meter.grow_list(len(left), len(left) * max(0, right - 1))
    left[:] = list.__mul__(left, right)
    return left


def _set_in_place(op: str) -> Operator:
    plain = BINARY[op]

    def apply(task: Task, left: Any, right: Any) -> Any:
        if type(left) is PlanDict and op == "|" and type(right) in (PlanDict, PlanSet):
            return merge_dict(task, left, right)
        if type(left) is not PlanSet or type(right) is not PlanSet:
            return plain(task, left, right)
        change_set(task, left, op, right)
        return left

    return apply


def merge_dict(task: Task, target: PlanDict, entries: Any) -> PlanDict:
    """Add the entries of a dict with charged keys to a dict; replacing a value is allowed while a loop runs."""
    change(task, target)
    task.meter.work(len(entries) >> 3)
    task.meter.match_keys(len(entries))
    more = sum(key not in target for key in entries) if target.locks else len(entries)
    if more:
        resize(task, target)
    task.meter.grow_dict(len(target), more)
    target.update(entries)
    return target


def change_set(task: Task, target: PlanSet, op: str, keys: Any) -> None:
    """Do ``target op= keys`` for keys that are charged: a set, a dict, or the keys of one."""
    resize(task, target)
    meter = task.meter
    meter.match_keys(min(len(target), len(keys)))
    if op == "|":
        meter.grow_dict(len(target), len(keys))
        target.update(dict.fromkeys(keys))
        return
    meter.dict_of(len(target) + len(keys))
    items = dict.fromkeys(SETS[op](target, keys))
    target.clear()
    target.update(items)


IN_PLACE: Final[dict[str, Operator]] = {
    **BINARY,
    "*": _multiply_in_place,
    **{op: _set_in_place(op) for op in ("-", "|", "&", "^")},
}


def _negative(task: Task, value: Any) -> Any:
    if type(value) not in _NUMBERS:
        raise TypeError(f"bad operand type for unary -: '{type_name(value)}'")
    return _numbers(task.meter, "-", 0, value) if whole(value) else -value


def _positive(task: Task, value: Any) -> Any:
    if type(value) not in _NUMBERS:
        raise TypeError(f"bad operand type for unary +: '{type_name(value)}'")
    return +value


UNARY: Final[dict[str, Callable[[Task, Any], Any]]] = {"-": _negative, "+": _positive}


def check_slice_part(value: Any) -> None:
    """Return when the value may stand in a slice."""
    if value is not None and not whole(value):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
