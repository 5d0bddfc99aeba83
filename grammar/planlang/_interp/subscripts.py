"""Reading and replacing items and slices."""

from __future__ import annotations

from typing import Any

from .iterate import items_of
from .meter import Meter
from .operators import change, resize, whole
from .tasks import Task
from .text import repr_of
from .values import SCALARS, Frame, PlanDict, PlanList, new_list, type_name
from .walk import check_key, range_length

__all__ = ["get_item", "set_item"]


def missing_key(meter: Meter, key: Any) -> KeyError:
    """Return the error for a key that a dict or set does not have; a large key is named by its type alone."""
    return KeyError(repr_of(meter, key) if type(key) in SCALARS or len(key) < 5 else f"a {type_name(key)}")


def get_item(frame: Frame, value: Any, index: Any) -> Any:
    """Return ``value[index]``."""
    kind = type(value)
    if kind is PlanDict:
        check_key(frame[0].meter, index)
        if index in value:
            return value[index]
        raise missing_key(frame[0].meter, index)
    if kind not in (PlanList, tuple, str, range):
        raise TypeError(f"'{type_name(value)}' object is not subscriptable")
    if type(index) is slice:
        return _get_slice(frame[0], value, index)
    if not whole(index):
        raise TypeError(_bad_index(value, index))
    if -len_of(value) <= index < len_of(value):
        return value[index]
    raise IndexError(f"{'range object' if kind is range else _noun(value)} index out of range")


def len_of(value: Any) -> int:
    """Return the length of a sequence."""
    return range_length(value) if type(value) is range else len(value)


def _noun(value: Any) -> str:
    return "string" if type(value) is str else type_name(value)


def _bad_index(value: Any, index: Any) -> str:
    return f"{_noun(value)} indices must be integers or slices, not {type_name(index)}"


def _check_slice(cut: slice) -> None:
    """:raises TypeError: a part of it is neither an integer nor ``None``."""
    for part in (cut.start, cut.stop, cut.step):
        if part is not None and not whole(part):
            raise TypeError("slice indices must be integers or None or have an __index__ method")


def _get_slice(task: Task, value: Any, cut: slice) -> Any:
    _check_slice(cut)
    if type(value) is range:
        return value[cut]
    length = len(range(*cut.indices(len(value))))
    if type(value) is str:
        task.meter.text_of(length, wide=not value.isascii())
        return value[cut]
    if type(value) is tuple:
        task.meter.tuple_of(length)
        return value[cut]
    task.meter.list_of(length)
    return new_list(task, list.__getitem__(value, cut))


def set_item(frame: Frame, value: Any, index: Any, item: Any) -> None:
    """Do ``value[index] = item``."""
    task: Task = frame[0]
    kind = type(value)
    if kind is PlanDict:
        check_key(task.meter, index)
        if index in value:
            change(task, value)
        else:
            resize(task, value)
            task.meter.grow_dict(len(value), 1)
        value[index] = item
        return
    if kind is not PlanList:
        raise TypeError(f"'{type_name(value)}' object does not support item assignment")
    change(task, value)
    if type(index) is slice:
        _set_slice(frame, value, index, item)
        return
    if not whole(index):
        raise TypeError(_bad_index(value, index))
    if not -len(value) <= index < len(value):
        raise IndexError("list assignment index out of range")
    value[index] = item


def _set_slice(frame: Frame, value: PlanList, cut: slice, source: Any) -> None:
    _check_slice(cut)
    items = items_of(frame, source)
    replaced = len(range(*cut.indices(len(value))))
    if replaced != len(items):
        resize(frame[0], value)
    meter: Meter = frame[0].meter
    meter.grow_list(len(value), max(0, len(items) - replaced))
    meter.scan(len(value))
    value[cut] = items
