"""Equality, order, membership and hashing of a plan's values: metered, depth-capped, without host recursion.

Handing a plan's containers to the host's ``==``, ``<`` or ``hash`` would be one unmetered call whose cost doubles
with every level of a shared structure. So containers are walked here, with a stack of iterators whose height is
the depth; only scalars are compared by the host.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

from .meter import LimitHitError, Meter
from .values import SCALARS, DictView, PlanDict, PlanList, PlanSet, type_name

__all__ = ["LONG_KEY", "check_key", "contains", "equal", "identical", "order", "range_length", "unhashable"]

LONG_KEY: Final = 128  # characters; shorter texts cost no more as keys than numbers do
_MISSING: Final = object()
_UNHASHABLE: Final = (PlanList, PlanDict, PlanSet, DictView, slice)
_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def equal(meter: Meter, left: Any, right: Any) -> bool:
    """Return ``left == right`` as CPython has it."""
    kind, other = type(left), type(right)
    if kind in SCALARS and other in SCALARS:
        if kind is str and other is str:
            meter.work(min(len(left), len(right)) >> 7)
        return bool(left == right)
    if kind in SCALARS or other in SCALARS:
        return False
    return left is right or _equal_containers(meter, left, right)


def identical(meter: Meter, left: Any, right: Any) -> bool:
    """Return ``left is right``; equal scalars of one type count as one object, whatever the host interns."""
    kind = type(left)
    if kind in SCALARS and kind is not float:
        return kind is type(right) and equal(meter, left, right)
    return left is right


def _equal_containers(meter: Meter, left: Any, right: Any) -> bool:
    stack: list[Iterator[tuple[Any, Any]]] = [iter(((left, right),))]
    while stack:
        for x, y in stack[-1]:
            meter.work(1)
            if x is y:
                continue
            if type(x) in SCALARS or type(y) in SCALARS:
                if not equal(meter, x, y):
                    return False
                continue
            pairs = _pairs(meter, x, y)
            if pairs is None:
                return False
            _check_depth(meter, len(stack))
            stack.append(pairs)
            break
        else:
            stack.pop()
    return True


def _pairs(meter: Meter, left: Any, right: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return what must be equal, pair by pair, for two containers to be equal; ``None`` when they differ."""
    kind = type(left)
    if kind is type(right):
        if kind is PlanList or kind is tuple:
            return zip(left, right, strict=True) if len(left) == len(right) else None
        if kind is PlanDict:
            return _entries(meter, left, right) if len(left) == len(right) else None
        if kind is range:
            return iter(()) if left == right else None
        if kind is DictView and left.kind == right.kind == "items":
            return _pairs(meter, left.source, right.source)
    if _is_keys(left) and _is_keys(right):
        one, two = _keys(left), _keys(right)
        meter.work(len(one) >> 2)
        meter.match_keys(min(len(one), len(two)))
        return iter(()) if len(one) == len(two) and all(key in two for key in one) else None
    return None


def _entries(meter: Meter, left: PlanDict, right: PlanDict) -> Iterator[tuple[Any, Any]]:
    for key, value in left.items():
        check_key(meter, key)
        yield value, right.get(key, _MISSING)


def _is_keys(value: Any) -> bool:
    return type(value) is PlanSet or (type(value) is DictView and value.kind == "keys")


def _keys(value: Any) -> Any:
    return value.source if type(value) is DictView else value


def _check_depth(meter: Meter, depth: int) -> None:
    if depth > meter.limits.data_depth:
        raise LimitHitError("data_depth", depth, meter.limits.data_depth)


def order(meter: Meter, op: str, left: Any, right: Any) -> bool:
    """Return ``left op right`` for one of ``< <= > >=`` as CPython has it; :raises TypeError: they have no order."""
    for depth in range(meter.limits.data_depth + 1):
        kind, other = type(left), type(right)
        if kind in SCALARS and other in SCALARS:
            if kind is str and other is str:
                meter.work(min(len(left), len(right)) >> 7)
            return _ORDERS[op](left, right)
        if kind is not other or (kind is not PlanList and kind is not tuple):
            return _order_sets(meter, op, left, right)
        meter.work(1 + depth)
        pair = _first_difference(meter, left, right)
        if pair is None:
            return _ORDERS[op](len(left), len(right))
        left, right = pair
    raise LimitHitError("data_depth", meter.limits.data_depth + 1, meter.limits.data_depth)


