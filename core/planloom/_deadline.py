"""A time limit that can be set and moved for nearly nothing.

``asyncio.timeout`` makes a timer for each limit, and a new one each time its end is moved, which a call does with each
piece of its answer. Here the limits of an event loop share one timer. It goes off when the earliest of them was to end,
looks which ones have ended, and is set to the earliest of the others.

A timer that goes off late tells of a process that did not run: one that was suspended, or that had much to do. What
came meanwhile waits to be read, and is no later than it would have been: so the limits end a second later.
"""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary, ref

__all__ = ["Deadline"]

_LATE_S = 0.1
_TO_READ_S = 1.0


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
        watch = self._watch = _watch_of(task.get_loop())
        watch.open.add(self)
        if self.at < watch.looks_at:
            watch.look_at(self.at)
        return self

    def move(self, at: float) -> None:
        """End at another moment."""
        self.at = at
        if at < self._watch.looks_at:
            self._watch.look_at(at)

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
    """The limits of one event loop, and the timer that they share. It holds no loop that nobody else holds.

    :ivar looks_at: when the timer goes off; for ever after while there is none.
    """

    __slots__ = ("_looks_again", "_timer", "looks_at", "loop", "open")
    newest: ClassVar[_Watch | None] = None  # of the loop that runs, nearly always

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = ref(loop)
        self.open: set[Deadline] = set()
        self.looks_at = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._looks_again = False

    def remove(self, deadline: Deadline) -> None:
        self.open.discard(deadline)
        if not self.open and self._timer is not None:
            self._timer.cancel()
            self._timer, self.looks_at, self._looks_again = None, math.inf, False

    def look_at(self, at: float) -> None:
        """Look then, which is earlier than the timer would."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self.looks_at = asyncio.get_running_loop().call_at(at, self._look), at

    def _look(self) -> None:
        due, self._timer, self.looks_at = self.looks_at, None, math.inf
        now = asyncio.get_running_loop().time()
        self._looks_again = not self._looks_again and now - due > _LATE_S
        if self._looks_again:
            self.look_at(now + _TO_READ_S)
            return
        ended = [deadline for deadline in self.open if deadline.at <= due]
        self.open.difference_update(ended)
        if self.open:
            self.look_at(min(deadline.at for deadline in self.open))
        for deadline in ended:
            deadline.expire()


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watch] = WeakKeyDictionary()


def _watch_of(loop: asyncio.AbstractEventLoop) -> _Watch:
    watch = _Watch.newest
    if watch is None or watch.loop() is not loop:
        watch = _watches.get(loop)
        if watch is None:
            watch = _watches[loop] = _Watch(loop)
        _Watch.newest = watch
    return watch
