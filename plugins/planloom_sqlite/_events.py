"""A run's events as rows, counted by type as they come, so that its progress is a look at a few rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from planloom.stores import Event, RunProgress

from ._connections import Readers
from ._packing import clean, decode, encode

__all__ = ["add_events", "read_events", "read_progress"]

_RESUMED = "run.resumed"
_PHASE = "run.phase_started"
_PAUSES = ("run.budget_paused", "run.budget_raised", "run.breaker")
_HOLES = ("run.dropped", "run.undecided")


def add_events(connection: sqlite3.Connection, run: str, events: Sequence[Event]) -> None:
    """Append events; one that is there already stays, so that a write may be tried again."""
    anew = [place for place, event in enumerate(events) if event.type == _RESUMED]
    for first, end in zip([0, *anew], [*anew, len(events)], strict=True):
        if first < end and events[first].type == _RESUMED:
            connection.execute("UPDATE tally SET before = count WHERE run = ?", (run,))
        _add_and_count(connection, run, events[first:end])


def _add_and_count(connection: sqlite3.Connection, run: str, events: Sequence[Event]) -> None:
    by_type: dict[str, list[Event]] = {}
    for event in events:
        by_type.setdefault(event.type, []).append(event)
    for kind, alike in by_type.items():
        added = connection.executemany(
            "INSERT INTO event (run, seq, t, type, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(run, event.seq, event.t, kind, encode(dict(event.data))) for event in alike],
        ).rowcount
        connection.execute(
            "INSERT INTO tally (run, type, count, last) VALUES (?, ?, ?, ?) ON CONFLICT (run, type) DO UPDATE "
            "SET count = count + excluded.count, last = max(last, excluded.last)",
            (run, kind, added, max(event.seq for event in alike)),
        )


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
    )


def _event_at(readers: Readers, run: str, seq: int) -> Event | None:
    row = readers.row("SELECT seq, t, type, data FROM event WHERE run = ? AND seq = ?", (run, seq)) if seq else None
    return None if row is None else _event_from((row[0], row[1], row[2], row[3]))
