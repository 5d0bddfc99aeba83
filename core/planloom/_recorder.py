"""A run's event stream and threads on their way to the store and to listeners.

Events are numbered here, in the order they happen, by the one driver of a run. They are gathered for a tenth of a
second and committed behind the run's back; :meth:`Recorder.flush` waits for them. A worker that starts and ends within
that time is a row that is written once. Nothing that money or the next question rests on goes this way.

A worker that waits is written down only when it has waited for a second: of most there would be one more row to write
for something that nobody could have read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import attrs

from ._disk import Disk
from .listeners import Listener
from .stores import Event, Store, ThreadRow

__all__ = ["Recorder"]

_log = logging.getLogger("planloom")
T = TypeVar("T")

_GATHER_S = 0.1
_LOT = 128
_WAITS_S = 1.0


class Recorder:
    """Numbers, spreads and stores what happens in one run.

    :param store: where it goes; ``None`` for a run that leaves no trace (a rehearsal).
    :param clock: seconds, from any origin.
    :param disk: keeps what cannot be written; for every run that has a store.
    :param first_seq: the number of the first event; a run that goes on counts on from its last one.
    :param began_s: seconds that the run had lasted when the recorder is made; times in events count on from there.
    :ivar is_silent: whether nobody hears, so that nothing need be said.
    :ivar keeps: whether what happens is stored.
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
        # Those that wait and are not written down, with the time from which on they are; the first is due first.
        self._waiting: dict[str, tuple[float, Callable[[], ThreadRow]]] = {}
        self._writer: asyncio.Task[None] | None = None
        self._gathers: asyncio.TimerHandle | None = None
        self._looks: asyncio.TimerHandle | None = None
        self._is_new = True
        self.keeps = store is not None
        self.is_silent = store is None and not self._listeners

    def lasted(self) -> float:
        """Return the seconds since the run began, as the clock has them."""
        return self._clock() - self._began

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
        for listener in self._listeners:
            self._tell(listener, event)
        if self._store is not None:
            self._events.append(event if whole is None else attrs.evolve(event, data=whole))
            if self._gathers is None:
                self._wake()

    def thread(self, thread: str, newest: Callable[[], ThreadRow]) -> None:
        """Store the newest state of a worker's thread; it is asked for when it is written."""
        if self._store is not None:
            self._threads[thread] = newest
            if self._gathers is None:
                self._wake()

    def waits(self, thread: str, newest: Callable[[], ThreadRow]) -> None:
        """Store the state of a thread that waits, once it has for a while; see :meth:`waits_no_more`."""
        if self._store is not None:
            self._waiting[thread] = (self._clock() + _WAITS_S, newest)
            if self._looks is None:
                self._looks = asyncio.get_running_loop().call_later(_WAITS_S, self._look)

    def waits_no_more(self, thread: str) -> bool:
        """Hear that a thread's wait is over; return whether there may be a row that says that it waits."""
        return self._waiting.pop(thread, None) is None

    def leave(self) -> None:
        """Write nothing more: the run is another's."""
        self._store = None
        self.is_silent = not self._listeners
        self._events, self._threads, self._waiting = [], {}, {}

    async def flush(self) -> None:
        """Wait until everything is committed.

        :raises StoreError: it cannot be written.
        """
        while self._events or self._threads or self._writer is not None:
            self._begin()
            assert self._writer is not None
            await self._writer

    def _tell(self, listener: Listener, event: Event) -> None:
        try:
            listener.on_event(self._run, event)
        except Exception:
            # A listener is a guest: it is dropped, and the run goes on.
            _log.exception("listener %s failed and hears no more events of run %s", listener.name, self._run)
            self._listeners = [other for other in self._listeners if other is not listener]
            self.is_silent = self._store is None and not self._listeners

    def _look(self) -> None:
        """Have those written down that have waited for long."""
        self._looks, now = None, self._clock()
        while self._waiting:
            thread, (due, newest) = next(iter(self._waiting.items()))
            if due > now:
                self._looks = asyncio.get_running_loop().call_later(due - now, self._look)
                return
            del self._waiting[thread]
            self.thread(thread, newest)

    def _wake(self) -> None:
        if self._writer is None and self._gathers is None:
            # That a run has begun is on the disk before its record can say anything else of it.
            gather_s = 0.0 if self._is_new else _GATHER_S
            self._is_new = False
            self._gathers = asyncio.get_running_loop().call_later(gather_s, self._begin)

    def _begin(self) -> None:
        if self._gathers is not None:
            self._gathers.cancel()
            self._gathers = None
        if self._writer is None and self._store is not None:
            self._writer = asyncio.ensure_future(self._write(self._store))
            # What could not be written is tried again after the next event, and by `flush`, which says so.
            self._writer.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _write(self, store: Store) -> None:
        events, self._events = self._events, []
        threads, self._threads = self._threads, {}
        try:
            await self._commit(store, events, [newest() for newest in threads.values()])
        except BaseException:
            if self._store is not None:
                self._events = events + self._events
                self._threads = threads | self._threads
            raise
        finally:
            self._writer = None
        if self._events or self._threads:
            self._wake()

    async def _commit(self, store: Store, events: list[Event], threads: list[ThreadRow]) -> None:
        async def write() -> None:
            # In lots, between which a store may write what calls wait for. Events first: a later start tells nothing of
            # a worker whose row says that it ended, so that its events must be there by then.
            writes = [store.append_events(self._run, lot) for lot in _lots(events)]
            writes += [store.save_threads(lot) for lot in _lots(threads)]
            for fault in await asyncio.gather(*writes, return_exceptions=True):
                if fault is not None:
                    raise fault

        assert self._disk is not None
        await self._disk.keep(write)


def _lots(rows: list[T]) -> Iterator[list[T]]:
    for first in range(0, len(rows), _LOT):
        yield rows[first : first + _LOT]
