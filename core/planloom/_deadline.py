"""A time limit that can be moved for nearly nothing.

``asyncio.timeout`` makes a new timer each time its end is moved, which a call does with each piece of its answer. Here
the one timer that there is looks, when it goes off, whether the end has been moved meanwhile.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

__all__ = ["Deadline"]


class Deadline:
    """Ends what is done inside ``async with`` at a moment of the loop's clock, with ``TimeoutError``.

    :ivar expired: it did.
    """

    __slots__ = ("_at", "_cancelling", "_loop", "_task", "_timer", "expired")

    def __init__(self, at: float) -> None:
        self._at = at
        self.expired = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._task: asyncio.Task[Any] = task
        self._cancelling = task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_at(self._at, self._look)
        return self

    def move(self, at: float) -> None:
        """End at another moment."""
        self._at = at
        if at < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(at, self._look)

    def _look(self) -> None:
        if self._at > self._timer.when():
            self._timer = self._loop.call_at(self._at, self._look)
        else:
            self.expired = True
            self._task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self.expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
