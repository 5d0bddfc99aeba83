"""A run's events as rows, counted by type as they come, so that its progress is a look at a few rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from planloom.stores import Event, RunProgress

from ._connections import Readers
from ._packing import clean, decode, encode
from ._rows import EVENT, TALLY, write

__all__ = ["add_events", "read_events", "read_progress"]

_RESUMED = "run.resumed"
_PHASE = "run.phase_started"
_PAUSES = ("run.budget_paused", "run.budget_raised", "run.breaker", "run.disk_full")
_HOLES = ("run.dropped", "run.undecided")


def add_events(connection: sqlite3.Connection, run: str, events: Sequence[Event]) -> None:
    """Append events; one that is there already stays, so that a write may be tried again."""
    new = _without_those_there(connection, run, events)
    write(connection, EVENT, [(run, e.seq, e.t, e.type, encode(dict(e.data))) for e in new])
    anew = [place for place, event in enumerate(new) if event.type == _RESUMED]
    for first, end in zip([0, *anew], [*anew, len(new)], strict=True):
        if first < end and new[first].type == _RESUMED:
            connection.execute("UPDATE tally SET before = count WHERE run = ?", (run,))
        _count(connection, run, new[first:end])


def _without_those_there(connection: sqlite3.Connection, run: str, events: Sequence[Event]) -> list[Event]:
    numbers = [event.seq for event in events]
    found = connection.execute(
        "SELECT seq FROM event WHERE run = ? AND seq BETWEEN ? AND ?", (run, min(numbers), max(numbers))
    )
    there = {seq for (seq,) in found}
    return [event for event in events if event.seq not in there]


def _count(connection: sqlite3.Connection, run: str, events: Sequence[Event]) -> None:
    counts = Counter(event.type for event in events)
    last = {event.type: event.seq for event in sorted(events, key=lambda event: event.seq)}
    write(connection, TALLY, [(run, kind, count, last[kind]) for kind, count in counts.items()])


def read_events(readers: Readers, run_id: str, after: int, limit: int | None) -> list[Event]:
    """Return a run's events with a higher number, in order."""
    rows = readers.rows(
        "SELECT seq, t, type, data FROM event WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?",
        (clean(run_id), after, -1 if limit is None else limit),
    )
    return [_event_from(row) for row in rows]


def _event_from(row: tuple[int, float, str, str]) -> Event:
    seq, t, kind, data = row
    return Event(seq=seq, t=t, type=kind, data=decode(data))


def read_progress(readers: Readers, run_id: str) -> RunProgress:
    """Return how far a run is."""
    run = clean(run_id)
    threads = dict(readers.rows("SELECT status, count(*) FROM thread WHERE run = ? GROUP BY status", (run,)))
    tally = readers.rows("SELECT type, count, last, before FROM tally WHERE run = ?", (run,))
    last = {kind: seq for kind, _, seq, _ in tally}
    newest = _event_at(readers, run, max(last.values(), default=0))
    return RunProgress(
        threads=threads,
        events={kind: count for kind, count, _, _ in tally},
        seq=newest.seq if newest else 0,
        t=newest.t if newest else 0.0,
        phase=_event_at(readers, run, last.get(_PHASE, 0)),
        pause=_event_at(readers, run, max(last.get(kind, 0) for kind in _PAUSES)),
        holes=threads.get("failed", 0) + sum(count - before for kind, count, _, before in tally if kind in _HOLES),
        agents=sum(threads.values()) - _never_started(readers, run, threads),
    )


def _never_started(readers: Readers, run: str, threads: Mapping[str, int]) -> int:
    row = readers.row("SELECT count(*) FROM thread WHERE run = ? AND status = 'cancelled' AND started IS NULL", (run,))
    assert row is not None
    return int(row[0]) + threads.get("waiting", 0) + threads.get("dropped", 0)


def _event_at(readers: Readers, run: str, seq: int) -> Event | None:
    row = readers.row("SELECT seq, t, type, data FROM event WHERE run = ? AND seq = ?", (run, seq)) if seq else None
    return None if row is None else _event_from((row[0], row[1], row[2], row[3]))
