"""An event loop whose clock jumps: whoever sleeps is woken at once, in the order of their alarms.

A rehearsal of an hour's run takes milliseconds and still says how long the run would take, and which worker would end
before which.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["from_zero", "run_in_virtual_time"]

T = TypeVar("T")


class _JumpingSelector(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("every task of a rehearsal waits for something that nothing will bring")
        self.now += max(0.0, timeout)
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def begin_anew(self) -> None:
        self._jumping.now = 0.0


async def from_zero(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as if on a fresh loop, in virtual time: at 0 s, in a task of its own, and nothing of it is left.

    A loop takes longer to make and to close than many a plan to play. Call it where nothing else goes on.
    """
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _VirtualLoop)
    loop.begin_anew()
    try:
        return await loop.create_task(main)
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def run_in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a fresh loop that starts at 0 s; call it where no loop is running."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(main)
