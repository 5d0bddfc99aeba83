"""Copies of values across the border between a plan and its host, in both directions.

Plain data crosses, exact types only; functions and opaque values pass as they are. Both copies walk with a stack of
their own, are capped in depth, charge each item, and copy shared parts once for every place they appear in, so a
structure that doubles with each level is stopped by the step limit and not by the host's memory.
Containers of scalars alone, which are most of all there is, take the short way of ``rows``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from typing import Any, Final

from planlang._vocabulary import Opaque

from .context import turn
from .meter import LimitHitError, Meter
from .rows import ITEM_BYTES, SENT_BYTES, RowsIn, RowsOut, Sent
from .tasks import Task
from .values import (
    SCALARS,
    Builtin,
    DictView,
    GuestFunction,
    PlanDict,
    PlanList,
    PlanSet,
    WordValue,
    new_dict,
    new_list,
    new_set,
    type_name,
)
from .walk import check_key, range_length

__all__ = ["KeptSet", "export_result", "from_host", "gathered_from_host", "to_host"]

_FUNCTIONS: Final = (GuestFunction, WordValue, Builtin)
_CONTAINER_STEPS: Final = 6  # a container within containers takes 5 µs to copy, whatever it holds
_CONTAINERS_A_TURN: Final = 1_000  # 5 ms: what six hundred workers report takes 50
_PLAIN: Final[dict[type, type]] = {PlanList: list, PlanDict: dict, PlanSet: set, tuple: tuple, DictView: list}


class KeptSet(set[Any]):
    """A set that iterates in the order in which the plan added its items, so that no host depends on hash seeds."""

    def __init__(self, items: Iterable[Any]) -> None:
        kept = dict.fromkeys(items)
        super().__init__(kept)
        self._kept = kept

    def __iter__(self) -> Iterator[Any]:
        """Iterate in the order of insertion; items that a host added come last."""
        present = [item for item in self._kept if item in self]
        return chain(present, (item for item in super().__iter__() if item not in self._kept))


_RECEIVED: Final = frozenset((list, tuple, dict, set, frozenset, KeptSet))


def to_host(meter: Meter, value: Any, sent: Sent | None = None) -> Any:
    """Return the value as plain data of its own, and charge its size as sent to the host.

    :param sent: where rows are noted that the host may hand back in the same call, while nothing else runs.
    """
    if type(value) in SCALARS:
        size = len(value) if type(value) is str else ITEM_BYTES
        plain = value
    else:
        plain, size = _copy_out(meter, value, True, sent)
    limits = meter.limits
    in_all = meter.bytes_to_host = meter.bytes_to_host + size
    if in_all > limits.bytes_to_host:
        raise LimitHitError("bytes_to_host", in_all, limits.bytes_to_host)
    if size > limits.text_length:
        _fits_one_text(meter, size)
    return plain


def export_result(meter: Meter, value: Any) -> Any:
    """Return a plan's result as plain data; :raises TypeError: there is a function in it."""
    if type(value) in SCALARS:
        return value
    plain, size = _copy_out(meter, value, False)
    _fits_one_text(meter, size)
    return plain


def _fits_one_text(meter: Meter, size: int) -> None:
    """Stop what is small here and huge when it is written out, as hosts do: one text in a hundred thousand places."""
    if size > meter.limits.text_length:
        raise LimitHitError("text_length", size, meter.limits.text_length)


def _copy_out(meter: Meter, value: Any, functions: bool, sent: Sent | None = None) -> tuple[Any, int]:
    size, steps, deepest = 0, meter.slice, meter.limits.data_depth
    rows = RowsOut(meter, sent)
    top: list[Any] = []
    stack: list[tuple[type, Iterator[Any], list[Any]]] = [(list, iter((value,)), top)]
    while stack:
        kind, items, made = stack[-1]
        too_deep = len(stack) > deepest
        for item in items:
            size += ITEM_BYTES
            if type(item) in SCALARS:
                if type(item) is str:
                    size += len(item)
                made.append(item)
            elif type(item) in _PLAIN:
                if too_deep:
                    raise LimitHitError("data_depth", len(stack), deepest)
                left = steps[0] = steps[0] - (_CONTAINER_STEPS + len(item.source if type(item) is DictView else item))
                if left < 0:
                    meter.refill()
                copy = rows.copy(item)
                if copy is None:
                    stack.append((_PLAIN[type(item)], _children(meter, item), []))
                    break
                made.append(copy)
            else:
                size += _range_out(meter, item) if type(item) is range else 0
                made.append(_passes(item, functions))
        else:
            stack.pop()
            if stack:
                stack[-1][2].append(_finished(kind, made))
    if sent:
        meter.passing(SENT_BYTES * len(sent))
    return top[0], size + rows.size


def _range_out(meter: Meter, value: range) -> int:
    """Charge a range as the list that a host makes of it, and return its size."""
    length = range_length(value)
    meter.work(length)
    meter.list_of(length)
    return ITEM_BYTES * length


