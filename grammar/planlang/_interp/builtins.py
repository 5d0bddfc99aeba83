"""The builtin functions and types, as functions of a frame and a plan's values."""

from __future__ import annotations

from collections.abc import Iterable
from math import fabs, isfinite
from typing import Any, Final

from .iterate import (
    enumerate_lazily,
    filter_lazily,
    items_of,
    length_of,
    map_lazily,
    native_iterator,
    reverse_lazily,
    zip_lazily,
)
from .meter import Meter
from .methods_dict import pairs_of
from .methods_set import keys_of
from .operators import BINARY, whole
from .ordering import best, sort_items
from .text import str_of
from .values import Builtin, Frame, PlanDict, PlanList, PlanSet, new_dict, new_list, new_set, type_name

__all__ = ["BUILTINS"]

_ABSENT: Final = object()
_MANY: Final = 1_000_000
_ROUND_DIGITS: Final = 25  # more digits than a 64-bit integer has


def _len(_frame: Frame, value: Any) -> int:
    length = length_of(value)
    if length is None:
        raise TypeError(f"object of type '{type_name(value)}' has no len()")
    return length


def _integer(value: Any) -> int:
    if whole(value):
        return int(value)
    raise TypeError(f"'{type_name(value)}' object cannot be interpreted as an integer")


def _range(_frame: Frame, *bounds: Any) -> range:
    return range(*[_integer(bound) for bound in bounds])


def _enumerate(frame: Frame, iterable: Any, start: Any = 0) -> Any:
    return enumerate_lazily(frame, iterable, _integer(start))


def _zip(frame: Frame, *iterables: Any, strict: Any = False) -> Any:
    return zip_lazily(frame, iterables, bool(strict))


def _map(frame: Frame, function: Any, *iterables: Any) -> Any:
    return map_lazily(frame, function, iterables)


def _filter(frame: Frame, function: Any, iterable: Any) -> Any:
    return filter_lazily(frame, function, iterable)


def _sorted(frame: Frame, iterable: Any, *, key: Any = None, reverse: Any = False) -> PlanList:
    return new_list(frame[0], sort_items(frame, items_of(frame, iterable), key, reverse))


def _reversed(frame: Frame, value: Any) -> Any:
    return reverse_lazily(frame, value)


def _best(frame: Frame, name: str, op: str, args: tuple[Any, ...], key: Any, default: Any) -> Any:
    if len(args) > 1:
        if default is not _ABSENT:
            raise TypeError(f"Cannot specify a default for {name}() with multiple positional arguments")
        return best(frame, args, key, op)
    items = items_of(frame, args[0])
    if items:
        return best(frame, items, key, op)
    if default is _ABSENT:
        raise ValueError(f"{name}() arg is an empty sequence")
    return default


def _min(frame: Frame, *args: Any, key: Any = None, default: Any = _ABSENT) -> Any:
    return _best(frame, "min", "<", args, key, default)


def _max(frame: Frame, *args: Any, key: Any = None, default: Any = _ABSENT) -> Any:
    return _best(frame, "max", ">", args, key, default)


def _sum(frame: Frame, iterable: Any, start: Any = 0) -> Any:
    if type(start) is str:
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    meter: Meter = frame[0].meter
    add = BINARY["+"]
    total = start
    iterator = native_iterator(frame, iterable)
    for item in iterator:
        meter.work(1)
        if type(total) is int and type(item) is int:
            total = meter.integer(total + item)
            continue
        total = add(frame[0], total, item)
        if type(total) is float:
            total = _sum_floats(frame, total, iterator)
    return total


def _sum_floats(frame: Frame, total: float, iterator: Iterable[Any]) -> Any:
    """Return the sum of the rest, with the compensation that CPython 3.12 keeps (Neumaier's)."""
    meter: Meter = frame[0].meter
    lost = 0.0
    for item in iterator:
        meter.work(1)
        if type(item) is float:
            grown = total + item
            lost += (total - grown) + item if fabs(total) >= fabs(item) else (item - grown) + total
            total = grown
        elif whole(item):
            total += float(item)
        else:
            if lost and isfinite(lost):
                total += lost
            return BINARY["+"](frame[0], total, item)
    return total + lost if lost and isfinite(lost) else total


def _any(frame: Frame, iterable: Any) -> bool:
    meter: Meter = frame[0].meter
    for item in native_iterator(frame, iterable):
        meter.work(1)
        if item:
            return True
    return False


def _all(frame: Frame, iterable: Any) -> bool:
    meter: Meter = frame[0].meter
    for item in native_iterator(frame, iterable):
        meter.work(1)
        if not item:
            return False
    return True


def _list(frame: Frame, iterable: Any = ()) -> PlanList:
    return new_list(frame[0], items_of(frame, iterable))


def _tuple(frame: Frame, iterable: Any = ()) -> tuple[Any, ...]:
    return iterable if type(iterable) is tuple else tuple(items_of(frame, iterable))


