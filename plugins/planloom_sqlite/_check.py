"""Whether a store is whole: its file, every text against its hash, and the books against the calls."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from planloom import StoreError

from ._packing import GONE, decode, digest_of, unpack

__all__ = ["faults_of"]

_AT_ONCE = 200

_BOOKS = """
SELECT name, spent, reserved, uncertain,
    coalesce(sum(price), 0),
    coalesce(sum(worst) FILTER (WHERE state = 'sent'), 0),
    coalesce(sum(worst) FILTER (WHERE state = 'uncertain'), 0)
FROM budget LEFT JOIN call ON call.budget = budget.id GROUP BY budget.id
"""
_UNANSWERED = """
SELECT id FROM call WHERE state = 'settled' AND NOT EXISTS (SELECT 1 FROM reply WHERE reply.call = call.id)
"""
_BILLED_OTHERWISE = """
SELECT id, price FROM call AS c WHERE state = 'settled'
    AND NOT EXISTS (SELECT 1 FROM reply WHERE reply.call = c.id AND reply.price = c.price)
    AND EXISTS (SELECT 1 FROM reply WHERE reply.call = c.id)
"""
_BILLED_OPEN = "SELECT id, state, price FROM call WHERE state != 'settled' AND price != 0"
_MISCOUNTED = """
SELECT run, type, max(counted), sum(found) FROM (
    SELECT run, type, count AS counted, 0 AS found FROM tally
    UNION ALL
    SELECT run, type, 0, count(*) FROM event GROUP BY run, type
) GROUP BY run, type HAVING max(counted) != sum(found)
"""
_EVENTS = "SELECT run, seq, data FROM event WHERE (run, seq) > (?, ?) ORDER BY run, seq LIMIT 200"


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
        kept = f"SELECT rowid, hash, body, codec FROM {table} WHERE codec != {GONE}"  # noqa: S608  a name of this module
        for row, digest, body, codec in _paged(connection, kept):
            text = _text_of(body, codec)
            if text is None or digest_of(text) != digest:
                yield f"{noun} {row} does not fit its hash"

    return find


def _questions(connection: sqlite3.Connection) -> Iterator[str]:
    kept = f"SELECT id, fingerprint, body, codec FROM question WHERE codec != {GONE}"  # noqa: S608  a constant of this package
    for number, fingerprint, body, codec in _paged(connection, kept):
        skeleton, _, rest = (_text_of(body, codec) or "").partition("\n")
        if hashlib.sha256(skeleton.encode()).digest() != fingerprint:
            yield f"question {number} does not fit its fingerprint"
            continue
        named = {part for message in json.loads(skeleton)["messages"] for part in message["parts"]}
        missing = [part for part in named - set(json.loads(rest)) if not _has_part(connection, part)]
        if missing:
            yield f"question {number} lacks the text of {len(missing)} of its parts"


def _has_part(connection: sqlite3.Connection, digest: str) -> bool:
    """Whether a part is stored, asked after its question was read: both came in one transaction."""
    found = connection.execute("SELECT 1 FROM part WHERE hash = ?", (bytes.fromhex(digest),))
    return found.fetchone() is not None


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
    for run, kind, counted, found in connection.execute(_MISCOUNTED):
        yield f"run {run} counts {counted} events `{kind}` and has {found}"


def _records(connection: sqlite3.Connection) -> Iterator[str]:
    """Whether what a run left can be read; such rows have no hash."""
    for _, run, *bodies in _paged(connection, "SELECT rowid, id, facts, facts_codec, result, result_codec FROM run"):
        if not all(_is_json(_text_of(body, codec)) for body, codec in zip(bodies[::2], bodies[1::2], strict=True)):
            yield f"run {run} cannot be read"
    for _, thread, *texts in _paged(connection, "SELECT rowid, id, fingerprints, versions, result FROM thread"):
        if not all(map(_is_json, texts)):
            yield f"thread {thread} cannot be read"
    after: tuple[Any, ...] = ("", 0)
    while rows := connection.execute(_EVENTS, after).fetchall():
        yield from (f"event {seq} of run {run} cannot be read" for run, seq, text in rows if not _is_json(text))
        after = rows[-1][:2]


def _is_json(text: str | None) -> bool:
    try:
        decode(text or "")
    except StoreError:
        return False
    return True


_FINDERS = (_file, _hashed("part", "part"), _hashed("reply", "reply"), _questions, _books, _calls, _counts, _records)
