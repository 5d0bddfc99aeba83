"""A run's events as rows, counted by type as they come, so that its progress is a look at a few rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from planloom.stores import Event, RunProgress

from ._connections import Readers
from ._names import RUN_NUMBER
from ._packing import clean
from ._rows import EVENT, TALLY, Rows, write
from ._shapes import event_from, shape_of, values_of

__all__ = ["add_events", "read_events", "read_progress"]

_RESUMED = "run.resumed"
_PHASE = "run.phase_started"
_PAUSES = ("run.budget_paused", "run.budget_raised", "run.breaker", "run.disk_full")
_HOLES = ("run.dropped", "run.undecided")


def add_events(connection: sqlite3.Connection, rows: Rows, run: str, events: Sequence[Event]) -> None:
    """Append events; one that is there already stays, so that a write may be tried again."""
    number = rows.runs.number(run)
    new = _without_those_there(connection, rows, number, events)
    shape = rows.shapes.number
    write(
        connection, EVENT, [(number, e.seq, e.t, shape(shape_of(e.type, e.data)), values_of(run, e.data)) for e in new]
    )
    anew = [place for place, event in enumerate(new) if event.type == _RESUMED]
    for first, end in zip([0, *anew], [*anew, len(new)], strict=True):
        if first < end and new[first].type == _RESUMED:
            connection.execute("UPDATE tally SET before = count WHERE run = ?", (number,))
        _count(connection, number, new[first:end])


def _without_those_there(
    connection: sqlite3.Connection, rows: Rows, run: int, events: Sequence[Event]
) -> Sequence[Event]:
    numbers = [event.seq for event in events]
    first, last, newest = min(numbers), max(numbers), rows.newest_events.get(run)
    if newest is None:
        (newest,) = connection.execute("SELECT coalesce(max(seq), 0) FROM event WHERE run = ?", (run,)).fetchone()
    rows.newest_events[run] = max(last, newest)
    if first > newest:
        return events
    found = connection.execute("SELECT seq FROM event WHERE run = ? AND seq BETWEEN ? AND ?", (run, first, last))
    there = {seq for (seq,) in found}
    return [event for event in events if event.seq not in there]


def _count(connection: sqlite3.Connection, run: int, events: Sequence[Event]) -> None:
    counts = Counter([event.type for event in events])
    last: dict[str, int] = {}
    for event in events:
        if event.seq > last.get(event.type, 0):
            last[event.type] = event.seq
    write(connection, TALLY, [(run, kind, count, last.get(kind, 0)) for kind, count in counts.items()])


def read_events(readers: Readers, run_id: str, after: int, limit: int | None) -> list[Event]:
    """Return a run's events with a higher number, in order."""
    run = clean(run_id)
    rows = readers.rows(f"{_OF_RUN} AND seq > ? ORDER BY seq LIMIT ?", (run, after, -1 if limit is None else limit))
    return [event_from(run, (seq, t, shape, values)) for seq, t, shape, values in rows]


_OF_RUN = f"SELECT seq, t, text, data FROM event CROSS JOIN shape ON shape.id = event.shape WHERE run = {RUN_NUMBER}"  # noqa: S608  a constant of this package


def read_progress(readers: Readers, run_id: str) -> RunProgress:
    """Return how far a run is."""
    run = clean(run_id)
    threads = dict(readers.rows(_STATUSES, (run,)))
    tally = readers.rows(_TALLY, (run,))
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


_STATUSES = f"SELECT status, count(*) FROM thread WHERE run = {RUN_NUMBER} GROUP BY status"  # noqa: S608  a constant of this package
_TALLY = f"SELECT type, count, last, before FROM tally WHERE run = {RUN_NUMBER}"  # noqa: S608  a constant of this package
_NOT_BEGUN = f"SELECT count(*) FROM thread WHERE run = {RUN_NUMBER} AND status = 'cancelled' AND started IS NULL"  # noqa: S608  a constant of this package


def _never_started(readers: Readers, run: str, threads: Mapping[str, int]) -> int:
    row = readers.row(_NOT_BEGUN, (run,))
    assert row is not None
    return int(row[0]) + threads.get("waiting", 0) + threads.get("dropped", 0)


def _event_at(readers: Readers, run: str, seq: int) -> Event | None:
    row = readers.row(f"{_OF_RUN} AND seq = ?", (run, seq)) if seq else None
    return None if row is None else event_from(run, (row[0], row[1], row[2], row[3]))
