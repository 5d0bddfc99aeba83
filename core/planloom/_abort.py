"""One flag that ends every wait of a run: for a slot, for money, between attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from ._errors import RunAborted

__all__ = ["Abort"]

T = TypeVar("T")


class Abort:
    """Why a run must end, once it must; waits that go through it end with that reason within one turn of the loop.

    A wait runs in the task of who waits, which is cancelled and then told the reason, as ``asyncio.timeout`` does it: a
    wait in a task of its own could be granted a slot or money in the very turn in which its owner leaves.
    """

    def __init__(self) -> None:
        self.reason: RunAborted | None = None
        self._waits: set[asyncio.Task[Any]] = set()
        self._woken: set[asyncio.Task[Any]] = set()

    def set(self, reason: RunAborted) -> None:
        """End the run for this reason; the first one stays."""
        if self.reason is not None:
            return
        self.reason = reason
        for task in self._waits - {_current_task()}:
            self._woken.add(task)
            task.cancel()

    def check(self) -> None:
        """Raise the reason, if there is one."""
        if self.reason is not None:
            raise self._fresh()

    def _fresh(self) -> RunAborted:
        """Return the reason without the places where it was raised: once a worker, and it would keep them all."""
        assert self.reason is not None
        return self.reason.with_traceback(None)

    async def until(self, wait: Coroutine[Any, Any, T]) -> T:
        """Wait for something that can be cancelled without loss.

        :raises RunAborted: the run ended first; the wait is cancelled.
        """
        if self.reason is not None:
            wait.close()
            raise self._fresh()
        task = asyncio.current_task()
        assert task is not None
        if task in self._waits:  # a wait within a wait is ended with it
            return await wait
        self._waits.add(task)
        try:
            return await wait
        except asyncio.CancelledError:
            if task in self._woken and task.cancelling() == 1:
                raise self._fresh() from None
            raise
        finally:
            self._waits.discard(task)
            if task in self._woken:
                self._woken.discard(task)
                task.uncancel()


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs in this thread
        return None
