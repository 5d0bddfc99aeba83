"""Methods of lists, tuples and ranges."""

from __future__ import annotations

from typing import Any, Final

from .iterate import items_of
from .operators import change, extend_list, resize, whole
from .ordering import sort_items
from .signatures import Method
from .subscripts import len_of
from .tasks import Task
from .text import str_of
from .values import SCALARS, Frame, PlanList, new_list, type_name
from .walk import contains, equal

__all__ = ["LIST_METHODS", "SEQUENCE_METHODS"]


def _append(frame: Frame, target: PlanList, item: Any) -> None:
    resize(frame[0], target)
    frame[0].meter.grow_list(len(target), 1)
    target.append(item)


def _extend(frame: Frame, target: PlanList, source: Any) -> None:
    extend_list(frame[0], target, items_of(frame, source))


def _index_argument(value: Any) -> int:
    if whole(value):
        return int(value)
    raise TypeError(f"'{type_name(value)}' object cannot be interpreted as an integer")


def _insert(frame: Frame, target: PlanList, index: Any, item: Any) -> None:
    resize(frame[0], target)
    frame[0].meter.grow_list(len(target), 1)
    frame[0].meter.scan(len(target))
    target.insert(_index_argument(index), item)


def _pop(frame: Frame, target: PlanList, index: Any = -1) -> Any:
    resize(frame[0], target)
    if not target:
        raise IndexError("pop from empty list")
    at = _index_argument(index)
    if not -len(target) <= at < len(target):
        raise IndexError("pop index out of range")
    frame[0].meter.scan(len(target) - at if at >= 0 else -at)
    return target.pop(at)


def _find(frame: Frame, target: Any, item: Any, start: int, stop: int) -> int | None:
    """Return the index of the first equal item in ``start <= index < stop``, or ``None``."""
    meter = frame[0].meter
    if type(target) is range:
        return target.index(int(item)) if contains(meter, item, target) else None
    for at in range(start, min(stop, len(target))):
        meter.work(1)
        if target[at] is item or equal(meter, target[at], item):
            return at
    return None


def _remove(frame: Frame, target: PlanList, item: Any) -> None:
    resize(frame[0], target)
    at = _find(frame, target, item, 0, len(target))
    if at is None:
        raise ValueError("list.remove(x): x not in list")
    frame[0].meter.scan(len(target))
    list.pop(target, at)


def _bound(value: Any, length: int) -> int:
    at = _index_argument(value)
    return max(0, at + length) if at < 0 else at


def _index(frame: Frame, target: Any, item: Any, *bounds: Any) -> int:
    length = len_of(target)
    limits = [_bound(bound, length) for bound in bounds] + [0, length][len(bounds) :]
    if bounds and type(target) is range:
        raise TypeError(f"range.index() takes exactly one argument ({1 + len(bounds)} given)")
    at = _find(frame, target, item, limits[0], limits[1])
    if at is None:
        noun = type_name(target)
        shown = f"{str_of(frame[0].meter, item)[:80]} is" if type(item) in SCALARS else "x"
        raise ValueError(f"{shown} not in {noun}")
    return at


def _count(frame: Frame, target: Any, item: Any) -> int:
    meter = frame[0].meter
    if type(target) is range:
        return int(contains(meter, item, target))
    found = 0
    for other in target:
        meter.work(1)
        found += other is item or equal(meter, other, item)
    return found


def _sort(frame: Frame, target: PlanList, *, key: Any = None, reverse: Any = False) -> None:
    resize(frame[0], target)
    target.locks += 1
    try:
        ordered = sort_items(frame, list(target), key, reverse)
    finally:
        target.locks -= 1
    target[:] = ordered


def _reverse(frame: Frame, target: PlanList) -> None:
    change(frame[0], target)
    frame[0].meter.scan(len(target))
    target.reverse()


def _copy(frame: Frame, target: PlanList) -> PlanList:
    task: Task = frame[0]
    task.meter.list_of(len(target))
    return new_list(task, target)


def _clear(frame: Frame, target: PlanList) -> None:
    resize(frame[0], target)
    frame[0].meter.scan(len(target))
    target.clear()


SEQUENCE_METHODS: Final = {
    "index": Method("index", _index, 1, 3),
    "count": Method("count", _count, 1, 1),
}
LIST_METHODS: Final = {
    **SEQUENCE_METHODS,
    "append": Method("append", _append, 1, 1),
    "extend": Method("extend", _extend, 1, 1),
    "insert": Method("insert", _insert, 2, 2),
    "pop": Method("pop", _pop, 0, 1),
    "remove": Method("remove", _remove, 1, 1),
    "sort": Method("sort", _sort, 0, 0, ("key", "reverse")),
    "reverse": Method("reverse", _reverse, 0, 0),
    "copy": Method("copy", _copy, 0, 0),
    "clear": Method("clear", _clear, 0, 0),
}
