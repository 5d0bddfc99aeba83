"""Copies of flat containers, those that hold nothing but scalars, across the border: charged and copied as a whole.

What crosses most is a list of records with the same keys. Item by item with a stack, a thousand dicts of twelve scalars
took 15 ms each way and half of a rehearsal. Here the values are looked at in one plain loop (native ``map`` and
``set`` took longer for a dozen of them), keys like those of the row before are not looked at again, and the copy
itself is the host's own. Nothing is copied before it is paid for.

Words that sort out rows give back many that they were given. A row that is still as it was handed to the same call,
text for text, needs nothing but its dict: its texts are charged already, and its keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any, Final

from .meter import COPIED_BOX_BYTES, TEXT_BYTES, LimitHitError, Meter
from .tasks import CopiesOf, Task
from .values import SCALARS, PlanDict, PlanList, new_list
from .walk import LONG_KEY, check_key

__all__ = ["ITEM_BYTES", "SENT_BYTES", "RowsIn", "RowsOut", "Sent"]

ITEM_BYTES: Final = 8  # what a scalar counts for in the traffic with the host, its text aside
SENT_BYTES: Final = 28  # for each item of what it takes to know a row again
_TEXT_BYTES: Final = TEXT_BYTES + 14  # in blocks of sixteen; elsewhere a container's item leaves room for that
_NO_KEYS: Final = (object(),)  # equal to the keys of no dict


# The rows that a call was handed, four items each: the host's copy, the plan's own, its size for the host, the bytes of
# its boxes. One after the other, since tuples of four would take a tenth of all the time that rows take to cross.
Sent = list[Any]
_OF_A_ROW: Final = 4


class RowsOut:
    """Copies a plan's flat containers for the host during one copy; ``size`` is what they came to.

    :param sent: where the rows are noted that the host may hand back in this call.
    """

    def __init__(self, meter: Meter, sent: Sent | None = None) -> None:
        self._meter, self._sent, self.size = meter, sent, 0
        self._keys: tuple[Any, ...] = _NO_KEYS
        self._keys_length = 0

    def copy(self, value: Any) -> Any:
        """Return a copy of the value, or ``None`` when it is not flat; the look at it has been charged."""
        kind = type(value)
        if kind is PlanDict:
            return self._dict(value)
        if kind is not PlanList and kind is not tuple:
            return None
        size = _size(value)
        if size is None:
            return None
        self._meter.list_of(len(value))
        self.size += ITEM_BYTES * len(value) + size[0]
        return list(value) if kind is PlanList else value

    def _dict(self, row: PlanDict) -> Any:
        look = _size(row.values())
        if look is None:
            return None
        length, boxes_bytes = look
        keys = tuple(row)
        if keys != self._keys:
            keys_size = _size(keys)
            if keys_size is None:
                return None
            self._keys, self._keys_length = keys, keys_size[0]
        count = len(keys)
        self._meter.copied_dict(count, 0, boxes_bytes)
        size = 2 * ITEM_BYTES * count + length + self._keys_length
        self.size += size
        copy = dict(row)
        if self._sent is not None:
            self._sent += (copy, row, size, boxes_bytes)
        return copy


def _size(items: Iterable[Any]) -> tuple[int, int] | None:
    """Return the characters of all texts and the bytes of all boxes among scalars, or ``None`` if there is something
    else.
    """
    length = boxes_bytes = 0
    for item in items:
        kind = type(item)
        if kind is str:
            length += len(item)
        elif kind is int or kind is float:
            boxes_bytes += COPIED_BOX_BYTES
        elif kind not in SCALARS:
            return None
    return length, boxes_bytes


class RowsIn:
    """Copies a host's flat containers for a task during one copy; ``size`` is what they came to.

    :param sent: the rows that this call was handed, in their order.
    """

    def __init__(self, task: Task, sent: Sent | None = None) -> None:
        self._task, self._meter, self.size = task, task.meter, 0
        self._sent, self._next = sent or (), 0
        self._owner: CopiesOf | None = None
        self._keys: tuple[Any, ...] = _NO_KEYS
        self._keys_length = 0

    def copy(self, value: Any) -> Any:
        """Return the task's copy of the value, or ``None`` when it is not flat; the look at it has been charged."""
        kind = type(value)
        if kind is dict:
            at = self._next
            if at < len(self._sent) and self._sent[at] is value:
                return self._returned(value, at) or self._dict(value)
            return self._dict(value)
        if kind is not list and kind is not tuple:
            return None
        pay = self._look(value)
        if pay is None:
            return None
        self._meter.list_of(len(value))
        length, size_bytes, _ = pay
        self._meter.charge(length >> 7, size_bytes)
        self.size += ITEM_BYTES * len(value) + length
        return new_list(self._task, value) if kind is list else value

    def _returned(self, row: dict[Any, Any], at: int) -> Any:
        """Return a copy of the plan's own row if this one is still like it, else ``None``."""
        self._next = at + _OF_A_ROW
        _, own, size, boxes_bytes = self._sent[at : at + _OF_A_ROW]
        if len(row) != len(own) or not (all(map(is_, row.values(), own.values())) and all(map(is_, row, own))):
            return None
        self._meter.copied_dict(len(row), 0, boxes_bytes)
        self.size += size
        made = PlanDict(own)
        made.owner = self._owner or self._of_copies()
        made.locks = 0
        return made

    def _dict(self, row: dict[Any, Any]) -> Any:
        pay = self._look(row.values())
        if pay is None:
            return None
        if self._next < len(self._sent):
            made = self._found_later(row)
            if made is not None:
                return made
        length, size_bytes, boxes_bytes = pay
        if len(row) != len(self._keys) or not all(map(is_, row, self._keys)):
            keys = tuple(row)
            keys_pay = self._look(keys)
            if keys_pay is None:
                return None
            self._keys, self._keys_length = keys, keys_pay[0]
            size_bytes += keys_pay[1] + keys_pay[2]
            if keys_pay[0] >= LONG_KEY:
                for key in keys:
                    check_key(self._meter, key)
        length += self._keys_length
        self._meter.copied_dict(len(row), length >> 7, size_bytes + boxes_bytes)
        self.size += 2 * ITEM_BYTES * len(row) + length
        made = PlanDict(row)
        made.owner = self._owner or self._of_copies()
        made.locks = 0
        return made

    def _found_later(self, row: dict[Any, Any]) -> Any:
        """Look for a row among those that come later, each of which is looked at once."""
        for at in range(self._next, len(self._sent), _OF_A_ROW):
            if self._sent[at] is row:
                return self._returned(row, at)
        self._next = len(self._sent)
        return None

    def _of_copies(self) -> CopiesOf:
        self._owner = CopiesOf(self._task)
        return self._owner

    def _look(self, items: Iterable[Any]) -> tuple[int, int, int] | None:
        """Return the characters and the bytes of all texts among scalars, and the bytes of all boxes; ``None`` if there
        is something else.
        """
        low, high = self._meter.low, self._meter.high
        length = texts = wide = boxes_bytes = 0
        for item in items:
            kind = type(item)
            if kind is str:
                texts += 1
                length += len(item)
                if not item.isascii():
                    wide += len(item) + 9  # its header takes up to 27 bytes more
            elif kind is int:
                boxes_bytes += COPIED_BOX_BYTES
                if not low <= item <= high:
                    self._meter.integer(item)
            elif kind is float:
                boxes_bytes += COPIED_BOX_BYTES
            elif kind not in SCALARS:
                return None
        if length > self._meter.limits.text_length:
            self._refuse_longest(items)
        return length, _TEXT_BYTES * texts + length + 3 * wide, boxes_bytes

    def _refuse_longest(self, items: Iterable[Any]) -> None:
        longest = max(len(item) for item in items if type(item) is str)
        allowed = self._meter.limits.text_length
        if longest > allowed:
            raise LimitHitError("text_length", longest, allowed)
