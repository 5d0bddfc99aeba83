"""A cache that keeps the entries used last, and a decorator on top of it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentCache(Generic[K, V]):
    """At most `capacity` entries; when one more comes, the one not used for the longest time goes."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, default: V | None = None) -> V | None:
        """The entry, now the one used last, or the default."""
        if key not in self._entries:
            self.misses += 1
            return default
        self.hits += 1
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, key: K, value: V) -> None:
        """Keep an entry as the one used last; an entry with the same key is replaced."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        while len(self._entries) > self.capacity:
            self._entries.popitem(last=False)

    def keys(self) -> list[K]:
        """The keys from the one not used for the longest time to the one used last."""
        return list(self._entries)

    def forget(self, key: K) -> bool:
        """Whether there was an entry; there is none now."""
        if key in self._entries:
            del self._entries[key]
            return True
        return False

    @property
    def hit_rate(self) -> float:
        """The share of questions that were answered, 0.0 before the first one."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


def remembered(capacity: int) -> Callable[[Callable[[K], V]], Callable[[K], V]]:
    """A decorator for functions of one argument: answers are kept for the arguments used last."""

    def decorate(function: Callable[[K], V]) -> Callable[[K], V]:
        cache: RecentCache[K, tuple[V]] = RecentCache(capacity)

        def answer(argument: K) -> V:
            kept = cache.get(argument)
            if kept is None:
                kept = (function(argument),)
                cache.put(argument, kept)
            return kept[1]

        return answer

    return decorate
