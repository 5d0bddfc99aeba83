"""Listeners: what sees every event of every run."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isasyncgenfunction, iscoroutinefunction

from ._errors import Misuse
from .data_classes import frozen
from .stores import Event

__all__ = ["Listener"]

_ASYNC = (iscoroutinefunction, isasyncgenfunction)


@frozen(kw_only=True)
class Listener:
    """One listener.

    :ivar on_event: called with the run's id and each event, on the event loop, in order; it is not waited for.
    :raises Misuse: ``on_event`` cannot be called, or is ``async``, so that nobody would wait for what it returns.
    """

    name: str
    on_event: Callable[[str, Event], None]

    def __attrs_post_init__(self) -> None:
        hear = self.on_event
        if not callable(hear):
            raise Misuse(
                f"`on_event` of the listener {self.name} must be a function of run id and event, got {hear!r:.80}"
            )
        if any(is_async(one) for is_async in _ASYNC for one in (hear, type(hear).__call__)):
            raise Misuse(
                f"`on_event` of the listener {self.name} is `async`, and is never awaited: events do not wait for who "
                "hears them; give a plain function, which may begin a task (asyncio.create_task) or fill a queue"
            )
