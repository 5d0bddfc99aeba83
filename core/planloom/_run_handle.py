"""A run as a program sees it, whoever drives it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from typing import TYPE_CHECKING, Any

import attrs

from ._given_values import given_credits
from .data_classes import frozen
from .outcomes import Outcome, outcome_of
from .resuming import find_run
from .status import status_line, status_now
from .steering import cancel_run, follow_events, raise_cap
from .stores import Books, Event, RunRow

if TYPE_CHECKING:
    from .api import Planloom

__all__ = ["Run"]

_STARTED_POLL_S = 0.05


@frozen
class Run:
    """One run of the store, driven here or elsewhere. Awaiting it gives its :class:`Outcome`."""

    _of: Planloom = attrs.field(repr=False)
    id: str

    def __await__(self) -> Generator[Any, None, Outcome]:
        return self.outcome().__await__()

    @property
    def record(self) -> RunRow:
        """What the store keeps of it, as it is now."""
        return find_run(self._of.loom.store, self.id)

    @property
    def title(self) -> str:
        """What it is called."""
        return self.record.title

    @property
    def status(self) -> str:
        """Its status now, such as ``running`` or ``completed``."""
        return status_now(self._of.loom.store, self.record)

    @property
    def status_line(self) -> str:
        """How it is going, in one line."""
        return status_line(self._of.loom.store, self.record)

    @property
    def driven(self) -> bool:
        """Whether some process drives it now."""
        return self._of.loom.store.driver(self.id) is not None

    @property
    def last_event(self) -> int:
        """The number of its last event so far, 0 when there is none."""
        return self._of.loom.store.progress(self.id).seq

    async def outcome(self) -> Outcome:
        """Return how it ended, when it has; where nobody drives it, how it stands."""
        driven = self._of.driven(self.id)
        if driven is not None:
            return await asyncio.shield(driven[1])
        async for _ in self.events():
            pass
        return outcome_of(self.record)

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Yield its events with a higher number, as they come, until it ends."""
        async for event in follow_events(self._of.loom.store, self.id, after, _STARTED_POLL_S):
            yield event

    async def cancel(self) -> str:
        """Cancel it, whoever drives it, and return its status then; calls in flight get up to 30 s to end."""
        driven = self._of.driven(self.id)
        if driven is None or driven[1].done():
            return await cancel_run(self._of.loom.store, self.record)
        control, task = driven
        control.cancel()
        await asyncio.wait({task})
        return self.status

    async def raise_cap(self, credit_amount: float) -> Books:
        """Give its job a higher budget, in credits, and return the books; where it waits for money it goes on.

        :raises Misuse: that is no amount, or is not higher.
        """
        return await raise_cap(self._of.loom.store, self.record, given_credits("credit_amount", credit_amount))
