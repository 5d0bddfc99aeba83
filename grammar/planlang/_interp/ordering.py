"""Sorting, and the smallest or largest of several values.

Keys are computed first, so no guest code runs under the host's sort. Numbers, texts, and tuples and lists made of
nothing else go to the host's sort once their size is paid for; any other keys are merged here.
"""

from __future__ import annotations

from typing import Any, Final

from .invoke import call_value
from .meter import LimitHitError, Meter
from .values import SCALARS, Frame, PlanList
from .walk import order

__all__ = ["best", "sort_items"]

_NUMBERS: Final = {int, float, bool}


def sort_items(frame: Frame, items: list[Any], key: Any, reverse: Any) -> list[Any]:
    """Return the items sorted as CPython's ``sorted`` does, charged as a new list by the caller."""
    meter: Meter = frame[0].meter
    meter.list_of(len(items))
    keys = items if key is None else _keys(frame, items, key)
    backwards = bool(reverse)
    levels = max(1, len(items).bit_length())
    sizes = _plain_sizes(meter, keys)
    if sizes is not None:
        meter.work((sizes * levels) >> 3)
        places = sorted(range(len(items)), key=keys.__getitem__, reverse=backwards)
    else:
        places = _merge_sort(meter, keys, backwards)
    return [items[at] for at in places]


def _keys(frame: Frame, items: list[Any], key: Any) -> list[Any]:
    meter: Meter = frame[0].meter
    keys = []
    for item in items:
        meter.work(1)
        keys.append(call_value(frame, key, item))
    return keys


def _plain_sizes(meter: Meter, keys: list[Any]) -> int | None:
    """Return the size of all keys when the host may compare them, else ``None``."""
    kinds = {type(key) for key in keys}
    if kinds <= _NUMBERS:
        return len(keys)
    if kinds <= SCALARS:
        return sum(1 + (len(key) >> 7) if type(key) is str else 1 for key in keys)
    size = 0
    stack = [iter(keys)]
    while stack:
        for item in stack[-1]:
            meter.work(1)
            size += 1 + (len(item) >> 7) if type(item) is str else 1
            if type(item) in SCALARS:
                continue
            if type(item) is not tuple and type(item) is not PlanList:
                return None
            if len(stack) > meter.limits.data_depth:
                raise LimitHitError("data_depth", len(stack), meter.limits.data_depth)
            stack.append(iter(item))
            break
        else:
            stack.pop()
    return size


def _merge_sort(meter: Meter, keys: list[Any], backwards: bool) -> list[int]:
    """Return the places of the keys in order, equal ones as they stood, by merging runs of growing length."""
    places = list(range(len(keys)))
    width = 1
    while width < len(places):
        merged: list[int] = []
        for start in range(0, len(places), 2 * width):
            left, right = places[start : start + width], places[start + width : start + 2 * width]
            merged.extend(_merge(meter, keys, left, right, backwards))
        places = merged
        width *= 2
    return places


def _merge(meter: Meter, keys: list[Any], left: list[int], right: list[int], backwards: bool) -> list[int]:
    merged: list[int] = []
    i = j = 0
    while i < len(left) and j < len(right):
        meter.work(1)
        one, two = keys[left[i]], keys[right[j]]
        takes_right = order(meter, "<", one, two) if backwards else order(meter, "<", two, one)
        if takes_right:
            merged.append(right[j])
            j += 1
        else:
            merged.append(left[i])
            i += 1
    return merged + left[i:] + right[j:]


def best(frame: Frame, items: Any, key: Any, op: str) -> Any:
    """Return the first item whose key is ``op`` all others (``<`` or ``>``); the items are known not to be none."""
    meter: Meter = frame[0].meter
    iterator = iter(items)
    found = next(iterator)
    found_key = found if key is None else call_value(frame, key, found)
    for item in iterator:
        meter.work(1)
        item_key = item if key is None else call_value(frame, key, item)
        if order(meter, op, item_key, found_key):
            found, found_key = item, item_key
    return found
