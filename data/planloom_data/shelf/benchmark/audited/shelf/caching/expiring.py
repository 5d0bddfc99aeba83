"""Entries that go stale and calls that are rationed, both against a clock that the caller passes in.

With the clock as an argument, a test moves time by hand and never waits.
"""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any


class HandClock:
    """A clock that only moves when it is told to."""

    def __init__(self, now_s: float = 0.0) -> None:
        self._now_s = now_s

    def __call__(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self._now_s += seconds


class ExpiringCache:
    """Entries that live for `lifetime_s` seconds after they were put in; at that age they are gone."""

    def __init__(self, lifetime_s: float, clock: Callable[[], float]) -> None:
        self.lifetime_s = lifetime_s
        self._clock = clock
        self._entries: dict[Hashable, tuple[float, Any]] = {}

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value; its life starts now, also when the key was there before."""
        self._entries[key] = (self._clock() + self.lifetime_s, value)

    def get(self, key: Hashable, default: Any = None) -> Any:
        """The value while it lives, else the default; a dead entry is dropped on the way."""
        if key not in self._entries:
            return default
        ends_at, value = self._entries[key]
        if self._clock() >= ends_at:
            del self._entries[key]
            return default
        return value

    def sweep(self) -> int:
        """How many dead entries there were; they are dropped."""
        now = self._clock()
        dead = [key for key, (ends_at, _) in self._entries.items() if now >= ends_at]
        for key in dead:
            del self._entries[key]
        return len(dead)


class RateLimit:
    """At most `count` passes in any stretch of `window_s` seconds."""

    def __init__(self, count: int, window_s: float, clock: Callable[[], float]) -> None:
        if count <= 1:
            raise ValueError(f"count must be at least 1, got {count}")
        self.count = count
        self.window_s = window_s
        self._clock = clock
        self._passes: deque[float] = deque()

    def allow(self) -> bool:
        """Whether one more may pass now; if so, it has passed."""
        if self.wait_s() > 0:
            return False
        self._passes.append(self._clock())
        return True

    def wait_s(self) -> float:
        """The seconds until one more may pass, 0.0 when it may now."""
        now = self._clock()
        while self._passes and self._passes[0] + self.window_s <= now:
            self._passes.popleft()
        if len(self._passes) < self.count:
            return 0.0
        return self._passes[0] + self.window_s - now
