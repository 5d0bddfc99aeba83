"""A time limit that can be set and moved for nearly nothing.

``asyncio.timeout`` makes a timer for each limit, and a new one each time its end is moved, which a call does with each
piece of its answer. Here the limits of an event loop share one timer. It goes off when the earliest of them was to end,
looks which ones have ended, and is set to the earliest of the others.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary

__all__ = ["Deadline"]


class Deadline:
    """Ends what is awaited inside ``with`` at a moment of the loop's clock, with ``TimeoutError``.

    :ivar at: that moment. :ivar expired: it came.
    """

    __slots__ = ("_cancelling", "_task", "_watch", "at", "expired")

    def __init__(self, at: float) -> None:
        self.at = at
        self.expired = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._task: asyncio.Task[Any] = task
        self._cancelling = task.cancelling()
        self._watch = _watch_of(task.get_loop())
        self._watch.add(self)
        return self

    def move(self, at: float) -> None:
        """End at another moment."""
        self.at = at
        self._watch.heed(at)

    def expire(self) -> None:
        """End now."""
        self.expired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._watch.remove(self)
        if self.expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error


class _Watch:
    """The limits of one event loop, and the timer that they share. It holds no loop that nobody else holds."""

    def __init__(self) -> None:
        self._open: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, deadline: Deadline) -> None:
        self._open.add(deadline)
        self.heed(deadline.at)

    def remove(self, deadline: Deadline) -> None:
        self._open.discard(deadline)
        if not self._open and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def heed(self, at: float) -> None:
        """Look no later than that."""
        if self._timer is not None:
            if self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(at, self._look)

    def _look(self) -> None:
        assert self._timer is not None
        now, self._timer = self._timer.when(), None
        ended = [deadline for deadline in self._open if deadline.at <= now]
        self._open.difference_update(ended)
        if self._open:
            self.heed(min(deadline.at for deadline in self._open))
        for deadline in ended:
            deadline.expire()


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watch] = WeakKeyDictionary()


def _watch_of(loop: asyncio.AbstractEventLoop) -> _Watch:
    watch = _watches.get(loop)
    if watch is None:
        watch = _watches[loop] = _Watch()
    return watch
