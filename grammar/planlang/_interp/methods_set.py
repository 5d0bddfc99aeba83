"""Methods of sets; most of them take any iterables."""

from __future__ import annotations

from typing import Any, Final

from .iterate import items_of
from .operators import SETS, change, change_set, resize, set_operand
from .signatures import Method
from .subscripts import missing_key
from .tasks import Task
from .values import Frame, PlanDict, PlanSet, new_set
from .walk import check_key

__all__ = ["SET_METHODS", "keys_of"]

_MANY: Final = 1_000


def keys_of(frame: Frame, source: Any) -> Any:
    """Return the items of an iterable as dict keys; :raises TypeError: one of them cannot be a key."""
    if type(source) is PlanSet or type(source) is PlanDict:
        return source
    items = items_of(frame, source)
    meter = frame[0].meter
    meter.dict_of(len(items))
    for item in items:
        check_key(meter, item)
    return dict.fromkeys(items)


def _add(frame: Frame, target: PlanSet, item: Any) -> None:
    task: Task = frame[0]
    check_key(task.meter, item)
    change(task, target)
    if item not in target:
        resize(task, target)
        task.meter.grow_dict(len(target), 1)
        target[item] = None


def _discard(frame: Frame, target: PlanSet, item: Any) -> None:
    check_key(frame[0].meter, item)
    resize(frame[0], target)
    target.pop(item, None)


def _remove(frame: Frame, target: PlanSet, item: Any) -> None:
    check_key(frame[0].meter, item)
    resize(frame[0], target)
    if item not in target:
        raise missing_key(frame[0].meter, item)
    del target[item]


def _combine(op: str) -> Any:
    def method(frame: Frame, target: PlanSet, *others: Any) -> PlanSet:
        made: Any = target
        for other in others:
            keys = keys_of(frame, other)
            frame[0].meter.dict_of(len(made) + len(keys))
            frame[0].meter.match_keys(min(len(made), len(keys)))
            made = dict.fromkeys(SETS[op](made, keys))
        frame[0].meter.dict_of(len(made))
        return new_set(frame[0], made)

    return method


def _update(frame: Frame, target: PlanSet, *others: Any) -> None:
    change(frame[0], target)
    for other in others:
        keys = keys_of(frame, other)
        change_set(frame[0], target, "|", keys)


def _subset(frame: Frame, target: PlanSet, other: Any) -> bool:
    keys = keys_of(frame, other)
    frame[0].meter.work(len(target) >> 2)
    frame[0].meter.match_keys(min(len(target), len(keys)))
    return len(target) <= len(keys) and all(key in keys for key in target)


def _superset(frame: Frame, target: PlanSet, other: Any) -> bool:
    keys = keys_of(frame, other)
    frame[0].meter.work(len(keys) >> 2)
    frame[0].meter.match_keys(min(len(target), len(keys)))
    return all(key in target for key in keys)


def _disjoint(frame: Frame, target: Any, other: Any) -> bool:
    own = set_operand(frame[0], target)
    if own is None:
        raise AttributeError("'dict_values' object has no attribute 'isdisjoint'")
    keys = keys_of(frame, other)
    frame[0].meter.work(len(keys) >> 2)
    frame[0].meter.match_keys(min(len(own), len(keys)))
    return not any(key in own for key in keys)


def _copy(frame: Frame, target: PlanSet) -> PlanSet:
    frame[0].meter.dict_of(len(target))
    return new_set(frame[0], target)


SET_METHODS: Final = {
    "add": Method("add", _add, 1, 1),
    "discard": Method("discard", _discard, 1, 1),
    "remove": Method("remove", _remove, 1, 1),
    "union": Method("union", _combine("|"), 0, _MANY),
    "intersection": Method("intersection", _combine("&"), 0, _MANY),
    "difference": Method("difference", _combine("-"), 0, _MANY),
    "symmetric_difference": Method("symmetric_difference", _combine("^"), 1, 1),
    "issubset": Method("issubset", _subset, 1, 1),
    "issuperset": Method("issuperset", _superset, 1, 1),
    "isdisjoint": Method("isdisjoint", _disjoint, 1, 1),
    "update": Method("update", _update, 0, _MANY),
    "copy": Method("copy", _copy, 0, 0),
}
