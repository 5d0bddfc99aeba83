"""What a run writes of itself while it goes on: its row and its journal. A replay writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import attrs

from ._disk import Disk
from .stores import RunRow, Store

__all__ = ["RunRecord"]


class RunRecord:
    """The row and the journal of one run; only its driver has one.

    :param store: where they go; ``None`` for a run that leaves no trace. :param disk: keeps what cannot be written.
    """

    def __init__(self, store: Store | None, row: RunRow, disk: Disk) -> None:
        self._store = store
        self._disk = disk
        self.row = row
        self._writes: set[asyncio.Task[None]] = set()

    async def save(self, **changes: Any) -> None:
        """Change the row and wait until that is committed.

        :raises StoreError: it cannot be written.
        """
        self.row = attrs.evolve(self.row, **changes)
        if (store := self._store) is not None:
            # What waited for room is written as it is by then.
            await self._disk.keep(lambda: store.save_run(self.row))

    def leave(self) -> None:
        """Write nothing more: the run is another's."""
        self._store = None

    def begin_add(self, status: str, **facts: Any) -> None:
        """Change status and facts, and wait for no commit."""
        # At once: who adds another fact in this very turn adds it to these.
        self.row = attrs.evolve(self.row, status=status, facts={**self.row.facts, **facts})
        self._begin(self.save())

    def journal(self, place: str, value: Any) -> None:
        """Write down what a word that is not pure returned; :meth:`written` waits for it."""
        if (store := self._store) is not None:
            self._begin(self._disk.keep(lambda: store.write_journal(self.row.id, place, value)))

    @property
    def unwritten(self) -> bool:
        """Whether there is anything that :meth:`written` would wait for."""
        return bool(self._writes)

    async def written(self) -> None:
        """Wait for all that was begun.

        :raises StoreError: some of it cannot be written.
        """
        if self._writes:
            done, _ = await asyncio.wait(self._writes)
            for write in done:
                write.result()

    def _begin(self, writing: Coroutine[Any, Any, None]) -> None:
        write = asyncio.ensure_future(writing)
        self._writes.add(write)
        write.add_done_callback(self._ended)

    def _ended(self, write: asyncio.Task[None]) -> None:
        # One that failed stays, for whoever next waits for all of them.
        if write.cancelled() or write.exception() is None:
            self._writes.discard(write)