def _first_difference(meter: Meter, left: Any, right: Any) -> tuple[Any, Any] | None:
    for x, y in zip(left, right, strict=False):
        meter.work(1)
        if x is not y and not equal(meter, x, y):
            return x, y
    return None


def _order_sets(meter: Meter, op: str, left: Any, right: Any) -> bool:
    if not (_is_keys(left) and _is_keys(right)):
        raise TypeError(f"'{op}' not supported between instances of '{type_name(left)}' and '{type_name(right)}'")
    small, large = (_keys(left), _keys(right)) if op[0] == "<" else (_keys(right), _keys(left))
    meter.work(len(small) >> 2)
    meter.match_keys(len(small))
    if len(small) > len(large) or (len(op) == 1 and len(small) == len(large)):
        return False
    return all(key in large for key in small)


def check_key(meter: Meter, value: Any) -> None:
    """Charge the hash of a value; :raises TypeError: it has none."""
    kind = type(value)
    if kind is str:
        if len(value) >= LONG_KEY:
            meter.key_text(len(value))
        return
    if kind in SCALARS:
        return
    if kind in _UNHASHABLE:
        raise unhashable(value)
    if kind is not tuple:
        return
    stack = [iter(value)]
    while stack:
        for item in stack[-1]:
            meter.work(1)
            if type(item) is str and len(item) >= LONG_KEY:
                meter.key_text(len(item))
            if type(item) is tuple:
                _check_depth(meter, len(stack))
                stack.append(iter(item))
                break
            if type(item) in _UNHASHABLE:
                raise unhashable(item)
        else:
            stack.pop()


def unhashable(value: Any) -> TypeError:
    """Return the error for a value that cannot be a key."""
    return TypeError(f"unhashable type: '{type_name(value)}'")


def range_length(value: range) -> int:
    """Return how many items a range has, also where the host's ``len`` cannot say."""
    start, stop, step = value.start, value.stop, value.step
    gap = stop - start if step > 0 else start - stop
    return max(0, -(-gap // abs(step)))


def contains(meter: Meter, item: Any, container: Any) -> bool:
    """Return ``item in container`` as CPython has it, for everything but iterators."""
    kind = type(container)
    if kind is PlanDict or kind is PlanSet:
        check_key(meter, item)
        return item in container
    if kind is PlanList or kind is tuple:
        return _in_sequence(meter, item, container)
    if kind is str:
        if type(item) is not str:
            raise TypeError(f"'in <string>' requires string as left operand, not {type_name(item)}")
        meter.scan(len(container))
        return item in container
    if kind is range:
        return _in_range(item, container)
    if kind is DictView:
        return _in_view(meter, item, container)
    raise TypeError(f"argument of type '{type_name(container)}' is not iterable")


def _in_sequence(meter: Meter, item: Any, container: Any) -> bool:
    if type(item) in SCALARS:
        width = 1 + (len(item) >> 7) if type(item) is str else 1
        meter.work((len(container) * width) >> 4)
        return item in container
    for other in container:
        meter.work(1)
        if other is item or equal(meter, item, other):
            return True
    return False


def _in_range(item: Any, container: range) -> bool:
    if type(item) is int or type(item) is bool:
        return item in container
    return type(item) is float and item.is_integer() and int(item) in container


def _in_view(meter: Meter, item: Any, view: DictView) -> bool:
    if view.kind == "keys":
        return contains(meter, item, view.source)
    if view.kind == "values":
        return any(other is item or equal(meter, item, other) for other in view.source.values())
    if type(item) is not tuple or len(item) != 2:
        return False
    check_key(meter, item[0])
    return item[0] in view.source and equal(meter, view.source[item[0]], item[1])
