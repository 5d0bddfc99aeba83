"""Iteration: who may be iterated, iteration locks, and the lazy iterators that a plan can hold.

A loop locks what it iterates over, a lazy iterator does from its first item to its last. Guest code runs inside
generators written here, never inside the host's ``map`` or ``zip``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from .invoke import call_value
from .meter import ITERATOR_BYTES, LIST_ITEM_BYTES, TUPLE_BYTES, TUPLE_ITEM_BYTES, LimitHitError, Meter
from .tasks import Task
from .values import DictView, Frame, LazyIterator, PlanDict, PlanList, PlanSet, type_name
from .walk import contains, equal, range_length

__all__ = [
    "Lock",
    "enumerate_lazily",
    "filter_lazily",
    "items_of",
    "length_of",
    "locked",
    "map_lazily",
    "membership",
    "native_iterator",
    "reverse_lazily",
    "zip_lazily",
]

_LOCKABLE: Final = (PlanList, PlanDict, PlanSet)
_SIZED: Final = (PlanList, tuple, str, PlanDict, PlanSet)
_LAZY_DEPTH: Final = 50  # iterators inside iterators take host frames at every step
_LAZY_FRAMES: Final = 4  # host frames between a consumer and the guest code of an iterator


class Lock:
    """Keeps a value from growing or shrinking until it is released or its task ends."""

    __slots__ = ("task", "value")

    def __init__(self, task: Task, value: Any) -> None:
        self.task, self.value = task, value
        value.locks += 1
        if task.open_locks is None:
            task.open_locks = set()
        task.open_locks.add(self)

    def release(self) -> None:
        """Give the value free; a second call changes nothing."""
        if self.value is not None:
            self.value.locks -= 1
            self.value = None
            if self.task.open_locks is not None:
                self.task.open_locks.discard(self)


def locked(task: Task, value: Any, native: Any) -> Iterator[Any]:
    """Iterate over ``native`` while ``value`` is locked."""
    lock = Lock(task, value)
    try:
        yield from native
    finally:
        lock.release()


def native_iterator(frame: Frame, value: Any) -> Iterator[Any]:
    """Return the host's iterator for a value, without a lock; :raises TypeError: it cannot be iterated."""
    kind = type(value)
    if kind in _SIZED or kind is range:
        return iter(value)
    if kind is DictView:
        return iter(value.native())
    if kind is LazyIterator:
        return _opened(frame, value)
    raise TypeError(f"'{type_name(value)}' object is not iterable")


def _opened(frame: Frame, lazy: LazyIterator) -> Iterator[Any]:
    for inner in lazy.frames:
        inner[0] = frame[0]
        inner[1] = frame[1]
        inner[2] = frame[2] + _LAZY_FRAMES * lazy.depth
    return lazy.iterator


def _source(frame: Frame, value: Any) -> Iterator[Any]:
    """Return an iterator that locks what it iterates over, for a lazy iterator to read from."""
    if type(value) in _LOCKABLE:
        return locked(frame[0], value, value)
    if type(value) is DictView:
        return locked(frame[0], value.source, value.native())
    return native_iterator(frame, value)


def length_of(value: Any) -> int | None:
    """Return the length of a value that has one, else ``None``."""
    kind = type(value)
    if kind in _SIZED:
        return len(value)
    if kind is range:
        return range_length(value)
    return len(value.source) if kind is DictView else None


def items_of(frame: Frame, value: Any) -> Any:
    """Return the items of an iterable as something the host can iterate over freely, charged as a list."""
    meter = frame[0].meter
    length = length_of(value)
    if length is None:
        return _collect(meter, native_iterator(frame, value))
    meter.list_of(length)
    if type(value) is DictView and value.kind == "items":
        meter.store((TUPLE_BYTES + 2 * TUPLE_ITEM_BYTES) * length)
    return list(native_iterator(frame, value))


def _collect(meter: Meter, iterator: Iterator[Any]) -> list[Any]:
    items: list[Any] = []
    for item in iterator:
        meter.work(1)
        width = TUPLE_BYTES + TUPLE_ITEM_BYTES * len(item) if type(item) is tuple else 0
        meter.store(LIST_ITEM_BYTES + width)
        items.append(item)
        if len(items) > meter.limits.collection_length:
            raise LimitHitError("collection_length", len(items), meter.limits.collection_length)
    return items


