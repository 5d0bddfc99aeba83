"""Runs, threads and journal, as rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from planloom.stores import RunRow, ThreadRow, ThreadTrace, UncertainCall

from ._connections import Readers
from ._names import RUN_NUMBER, from_run, in_run
from ._packing import DIGEST_BYTES, clean, decode, encode, from_digests, pack, to_digests, unpack
from ._rows import NO_NUMBER, NO_TEXT, THREAD, Rows

__all__ = [
    "packed_texts",
    "read_journal",
    "read_money",
    "read_newest_thread",
    "read_run",
    "read_run_ids",
    "read_runs",
    "read_threads",
    "read_traces",
    "read_uncertain",
    "run_values",
    "save_run",
    "save_thread",
    "write_journal",
]

_RUN = "id, title, status, plan, plan_hash, budget, created_at, job, facts, facts_codec, result, result_codec, error"
_THREAD = (
    "id, place, phase, label, model, role, status, started, ended, cost, fingerprints, versions, error, "
    "result, result_codec, raw, raw_codec"
)
_UPDATES = ", ".join(f"{name} = excluded.{name}" for name in _RUN.split(", ") if name != "id")
_SAVE_RUN = (
    f"INSERT INTO run ({_RUN}) VALUES ({', '.join('?' for _ in _RUN.split(', '))}) "  # noqa: S608  names of this module
    f"ON CONFLICT (id) DO UPDATE SET {_UPDATES}"
)
"""A run that is replaced keeps its number, hence its place in the order."""


def _clean_or_none(text: str | None) -> str | None:
    return None if text is None else clean(text)


# --- writing, inside the writer's transaction


def run_values(row: RunRow) -> tuple[Any, ...]:
    """Return a run as :func:`save_run` takes it, with what may be large packed."""
    texts = (row.id, row.title, row.status, row.plan, row.plan_hash, row.budget, row.created_at, row.job)
    return (
        *(clean(text) for text in texts),
        *pack(encode(dict(row.facts))),
        *pack(encode(row.result)),
        _clean_or_none(row.error),
    )


def save_run(connection: sqlite3.Connection, values: tuple[Any, ...]) -> None:
    """Insert or replace a run."""
    connection.execute(_SAVE_RUN, values)


def packed_texts(row: ThreadRow, encoded: str) -> tuple[bytearray | int | str, ...]:
    """Return what a thread came to, and its raw answer, as :func:`save_thread` takes them.

    :param encoded: what it came to, as JSON.
    """
    result, codec = pack(encoded)
    if row.raw is None:
        return bytearray(result), codec, NO_TEXT, NO_NUMBER
    raw, raw_codec = pack(row.raw)
    return bytearray(result), codec, bytearray(raw), raw_codec


def save_thread(rows: Rows, row: ThreadRow, packed: tuple[bytearray | int | str, ...]) -> None:
    """Insert or replace a thread."""
    run, versions = clean(row.run), row.versions
    texts = (row.id, row.place, row.phase, row.label, row.model, row.role, row.status)
    thread, *others = texts if "".join(texts).isascii() else map(clean, texts)
    rows.add(
        THREAD,
        (
            rows.runs.number(run),
            in_run(run, thread),
            *others,
            NO_NUMBER if row.started is None else row.started,
            NO_NUMBER if row.ended is None else row.ended,
            row.cost,
            bytearray(to_digests(row.fingerprints)),
            f"[{versions[0]}]" if len(versions) == 1 else encode(versions),
            NO_TEXT if row.error is None else clean(row.error),
            *packed,
        ),
    )


def write_journal(connection: sqlite3.Connection, rows: Rows, run: str, place: str, packed: tuple[bytes, int]) -> None:
    """Record a value, packed as JSON, at its place."""
    connection.execute(
        "INSERT INTO journal (run, place, value, codec) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (run, place) DO UPDATE SET value = excluded.value, codec = excluded.codec",
        (rows.runs.number(run), place, *packed),
    )


# --- reading


def read_run(readers: Readers, run_id: str) -> RunRow | None:
    """Return a run, or ``None``."""
    row = readers.row(f"SELECT {_RUN} FROM run WHERE id = ?", (clean(run_id),))  # noqa: S608  names of this module
    return None if row is None else _run_from(row)


def read_runs(readers: Readers, limit: int, job: str | None) -> list[RunRow]:
    """Return the runs (of a job) that were saved first most recently, newest first."""
    of_job, names = ("", ()) if job is None else ("WHERE job = ?", (clean(job),))
    rows = readers.rows(f"SELECT {_RUN} FROM run {of_job} ORDER BY number DESC LIMIT ?", (*names, max(0, limit)))  # noqa: S608  names of this module
    return [_run_from(row) for row in rows]


def read_run_ids(readers: Readers, beginning: str, limit: int) -> list[str]:
    """Return the ids of the newest runs whose ids begin so, newest first."""
    begins = clean(beginning)
    # By `substr`, since the signs of a pattern may stand in an id; no text of a run is read for it.
    where = "WHERE substr(id, 1, ?) = ? ORDER BY number DESC LIMIT ?"
    rows = readers.rows(f"SELECT id FROM run {where}", (len(begins), begins, max(0, limit)))  # noqa: S608  names of this module
    return [run_id for (run_id,) in rows]


def _run_from(row: tuple[Any, ...]) -> RunRow:
    run_id, title, status, plan, plan_hash, budget, created_at, job, facts, facts_codec, *rest = row
    result, result_codec, error = rest
    return RunRow(
        id=run_id,
        title=title,
        status=status,
        plan=plan,
        plan_hash=plan_hash,
        budget=budget,
        created_at=created_at,
        job=job,
        facts=decode(unpack(facts, facts_codec)),
        result=decode(unpack(result, result_codec)),
        error=error,
    )


_IN_ORDER = "coalesce(started, 9e999), number"
"""Threads in the order they started, those that wait last."""


def read_threads(
    readers: Readers, run_id: str, status: str | None, after: str | None, limit: int | None
) -> list[ThreadRow]:
    """Return a run's threads in the order they started; those that wait come last."""
    run = clean(run_id)
    where, values = f"run = {RUN_NUMBER}", [run]
    if status is not None:
        where, values = f"{where} AND status = ?", [*values, clean(status)]
    if after is not None:
        where = f"{where} AND ({_IN_ORDER}) > (SELECT {_IN_ORDER} FROM thread WHERE run = {RUN_NUMBER} AND id = ?)"  # noqa: S608  names of this module
        values += [run, in_run(run, clean(after))]
    rows = readers.rows(
        f"SELECT {_THREAD} FROM thread WHERE {where} ORDER BY {_IN_ORDER} LIMIT ?",  # noqa: S608  names of this module
        (*values, -1 if limit is None else limit),
    )
    return [_thread_from(run, row) for row in rows]


