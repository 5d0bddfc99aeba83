"""Whether a store is whole: its file, every text against its hash, and the books against the calls."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from planloom import StoreError

from ._frames import fingerprint_of, skeleton_of
from ._names import from_run
from ._packing import GONE, decode, digest_of, from_digests, unpack
from ._shapes import event_from, type_of

__all__ = ["faults_of"]

_AT_ONCE = 200

_BOOKS = """
SELECT name, spent, reserved, uncertain,
    coalesce(sum(price), 0),
    coalesce(sum(worst) FILTER (WHERE state = 'sent'), 0),
    coalesce(sum(worst) FILTER (WHERE state = 'uncertain'), 0)
FROM budget LEFT JOIN call ON call.budget = budget.id GROUP BY budget.id
"""
_UNANSWERED = "SELECT id FROM call WHERE state = 'settled' AND id NOT IN (SELECT call FROM reply)"
_BILLED_OTHERWISE = """
SELECT id, price FROM call WHERE state = 'settled'
    AND (id, price) NOT IN (SELECT call, price FROM reply) AND id IN (SELECT call FROM reply)
"""
_BILLED_OPEN = "SELECT id, state, price FROM call WHERE state != 'settled' AND price != 0"
_COUNTS = """
SELECT run_name.text, kind, counted, found FROM (
    SELECT run, type AS kind, count AS counted, 0 AS found FROM tally
    UNION ALL
    SELECT run, text, 0, count(*) FROM event JOIN shape ON shape.id = event.shape GROUP BY run, shape
) JOIN run_name ON run_name.id = run
"""
_THREADS = """
SELECT number, (SELECT text FROM run_name WHERE run_name.id = run), id, fingerprints, versions, result, result_codec
FROM thread WHERE 1
"""
_EVENTS = """
SELECT run, seq, t, shape.text, data, run_name.text FROM event
    JOIN shape ON shape.id = event.shape JOIN run_name ON run_name.id = run
    WHERE (run, seq) > (?, ?) ORDER BY run, seq LIMIT 200
"""


def faults_of(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield what is wrong with a store, a sentence a fault; changes nothing."""
    for find in _FINDERS:
        yield from find(connection)


def _file(connection: sqlite3.Connection) -> Iterator[str]:
    for (finding,) in connection.execute("PRAGMA integrity_check"):
        if finding != "ok":
            yield f"the file is damaged: {finding}"
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of table {table} names a row of table {parent} that is not there"


def _text_of(body: bytes, codec: int) -> str | None:
    try:
        return unpack(body, codec)
    except StoreError:
        return None


def _paged(connection: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query that begins with a row number, some at a time.

    One long read would keep the write-ahead log from being emptied while runs go on.
    """
    last = -1
    query += " AND" if " WHERE " in query else " WHERE"
    while rows := connection.execute(f"{query} rowid > ? ORDER BY rowid LIMIT {_AT_ONCE}", (last,)).fetchall():
        yield from rows
        last = rows[-1][0]


def _hashed(table: str, noun: str) -> Callable[[sqlite3.Connection], Iterator[str]]:
    def find(connection: sqlite3.Connection) -> Iterator[str]:
        kept = f"SELECT id, hash, body, codec FROM {table} WHERE codec != {GONE}"  # noqa: S608  a name of this module
        for row, digest, body, codec in _paged(connection, kept):
            text = _text_of(body, codec)
            if text is None or digest_of(text) != digest:
                yield f"{noun} {row} does not fit its hash"

    return find


def _questions(connection: sqlite3.Connection) -> Iterator[str]:
    frames = dict(connection.execute("SELECT id, text FROM frame"))
    kept = f"SELECT id, fingerprint, frame, body, codec FROM question WHERE codec != {GONE}"  # noqa: S608  a constant of this package
    for number, fingerprint, frame, body, codec in _paged(connection, kept):
        missing: set[int] = set()
        try:
            skeleton = skeleton_of(frames.get(frame, ""), unpack(body, codec), _digests(connection, missing))
            fits = fingerprint_of(skeleton) == fingerprint
        except (StoreError, ValueError):
            fits = False
        if missing:
            yield f"question {number} lacks the text of {len(missing)} of its parts"
        elif not fits:
            yield f"question {number} does not fit its fingerprint"


def _digests(connection: sqlite3.Connection, missing: set[int]) -> Callable[[int], str]:
    """Return what tells the hash of a part by its number, and adds to what is missing.

    Asked after its question was read: both came in one transaction.
    """

    def digest(part: int) -> str:
        found = connection.execute("SELECT hash FROM part WHERE id = ?", (part,)).fetchone()
        if found is None:
            missing.add(part)
            return ""
        return bytes(found[0]).hex()

    return digest


def _books(connection: sqlite3.Connection) -> Iterator[str]:
    for name, spent, reserved, uncertain, prices, sent, unknown in connection.execute(_BOOKS):
        for what, kept, added in (
            ("spent", spent, prices),
            ("reserved", reserved, sent),
            ("uncertain", uncertain, unknown),
        ):
            if kept != added:
                yield f"budget `{name}` says {kept} micro-credits are {what}, and its calls add up to {added}"


def _calls(connection: sqlite3.Connection) -> Iterator[str]:
    for (number,) in connection.execute(_UNANSWERED):
        yield f"call {number} is settled and has no reply"
    for number, price in connection.execute(_BILLED_OTHERWISE):
        yield f"call {number} was billed {price} micro-credits, which none of its replies cost"
    for number, state, price in connection.execute(_BILLED_OPEN):
        yield f"call {number} is {state} and was billed {price} micro-credits"


def _counts(connection: sqlite3.Connection) -> Iterator[str]:
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for run, kind, counted, found in connection.execute(_COUNTS):
        both = sums[run, type_of(kind) if found else kind]
        both[0] += counted
        both[1] += found
    for (run, kind), (counted, found) in sorted(sums.items()):
        if counted != found:
            yield f"run {run} counts {counted} events `{kind}` and has {found}"


def _records(connection: sqlite3.Connection) -> Iterator[str]:
    """Whether what a run left can be read; such rows have no hash."""
    for _, run, *bodies in _paged(connection, "SELECT rowid, id, facts, facts_codec, result, result_codec FROM run"):
        if not all(_is_json(_text_of(body, codec)) for body, codec in zip(bodies[::2], bodies[1::2], strict=True)):
            yield f"run {run} cannot be read"
    for _, run, thread, fingerprints, versions, result, codec in _paged(connection, _THREADS):
        if not (_can(from_digests, fingerprints) and _is_json(versions) and _is_json(_text_of(result, codec))):
            yield f"thread {from_run(run, thread)} cannot be read"
    after = (0, 0)
    while rows := connection.execute(_EVENTS, after).fetchall():
        for _, seq, t, shape, values, run in rows:
            if not _can(event_from, run, (seq, t, shape, values)):
                yield f"event {seq} of run {run} cannot be read"
        after = rows[-1][:2]


def _is_json(text: str | None) -> bool:
    return _can(decode, text or "")


def _can(read: Callable[..., Any], *values: Any) -> bool:
    try:
        read(*values)
    except StoreError:
        return False
    return True


_FINDERS = (_file, _hashed("part", "part"), _hashed("reply", "reply"), _questions, _books, _calls, _counts, _records)