def _lazy(
    frame: Frame, kind: str, make: Callable[[Frame, list[Iterator[Any]]], Iterator[Any]], sources: tuple[Any, ...]
) -> LazyIterator:
    depth = 1 + max((s.depth for s in sources if type(s) is LazyIterator), default=0)
    if depth > _LAZY_DEPTH:
        raise LimitHitError("data_depth", depth, _LAZY_DEPTH)
    frame[0].meter.store(ITERATOR_BYTES)
    own: Frame = [frame[0], frame[1], frame[2], None]
    inner = tuple(f for s in sources if type(s) is LazyIterator for f in s.frames)
    iterators = [_source(frame, s) for s in sources]
    return LazyIterator(kind, make(own, iterators), depth, (own, *inner))


def zip_lazily(frame: Frame, sources: tuple[Any, ...], strict: bool) -> LazyIterator:
    """Return what ``zip`` returns."""
    return _lazy(frame, "zip", lambda _, iterators: _zip(iterators, strict), sources)


def _zip(iterators: list[Iterator[Any]], strict: bool) -> Iterator[tuple[Any, ...]]:
    if not iterators:
        return
    while True:
        row: list[Any] = []
        for iterator in iterators:
            for item in iterator:
                row.append(item)
                break
            else:
                if strict:
                    _check_same_length(iterators, len(row))
                return
        yield tuple(row)


def _check_same_length(iterators: list[Iterator[Any]], ended: int) -> None:
    if ended:
        raise ValueError(f"zip() argument {ended + 1} is shorter than argument {_up_to(ended)}")
    for number, iterator in enumerate(iterators[1:], start=1):
        for _ in iterator:
            raise ValueError(f"zip() argument {number + 1} is longer than argument {_up_to(number)}")


def _up_to(count: int) -> str:
    return "1" if count == 1 else f"s 1-{count}"


def enumerate_lazily(frame: Frame, source: Any, start: int) -> LazyIterator:
    """Return what ``enumerate`` returns."""
    return _lazy(frame, "enumerate", lambda _, iterators: _enumerate(iterators[0], start), (source,))


def _enumerate(iterator: Iterator[Any], number: int) -> Iterator[tuple[int, Any]]:
    for item in iterator:
        yield number, item
        number += 1


def map_lazily(frame: Frame, function: Any, sources: tuple[Any, ...]) -> LazyIterator:
    """Return what ``map`` returns."""
    return _lazy(frame, "map", lambda own, iterators: _map(own, function, iterators), sources)


def _map(own: Frame, function: Any, iterators: list[Iterator[Any]]) -> Iterator[Any]:
    meter = own[0].meter
    for row in _zip(iterators, strict=False):
        meter.work(1)
        yield call_value(own, function, *row)


def filter_lazily(frame: Frame, function: Any, source: Any) -> LazyIterator:
    """Return what ``filter`` returns."""
    return _lazy(frame, "filter", lambda own, iterators: _filter(own, function, iterators[0]), (source,))


def _filter(own: Frame, function: Any, iterator: Iterator[Any]) -> Iterator[Any]:
    meter = own[0].meter
    for item in iterator:
        meter.work(1)
        if item if function is None else call_value(own, function, item):
            yield item


def reverse_lazily(frame: Frame, value: Any) -> LazyIterator:
    """Return what ``reversed`` returns; :raises TypeError: the value has no order to reverse."""
    kind = type(value)
    if kind not in (PlanList, tuple, str, range, PlanDict, DictView):
        raise TypeError(f"'{type_name(value)}' object is not reversible")
    native = value.native() if kind is DictView else value
    lockable = value.source if kind is DictView else value
    backwards = reversed(native)
    if type(lockable) in _LOCKABLE:
        backwards = locked(frame[0], lockable, backwards)
    frame[0].meter.store(ITERATOR_BYTES)
    return LazyIterator("reversed", backwards, 1, ())


def membership(frame: Frame, item: Any, container: Any) -> bool:
    """Return ``item in container``; an iterator is read up to the item."""
    meter: Meter = frame[0].meter
    if type(container) is not LazyIterator:
        return contains(meter, item, container)
    for other in _opened(frame, container):
        meter.work(1)
        if other is item or equal(meter, item, other):
            return True
    return False
