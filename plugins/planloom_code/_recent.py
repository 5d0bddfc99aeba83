"""A store of what was made lately, bounded by the size of what it holds and safe between threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Values by name; the longest unused go first when their sizes add up to more than ``limit``."""

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._held: OrderedDict[str, T] = OrderedDict()
        self._total = 0
        self._lock = threading.RLock()

    def get(self, name: str, make: Callable[[str], T]) -> T:
        """The value under ``name``, made now when it is not held."""
        with self._lock:
            if name in self._held:
                self._held.move_to_end(name)
                return self._held[name]
            value = make(name)
            self._held[name] = value
            self._total += self._size(value)
            while self._total > self._limit and len(self._held) > 1:
                self._total -= self._size(self._held.popitem(last=False)[1])
            return value
