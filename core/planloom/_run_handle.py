"""A run as a program sees it, whoever drives it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ._given_values import given_credits
from ._named_runs import find_run
from .data_classes import frozen
from .outcomes import Outcome, outcome_of
from .status import cancelling_now, holes_now, paid_now, status_line, status_now, workers_now
from .steering import Heard, cancel_run, follow_events, raise_cap
from .stores import Books, Event, RunHolder, RunProgress, RunRow, ThreadRow, UncertainCall
from .targets import target_of

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

    # --- how it stands

    @property
    def record(self) -> RunRow:
        """What the store keeps of it, as it is now."""
        return find_run(self._of.store, self.id)

    @property
    def title(self) -> str:
        """What it is called."""
        return self.record.title

    @property
    def target(self) -> str:
        """The path that its kits work on; empty for none."""
        return target_of(self.record.facts)

    @property
    def status(self) -> str:
        """Its status now, such as ``running`` or ``completed``."""
        return status_now(self._of.store, self.record)

    @property
    def status_line(self) -> str:
        """How it is going, in one line."""
        return status_line(self._of.store, self.record)

    @property
    def failed(self) -> int:
        """How many of its workers failed so far."""
        row = self.record
        return workers_now(self._of.store, row, status_now(self._of.store, row), self.progress)["failed"]

    @property
    def holes(self) -> int:
        """What it lacks so far: workers that failed or were dropped, tasks that failed, questions left undecided."""
        row = self.record
        return holes_now(self._of.store, row, status_now(self._of.store, row), self.progress)

    @property
    def way_on(self) -> Sequence[str]:
        """What it waits for, who drives it, and how to go on with it, in a person's words; empty when it is whole."""
        from ._way_on import way_on_now

        return way_on_now(self._of.store, self.record)

    @property
    def cancelling(self) -> Mapping[str, Any] | None:
        """The cancel that is under way: how many ``calls`` it lets end, and ``until`` when; ``None`` where none is."""
        row = self.record
        return cancelling_now(row, status_now(self._of.store, row))

    @property
    def driver(self) -> RunHolder | None:
        """The process that drives it now, ``None`` where none does."""
        return self._of.store.driver(self.id)

    @property
    def driven(self) -> bool:
        """Whether some process drives it now."""
        return self.driver is not None

    @property
    def progress(self) -> RunProgress:
        """Its workers, events and seconds so far."""
        return self._of.store.progress(self.id)

    @property
    def last_event(self) -> int:
        """The number of its last event so far, 0 when there is none."""
        return self.progress.seq

    @property
    def paid(self) -> int | None:
        """What it cost so far in micro-credits, its planning included; ``None`` where nothing says so."""
        row = self.record
        return paid_now(self._of.store, row, status_now(self._of.store, row))

    @property
    def uncertain(self) -> Sequence[UncertainCall]:
        """Its job's calls of unknown outcome, which stay charged at their worst price."""
        budget = self.record.budget
        return self._of.store.uncertain_calls(budget) if budget else ()

    def workers(self, status: str | None = None, limit: int | None = None) -> Sequence[ThreadRow]:
        """Return its workers in the order they started.

        :param status: only those, such as ``failed``. :param limit: at most so many.
        """
        return self._of.store.threads(self.id, status=status, limit=limit)

    def events_so_far(self, after: int = 0) -> Sequence[Event]:
        """Return its events with a higher number that there are by now, in order."""
        return self._of.store.events(self.id, after)

    def as_json(self) -> dict[str, Any]:
        """Return its record as plain data, without plan, result and events."""
        from .exporting import run_as_json

        return run_as_json(self._of.store, self.record)

    def export(self, folder: str | os.PathLike[str]) -> None:
        """Write all of it as files below a folder, which is made where there is none.

        :raises Misuse: the folder cannot be written.
        """
        from .exporting import export_run

        export_run(self._of.store, self.record, Path(folder))

    # --- how it goes on

    async def outcome(self) -> Outcome:
        """Return how it ended, when it has; where nobody drives it, how it stands."""
        driven = self._of.driving.find(self.id)
        if driven is not None:
            return await asyncio.shield(driven.task)
        async for _ in self.events():
            pass
        return outcome_of(self.record)

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Yield its events with a higher number, as they come, until it ends."""
        async for event in follow_events(self._of.store, self.id, after, _STARTED_POLL_S):
            yield event

    async def cancel(self, heard: Heard = lambda cancelling: None) -> str:
        """Cancel it, whoever drives it, and return its status then; calls in flight get up to 30 s to end.

        :param heard: told once what another process that drives it lets end first, as :attr:`cancelling` says it, and
            ``None`` where that has not answered for a second.
        :raises Misuse: the store was opened to look only.
        """
        self._of.check_writes("cancel")
        driven = self._of.driving.find(self.id)
        if driven is None or driven.task.done():
            return await cancel_run(self._of.store, self.record, heard=heard)
        driven.control.cancel()
        await asyncio.wait({driven.task})
        return self.status

    async def raise_cap(self, credit_amount: float) -> Books:
        """Give its job a higher budget, in credits, and return the books; where it waits for money it goes on.

        :raises Misuse: that is no amount, or is not higher; or the store was opened to look only.
        """
        self._of.check_writes("raise_cap")
        return await raise_cap(self._of.store, self.record, given_credits("credit_amount", credit_amount))

    # --- what was worked out for it

    def recall(self, name: str, key: str) -> Any:
        """Return what a run of its job worked out under this name from the same key, or ``None``."""
        return self._of.loom.recall(self.record.job, name, key)

    async def remember(self, name: str, key: str, value: Any) -> None:
        """Keep with it what was worked out for it, for later runs of its job.

        :param value: what JSON can hold. :param key: says what it rests on.
        """
        self._of.check_writes("remember")
        await self._of.loom.remember(self.id, name, key, value)
