"""A run's event stream and threads on their way to the store and to listeners.

Events are numbered here, in the order they happen, by the one driver of a run. They are committed in batches behind the
run's back; :meth:`Recorder.flush` waits for them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from ._disk import Disk
from .listeners import Listener
from .stores import Event, Store, ThreadRow

__all__ = ["Recorder"]

_log = logging.getLogger("planloom")


class Recorder:
    """Numbers, spreads and stores what happens in one run.

    :param store: where it goes; ``None`` for a run that leaves no trace (a rehearsal).
    :param clock: seconds, from any origin.
    :param disk: keeps what cannot be written; for every run that has a store.
    :param first_seq: the number of the first event; a run that goes on counts on from its last one.
    :param began_s: seconds that the run had lasted when the recorder is made; times in events count on from there.
    """

    def __init__(
        self,
        run: str,
        store: Store | None,
        listeners: Iterable[Listener],
        clock: Callable[[], float],
        *,
        disk: Disk | None = None,
        first_seq: int = 1,
        began_s: float = 0.0,
    ) -> None:
        self._run = run
        self._store = store
        self._disk = disk
        self._listeners = list(listeners)
        self._clock = clock
        self._began = clock() - began_s
        self._seq = first_seq - 1
        self._events: list[Event] = []
        self._threads: dict[str, Callable[[], ThreadRow]] = {}
        self._writer: asyncio.Task[None] | None = None

    @property
    def is_silent(self) -> bool:
        """Whether nobody hears, so that nothing need be said."""
        return self._store is None and not self._listeners

    def seconds(self) -> float:
        """Return the seconds since the run began, to three decimals."""
        return round(self._clock() - self._began, 3)

    def emit(
        self,
        kind: str,
        fields: Mapping[str, Any],
        whole: Mapping[str, Any] | None = None,
        *,
        at_s: float | None = None,
    ) -> None:
        """Add one event.

        :param whole: its fields as they are stored, where ``fields`` was cut short for listeners.
        :param at_s: what :meth:`seconds` said when it happened, where the caller has just asked.
        """
        self._seq += 1
        if self.is_silent:
            return
        event = Event(seq=self._seq, t=self.seconds() if at_s is None else at_s, type=kind, data=fields)
        for listener in list(self._listeners):
            self._tell(listener, event)
        if self._store is not None:
            self._events.append(event if whole is None else attrs.evolve(event, data=whole))
            self._wake()

    def thread(self, thread: str, newest: Callable[[], ThreadRow]) -> None:
        """Store the newest state of a worker's thread; it is asked for when it is written."""
        if self._store is not None:
            self._threads[thread] = newest
            self._wake()

    def leave(self) -> None:
        """Write nothing more: the run is another's."""
        self._store = None
        self._events, self._threads = [], {}

    async def flush(self) -> None:
        """Wait until everything is committed.

        :raises StoreError: it cannot be written.
        """
        while self._events or self._threads or self._writer is not None:
            self._wake()
            assert self._writer is not None
            await self._writer

    def _tell(self, listener: Listener, event: Event) -> None:
        try:
            listener.on_event(self._run, event)
        except Exception:
            # A listener is a guest: it is dropped, and the run goes on.
            _log.exception("listener %s failed and hears no more events of run %s", listener.name, self._run)
            self._listeners.remove(listener)

    def _wake(self) -> None:
        if self._writer is None:
            self._writer = asyncio.ensure_future(self._write())
            # What could not be written is tried again at the next event, and by `flush`, which says so.
            self._writer.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _write(self) -> None:
        assert self._store is not None
        try:
            while self._events or self._threads:
                events, self._events = self._events, []
                threads, self._threads = self._threads, {}
                try:
                    await self._commit(self._store, events, [newest() for newest in threads.values()])
                except BaseException:
                    if self._store is not None:
                        self._events = events + self._events
                        self._threads = threads | self._threads
                    raise
        finally:
            self._writer = None

    async def _commit(self, store: Store, events: list[Event], threads: list[ThreadRow]) -> None:
        async def write() -> None:
            # Both in one batch of the store: what waits for the one is told with the other.
            writes = [store.save_threads(threads)] if threads else []
            if events:
                writes.append(store.append_events(self._run, events))
            for fault in await asyncio.gather(*writes, return_exceptions=True):
                if fault is not None:
                    raise fault

        assert self._disk is not None
        await self._disk.keep(write)