def read_traces(readers: Readers, run_id: str) -> Iterator[ThreadTrace]:
    """Yield what a later start needs of a run's threads; a query for each so many, so that no read is long."""
    run = clean(run_id)
    numbers = [number for (number,) in readers.rows(_NUMBERS, (run,))]
    kept: dict[str, str] = {}  # a run has few phases and statuses, and SQLite makes a text for each row
    keep, made = kept.setdefault, tuple.__new__
    for first in range(0, len(numbers), _TRACES_AT_ONCE):
        lot = numbers[first : first + _TRACES_AT_ONCE]
        for thread, place, phase, label, status, error, asked, used in readers.rows(_TRACES, (lot[0], lot[-1], run)):
            one, digest = used[1:-1], type(asked) is bytes and len(asked) == DIGEST_BYTES
            trace = (
                from_run(run, thread),
                place,
                keep(phase, phase),
                label,
                keep(status, status),
                error,
                # One question and no more is what nearly every worker has, and is not worth a parser.
                (asked.hex(),) if digest else from_digests(asked),
                (int(one),) if one.isdigit() else tuple(decode(used)),
            )
            yield made(ThreadTrace, trace)  # past its own constructor, which takes twice as long


_TRACES_AT_ONCE = 2_000
_NUMBERS = f"SELECT number FROM thread WHERE run = {RUN_NUMBER} ORDER BY number"  # noqa: S608  a constant of this package
# The plus keeps SQLite from the index of the run, of which a lot is a small part.
_TRACES = (
    "SELECT id, place, phase, label, status, error, fingerprints, versions FROM thread "  # noqa: S608  a constant of this package
    f"WHERE number BETWEEN ? AND ? AND +run = {RUN_NUMBER} ORDER BY number"
)