def _children(meter: Meter, value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is PlanDict:
        meter.dict_of(len(value))
        return chain.from_iterable(value.items())
    if kind is DictView:
        meter.list_of(len(value.source))
        return iter(value.native())
    if kind is PlanSet:
        meter.dict_of(len(value))
    else:
        meter.list_of(len(value))
    return iter(value)


def _finished(kind: type, items: list[Any]) -> Any:
    if kind is list:
        return items
    if kind is tuple:
        return tuple(items)
    if kind is dict:
        return dict(zip(items[::2], items[1::2], strict=True))
    return KeptSet(items)


def _passes(value: Any, functions: bool) -> Any:
    if isinstance(value, Opaque) or type(value) is range:
        return value
    if functions and isinstance(value, _FUNCTIONS):
        return value
    if isinstance(value, _FUNCTIONS):
        raise TypeError("the result holds a function; a result is plain data")
    raise TypeError(f"a {type_name(value)} cannot leave the plan; make a list of it first")


def from_host(task: Task, value: Any, counted: bool = True, sent: Sent | None = None) -> Any:
    """Return a plan's own copy of a host's plain data; it belongs to the task.

    :param counted: whether its size counts as received from the host.
    :param sent: the rows that the host was handed in this call, if nothing else has run since.
    :raises TypeError: the host returned something that is not plain data.
    """
    meter = task.meter
    kind = type(value)
    if kind is str:
        size, copy = len(value), value
        meter.text_of(size, wide=not value.isascii())
    elif kind in SCALARS:
        size, copy = ITEM_BYTES, _scalar_in(meter, value)
    else:
        copying = _copying_in(task, value, sent)
        try:
            while True:
                next(copying)
        except StopIteration as copied:
            copy, size = copied.value
    if counted:
        received = meter.bytes_from_host = meter.bytes_from_host + size
        if received > meter.limits.bytes_from_host:
            raise LimitHitError("bytes_from_host", received, meter.limits.bytes_from_host)
    return copy


async def gathered_from_host(task: Task, values: list[Any]) -> Any:
    """Return a plan's own copy of what many tasks brought, and let the event loop have its turns meanwhile.

    :param values: plain data that nobody else holds, since others go on before all of it is copied.
    """
    copying = _copying_in(task, values)
    while True:
        try:
            next(copying)
        except StopIteration as copied:
            copy, size = copied.value
            _count_received(task.meter, size)
            return copy
        await turn()


def _count_received(meter: Meter, size: int) -> None:
    meter.bytes_from_host += size
    if meter.bytes_from_host > meter.limits.bytes_from_host:
        raise LimitHitError("bytes_from_host", meter.bytes_from_host, meter.limits.bytes_from_host)


def _scalar_in(meter: Meter, value: Any) -> Any:
    if type(value) is str:
        meter.text_of(len(value), wide=not value.isascii())
    elif type(value) is int:
        meter.integer(value)
    return value


def _copying_in(task: Task, value: Any, sent: Sent | None = None) -> Generator[None, None, tuple[Any, int]]:
    """Copy, and return the copy with its size; yield now and then, where the event loop may have its turn."""
    meter = task.meter
    size = containers = 0
    steps, deepest = meter.slice, meter.limits.data_depth
    rows = RowsIn(task, sent)
    top: list[Any] = []
    stack: list[tuple[type, Iterator[Any], list[Any]]] = [(list, iter((value,)), top)]
    while stack:
        kind, items, made = stack[-1]
        too_deep = len(stack) > deepest
        for item in items:
            size += ITEM_BYTES
            if type(item) in SCALARS:
                if type(item) is str:
                    size += len(item)
                made.append(_scalar_in(meter, item))
            elif type(item) in _RECEIVED:
                if too_deep:
                    raise LimitHitError("data_depth", len(stack), deepest)
                left = steps[0] = steps[0] - (_CONTAINER_STEPS + len(item))
                if left < 0:
                    meter.refill()
                copy = rows.copy(item)
                if copy is None:
                    stack.append((type(item), _host_children(meter, item), []))
                    break
                made.append(copy)
                containers += 1
                if containers % _CONTAINERS_A_TURN == 0:
                    yield
            else:
                made.append(_accepted(item))
        else:
            stack.pop()
            if stack:
                stack[-1][2].append(_received(task, kind, made))
    return top[0], size + rows.size


def _host_children(meter: Meter, value: Any) -> Iterator[Any]:
    if type(value) is dict:
        meter.dict_of(len(value))
        return chain.from_iterable(value.items())
    if type(value) in (list, tuple):
        meter.list_of(len(value))
        return iter(value)
    meter.dict_of(len(value))
    # A host's bare set has no order of its own that is the same on every run.
    return (
        iter(value) if type(value) is KeptSet else iter(sorted(value, key=lambda item: (str(type(item)), repr(item))))
    )


def _received(task: Task, kind: type, items: list[Any]) -> Any:
    if kind is list:
        return new_list(task, items)
    if kind is tuple:
        return tuple(items)
    if kind is dict:
        keys = items[::2]
        for key in keys:
            check_key(task.meter, key)
        return new_dict(task, zip(keys, items[1::2], strict=True))
    for item in items:
        check_key(task.meter, item)
    return new_set(task, items)


def _accepted(value: Any) -> Any:
    if isinstance(value, Opaque | GuestFunction | WordValue | Builtin) or type(value) is range:
        return value
    raise TypeError(
        f"a word returned {type(value).__name__}; words return plain data: None, bool, int, float, str, list, tuple, "
        "dict, set, or an Opaque"
    )