def _dict(frame: Frame, source: Any = (), /, **more: Any) -> PlanDict:
    entries = pairs_of(frame, source)
    frame[0].meter.dict_of(len(entries) + len(more))
    made = new_dict(frame[0], entries)
    made.update(more)
    return made


def _set(frame: Frame, iterable: Any = ()) -> PlanSet:
    keys = keys_of(frame, iterable)
    frame[0].meter.dict_of(len(keys))
    return new_set(frame[0], keys)


def _str(frame: Frame, value: Any = "") -> str:
    return str_of(frame[0].meter, value)


def _int(frame: Frame, value: Any = 0, base: Any = _ABSENT) -> int:
    meter: Meter = frame[0].meter
    if type(value) is str:
        meter.scan(len(value) * 8)
        return meter.integer(int(value, 10 if base is _ABSENT else _integer(base)))
    if base is not _ABSENT:
        raise TypeError("int() can't convert non-string with explicit base")
    if type(value) is float or whole(value):
        return meter.integer(int(value))
    raise TypeError(f"int() argument must be a string, a bytes-like object or a real number, not '{type_name(value)}'")


def _float(frame: Frame, value: Any = 0.0) -> float:
    if type(value) is str:
        frame[0].meter.scan(len(value) * 8)
        return float(value)
    if type(value) is float or whole(value):
        return float(value)
    raise TypeError(f"float() argument must be a string or a real number, not '{type_name(value)}'")


def _bool(_frame: Frame, value: Any = False) -> bool:
    return bool(value)


def _round(frame: Frame, number: Any, ndigits: Any = None) -> Any:
    if type(number) is not float and not whole(number):
        raise TypeError(f"type {type_name(number)} doesn't define __round__ method")
    if ndigits is None:
        return frame[0].meter.integer(round(number))
    digits = _integer(ndigits)
    if type(number) is float:
        return round(number, digits)
    return frame[0].meter.integer(round(int(number), max(digits, -_ROUND_DIGITS)))


def _abs(frame: Frame, value: Any) -> Any:
    if type(value) is float:
        return abs(value)
    if whole(value):
        return frame[0].meter.integer(abs(value))
    raise TypeError(f"bad operand type for abs(): '{type_name(value)}'")


def _divmod(frame: Frame, left: Any, right: Any) -> tuple[Any, Any]:
    if (type(left) is float or whole(left)) and (type(right) is float or whole(right)):
        quotient, rest = divmod(left, right)
        return (frame[0].meter.integer(quotient) if type(quotient) is int else quotient), rest
    raise TypeError(f"unsupported operand type(s) for divmod(): '{type_name(left)}' and '{type_name(right)}'")


def _isinstance(frame: Frame, value: Any, kinds: Any) -> bool:
    stack = [kinds]
    while stack:
        kind = stack.pop()
        frame[0].meter.work(1)
        if type(kind) is tuple:
            frame[0].meter.work(len(kind))
            stack.extend(reversed(kind))
        elif type(kind) is not Builtin or not kind.holds:
            raise TypeError("isinstance() arg 2 must be a type, a tuple of types, or a union")
        elif type(value) in kind.holds:
            return True
    return False


def _table() -> dict[str, Builtin]:
    def function(name: str, call: Any, least: int, most: int, *keywords: str) -> Builtin:
        return Builtin(name, call, (least, most), frozenset(keywords), ())

    def kind(name: str, call: Any, most: int, holds: tuple[type, ...], *keywords: str) -> Builtin:
        return Builtin(name, call, (0, most), frozenset(keywords), holds)

    made = [
        function("len", _len, 1, 1),
        Builtin("range", _range, (1, 3), frozenset(), (range,)),
        function("enumerate", _enumerate, 1, 2, "start"),
        function("zip", _zip, 0, _MANY, "strict"),
        function("sorted", _sorted, 1, 1, "key", "reverse"),
        function("reversed", _reversed, 1, 1),
        function("min", _min, 1, _MANY, "key", "default"),
        function("max", _max, 1, _MANY, "key", "default"),
        function("sum", _sum, 1, 2, "start"),
        function("any", _any, 1, 1),
        function("all", _all, 1, 1),
        function("map", _map, 2, _MANY),
        function("filter", _filter, 2, 2),
        function("round", _round, 1, 2, "ndigits"),
        function("abs", _abs, 1, 1),
        function("divmod", _divmod, 2, 2),
        function("isinstance", _isinstance, 2, 2),
        kind("list", _list, 1, (PlanList,)),
        Builtin("dict", _dict, (0, 1), None, (PlanDict,)),
        kind("set", _set, 1, (PlanSet,)),
        kind("tuple", _tuple, 1, (tuple,)),
        kind("str", _str, 1, (str,)),
        kind("int", _int, 2, (int, bool), "base"),
        kind("float", _float, 1, (float,)),
        kind("bool", _bool, 1, (bool,)),
    ]
    return {builtin.name: builtin for builtin in made}


BUILTINS: Final = _table()
