"""One flag that ends every wait of a run: for a slot, for money, between attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from ._errors import RunAborted

__all__ = ["Abort"]

T = TypeVar("T")


class Abort:
    """Why a run must end, once it must; waits that go through it end with that reason within one turn of the loop."""

    def __init__(self) -> None:
        self.reason: RunAborted | None = None
        self._waits: set[asyncio.Future[Any]] = set()

    def set(self, reason: RunAborted) -> None:
        """End the run for this reason; the first one stays."""
        if self.reason is None:
            self.reason = reason
            for wait in list(self._waits):
                wait.cancel()

    def check(self) -> None:
        """Raise the reason, if there is one."""
        if self.reason is not None:
            raise self.reason

    async def until(self, wait: Coroutine[Any, Any, T]) -> T:
        """Wait for something that may be given up without loss.

        :raises RunAborted: the run ended first; the wait is cancelled.
        """
        if self.reason is not None:
            wait.close()
            raise self.reason
        task = asyncio.ensure_future(wait)
        self._waits.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            if self.reason is not None and not _cancelled_from_outside():
                raise self.reason from None
            raise
        finally:
            self._waits.discard(task)


def _cancelled_from_outside() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
