"""Listeners: what sees every event of every run."""

from __future__ import annotations

from collections.abc import Callable

from .data_classes import frozen
from .stores import Event

__all__ = ["Listener"]


@frozen(kw_only=True)
class Listener:
    """One listener.

    :ivar on_event: called with the run's id and each event, on the event loop, in order.
    """

    name: str
    on_event: Callable[[str, Event], None]
