"""The runs that this process drives, each in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from .control import RunControl
from .data_classes import frozen
from .outcomes import Outcome

__all__ = ["Driven", "Driving"]


@frozen
class Driven:
    """A run that this process drives, or drove: a hand on it, and the task that ends with it."""

    control: RunControl
    task: asyncio.Task[Outcome]


class Driving:
    """What is driven on behalf of one :class:`planloom.Planloom`."""

    def __init__(self) -> None:
        self._begun: dict[str, Driven] = {}
        self._going_on: dict[asyncio.Task[Outcome], RunControl] = {}

    async def begin(self, run: Coroutine[Any, Any, Outcome], control: RunControl) -> str:
        """Drive a run in a task; return its id when it is under way, or raise why it cannot be."""
        task = asyncio.ensure_future(run)
        self._going_on[task] = control
        task.add_done_callback(self._ended)
        begun = asyncio.ensure_future(control.begun.wait())
        try:
            await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            control.cancel()
            raise
        finally:
            begun.cancel()
            if control.begun.is_set():
                self._begun[control.run_id] = Driven(control, task)
        if task.done():
            task.result()
        return control.run_id

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        del self._going_on[task]
        if not task.cancelled():
            task.exception()  # who began it may have gone

    def find(self, run_id: str) -> Driven | None:
        """Return a run that was begun here, ``None`` for any other."""
        return self._begun.get(run_id)

    def cancel_all(self) -> None:
        """Cancel all that goes on."""
        for control in list(self._going_on.values()):
            if control.abort.reason is None:  # to cancel one twice would cut its calls off
                control.cancel()

    async def ended(self) -> None:
        """Wait until all has ended."""
        await asyncio.gather(*self._going_on, return_exceptions=True)