def read_newest_thread(readers: Readers, run_id: str) -> int:
    """Return the highest number of a thread that a row or a call of a run names, 0 when none does."""
    run = clean(run_id)
    numbers = [readers.row(query, (run,)) for query in _NEWEST_THREAD]
    return max(int(row[0]) for row in numbers if row is not None)


_NEWEST_THREAD = (
    # Behind the `/t` of its name.
    f"SELECT coalesce(max(CAST(substr(id, 3) AS INTEGER)), 0) FROM thread WHERE run = {RUN_NUMBER}",  # noqa: S608  a constant of this package
    f"SELECT coalesce(max(CAST(substr(thread, 3) AS INTEGER)), 0) FROM call WHERE run = {RUN_NUMBER}",  # noqa: S608  a constant of this package
)


def _thread_from(run: str, row: tuple[Any, ...]) -> ThreadRow:
    thread_id, place, phase, label, model, role, status, started, ended, cost, *rest = row
    fingerprints, versions, error, result, result_codec, raw, raw_codec = rest
    return ThreadRow(
        id=from_run(run, thread_id),
        run=run,
        place=place,
        phase=phase,
        label=label,
        model=model,
        role=role,
        status=status,
        started=started,
        ended=ended,
        cost=cost,
        fingerprints=from_digests(fingerprints),
        versions=tuple(decode(versions)),
        result=decode(unpack(result, result_codec)),
        error=error,
        raw=None if raw is None else unpack(raw, raw_codec),
    )


def read_journal(readers: Readers, run_id: str) -> dict[str, Any]:
    """Return a run's journal by place."""
    rows = readers.rows(_JOURNAL, (clean(run_id),))
    return {place: decode(unpack(value, codec)) for place, value, codec in rows}


_JOURNAL = f"SELECT place, value, codec FROM journal WHERE run = {RUN_NUMBER}"  # noqa: S608  a constant of this package


def read_money(readers: Readers, run_id: str) -> dict[str, int]:
    """Return what a run's calls cost; a released call was none."""
    row = readers.row(
        "SELECT coalesce(sum(state != 'released'), 0), coalesce(sum(price), 0),"  # noqa: S608  a constant of this package
        " coalesce(sum(worst) FILTER (WHERE state = 'uncertain'), 0),"
        f" coalesce(sum(worst) FILTER (WHERE state = 'sent'), 0) FROM call WHERE run = {RUN_NUMBER}",
        (clean(run_id),),
    )
    assert row is not None
    calls, spent, uncertain, reserved = row
    return {"calls": calls, "spent": spent, "uncertain": uncertain, "reserved": reserved}


def read_uncertain(readers: Readers, budget: str) -> tuple[UncertainCall, ...]:
    """Return a budget's calls of unknown outcome, oldest first."""
    rows = readers.rows(
        "SELECT call.id, text, thread, worst, sent_at FROM call JOIN run_name ON run_name.id = run "
        "WHERE state = 'uncertain' AND budget = (SELECT id FROM budget WHERE name = ?) ORDER BY call.id",
        (clean(budget),),
    )
    return tuple(
        UncertainCall(
            call_id=str(number),
            run=run,
            thread=from_run(run, thread),
            worst=worst,
            sent_at=datetime.fromtimestamp(sent_at, UTC) if sent_at else None,
        )
        for number, run, thread, worst, sent_at in rows
    )
