"""Copies of flat containers, those that hold nothing but scalars, across the border: charged and copied as a whole.

What crosses most is a list of records with the same keys. Item by item with a stack, a thousand dicts of twelve scalars
took 15 ms each way and half of a rehearsal. Here the values are looked at in one plain loop (native ``map`` and
``set`` took longer for a dozen of them), keys like those of the row before are not looked at again, and the copy
itself is the host's own. Nothing is copied before it is paid for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .meter import TEXT_BYTES, LimitHitError, Meter
from .tasks import Task
from .values import SCALARS, PlanDict, PlanList, new_dict, new_list
from .walk import LONG_KEY, check_key

__all__ = ["ITEM_BYTES", "RowsIn", "RowsOut"]

ITEM_BYTES: Final = 8  # what a scalar counts for in the traffic with the host, its text aside
_NO_KEYS: Final = (object(),)  # equal to the keys of no dict


class RowsOut:
    """Copies a plan's flat containers for the host during one copy; ``size`` is what they came to."""

    def __init__(self, meter: Meter) -> None:
        self._meter, self.size = meter, 0
        self._keys: tuple[Any, ...] = _NO_KEYS
        self._keys_length = 0

    def copy(self, value: Any) -> Any:
        """Return a copy of the value, or ``None`` when it is not flat; the look at it has been charged."""
        kind = type(value)
        if kind is PlanDict:
            return self._dict(value)
        if kind is not PlanList and kind is not tuple:
            return None
        length = _length(value)
        if length < 0:
            return None
        self._meter.list_of(len(value))
        self.size += ITEM_BYTES * len(value) + length
        return list(value) if kind is PlanList else value

    def _dict(self, row: PlanDict) -> Any:
        length = _length(row.values())
        if length < 0:
            return None
        keys = tuple(row)
        if keys != self._keys:
            keys_length = _length(keys)
            if keys_length < 0:
                return None
            self._keys, self._keys_length = keys, keys_length
        self._meter.dict_of(len(row))
        self.size += 2 * ITEM_BYTES * len(row) + length + self._keys_length
        return dict(row)


def _length(items: Iterable[Any]) -> int:
    """Return the characters of all texts among scalars, or -1 when there is something else."""
    length = 0
    for item in items:
        kind = type(item)
        if kind is str:
            length += len(item)
        elif kind not in SCALARS:
            return -1
    return length


class RowsIn:
    """Copies a host's flat containers for a task during one copy; ``size`` is what they came to."""

    def __init__(self, task: Task) -> None:
        self._task, self._meter, self.size = task, task.meter, 0
        self._keys: tuple[Any, ...] = _NO_KEYS
        self._keys_pay = (0, 0)

    def copy(self, value: Any) -> Any:
        """Return the task's copy of the value, or ``None`` when it is not flat; the look at it has been charged."""
        kind = type(value)
        if kind is dict:
            return self._dict(value)
        if kind is not list and kind is not tuple:
            return None
        pay = self._look(value)
        if pay is None:
            return None
        self._meter.list_of(len(value))
        length, size_bytes = pay
        self._meter.charge(length >> 7, size_bytes)
        self.size += ITEM_BYTES * len(value) + length
        return new_list(self._task, value) if kind is list else value

    def _dict(self, row: dict[Any, Any]) -> Any:
        pay = self._look(row.values())
        if pay is None:
            return None
        keys = tuple(row)
        if keys != self._keys:
            keys_pay = self._look(keys)
            if keys_pay is None:
                return None
            self._keys, self._keys_pay = keys, keys_pay
            if keys_pay[0] >= LONG_KEY:
                for key in keys:
                    check_key(self._meter, key)
        length, size_bytes = pay
        keys_length, keys_bytes = self._keys_pay
        self._meter.dict_of(len(row))
        self._meter.charge((length + keys_length) >> 7, size_bytes + keys_bytes)
        self.size += 2 * ITEM_BYTES * len(row) + length + keys_length
        return new_dict(self._task, row)

    def _look(self, items: Iterable[Any]) -> tuple[int, int] | None:
        """Return the characters and the bytes of all texts among scalars, or ``None`` if there is something else."""
        low, high = self._meter.low, self._meter.high
        length = texts = wide = 0
        for item in items:
            kind = type(item)
            if kind is str:
                texts += 1
                length += len(item)
                if not item.isascii():
                    wide += len(item)
            elif kind is int:
                if not low <= item <= high:
                    self._meter.integer(item)
            elif kind not in SCALARS:
                return None
        if length > self._meter.limits.text_length:
            self._refuse_longest(items)
        return length, TEXT_BYTES * texts + length + 3 * wide

    def _refuse_longest(self, items: Iterable[Any]) -> None:
        longest = max(len(item) for item in items if type(item) is str)
        allowed = self._meter.limits.text_length
        if longest > allowed:
            raise LimitHitError("text_length", longest, allowed)
