"""An event loop whose clock runs fast: an hour's wait takes seconds, and sockets, files and threads stay real.

    run_fast(scenario(), speed=600)

Ten minutes of the loop pass in a second of the world. What a test awaits on the way (an answer over loopback, a commit)
takes its own real time, so that a speed of a few hundred leaves an event of a millisecond well below a second.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["run_fast"]

T = TypeVar("T")


class _FastSelector(selectors.DefaultSelector):
    speed = 1.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(
            timeout if timeout is None else timeout / self.speed
        )
        return ready


class _FastLoop(asyncio.SelectorEventLoop):
    def __init__(self, speed: float) -> None:
        selector = _FastSelector()
        selector.speed = self._speed = speed
        super().__init__(selector)

    def time(self) -> float:
        return time.monotonic() * self._speed


def run_fast(main: Coroutine[Any, Any, T], *, speed: float) -> T:
    """Run a coroutine to its end on a fresh loop, ``speed`` of whose seconds pass in one."""
    with asyncio.Runner(loop_factory=lambda: _FastLoop(speed)) as runner:
        return runner.run(main)
