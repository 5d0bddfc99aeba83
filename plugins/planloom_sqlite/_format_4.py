"""From format 3 to format 4: what very many rows repeat is named by number.

Runs, frames of questions, shapes of events, and parts have numbers; fingerprints and times are no longer text; results
and journals are packed. Tables whose columns change their kind are made anew, filled and renamed, as SQLite has it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from planloom import StoreError

from ._frames import contents, fingerprint_of, frame_of, skeleton_of
from ._names import Names, in_run
from ._packing import GONE, decode, pack, to_digests, unpack
from ._shapes import shape_of, values_of

__all__ = ["FOURTH", "Step"]

Step = str | Callable[[sqlite3.Connection], None]
"""A statement, or what to do with a connection in the open transaction."""

_NAMES = (
    *(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)" for name in ("run_name", "frame")),
    "CREATE TABLE shape (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    "INSERT INTO run_name (text) SELECT run FROM call UNION SELECT run FROM thread UNION SELECT run FROM event "
    "UNION SELECT run FROM journal UNION SELECT run FROM tally",
)

# The hidden row number of a table without a key of integers may change when the file is vacuumed.
_PARTS = (
    """CREATE TABLE new_part (
        id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, codec INTEGER NOT NULL, body BLOB NOT NULL
    )""",
    "INSERT INTO new_part SELECT rowid, hash, codec, body FROM part ORDER BY rowid",
)


def _renamed(table: str, *indexes: str) -> tuple[str, ...]:
    return (f"DROP TABLE {table}", f"ALTER TABLE new_{table} RENAME TO {table}", *indexes)


def _insert(connection: sqlite3.Connection, table: str, width: int, rows: Iterable[tuple[Any, ...]]) -> None:
    connection.executemany(f"INSERT INTO new_{table} VALUES ({', '.join('?' * width)})", rows)  # noqa: S608  names of this module


_AT_ONCE = 1_000


def _questions(connection: sqlite3.Connection) -> None:
    kept = (
        f"SELECT id, fingerprint, body, codec FROM question WHERE codec != {GONE} AND id > ? "  # noqa: S608  a constant of this package
        f"ORDER BY id LIMIT {_AT_ONCE}"
    )
    frames, hashes, last = Names(connection, "frame"), _hashes(connection), 0
    while rows := connection.execute(kept, (last,)).fetchall():
        for number, fingerprint, body, codec in rows:
            try:
                frame, stored = _reframed(connection, hashes, fingerprint, unpack(body, codec))
            except (StoreError, ValueError, KeyError):
                continue  # it was damaged before, and the check says so still
            values = (frames.number(frame), *pack(stored), number)
            connection.execute("UPDATE question SET frame = ?, body = ?, codec = ? WHERE id = ?", values)
        last = rows[-1][0]


def _hashes(connection: sqlite3.Connection) -> Callable[[int], str]:
    def digest(part: int) -> str:
        (found,) = connection.execute("SELECT hash FROM part WHERE id = ?", (part,)).fetchone()
        return bytes(found).hex()

    return digest


def _reframed(
    connection: sqlite3.Connection, hashes: Callable[[int], str], fingerprint: bytes, text: str
) -> tuple[str, str]:
    """Return the frame of a question and what fills it.

    :raises ValueError: it is damaged. :raises KeyError: a part of it is missing.
    """
    skeleton, _, rest = text.partition("\n")
    inline: dict[str, str] = decode(rest)
    digests = [digest for message in decode(skeleton)["messages"] for digest in message["parts"]]
    frame, sample = frame_of(skeleton, digests)
    parts = [inline[digest] if digest in inline else _part_of(connection, digest) for digest in digests]
    stored = contents(parts, sample)
    if fingerprint_of(skeleton_of(frame, stored, hashes)) != fingerprint:
        raise ValueError("the question does not fit its fingerprint")
    return frame, stored


def _part_of(connection: sqlite3.Connection, digest: str) -> int:
    row = connection.execute("SELECT id FROM part WHERE hash = ?", (bytes.fromhex(digest),)).fetchone()
    if row is None:
        raise KeyError(digest)
    return int(row[0])


_CALLS = (
    """CREATE TABLE new_call (
        id INTEGER PRIMARY KEY,
        question INTEGER NOT NULL REFERENCES question,
        owner INTEGER NOT NULL REFERENCES owner,
        budget INTEGER NOT NULL REFERENCES budget,
        run INTEGER NOT NULL REFERENCES run_name,
        thread TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('sent', 'settled', 'uncertain', 'released')),
        worst INTEGER NOT NULL CHECK (worst >= 0),
        price INTEGER NOT NULL DEFAULT 0 CHECK (price >= 0),
        sent_at REAL
    )""",
    """INSERT INTO new_call SELECT call.id, question, owner, budget, run_name.id,
        CASE substr(thread, 1, length(run) + 1) WHEN run || '/' THEN substr(thread, length(run) + 1) ELSE thread END,
        state, worst, price, sent_at FROM call JOIN run_name ON text = run ORDER BY call.id""",
    *_renamed(
        "call",
        "CREATE UNIQUE INDEX call_open ON call (question) WHERE state = 'sent'",
        "CREATE INDEX call_uncertain ON call (budget) WHERE state = 'uncertain'",
        "CREATE INDEX call_run ON call (run)",
    ),
)

_REPLY_TABLE = """CREATE TABLE new_reply (
    id INTEGER PRIMARY KEY,
    question INTEGER NOT NULL REFERENCES question,
    call INTEGER NOT NULL REFERENCES call,
    hash BLOB NOT NULL,
    codec INTEGER NOT NULL,
    finish_reason TEXT,
    prompt_tokens INTEGER,
    cached_prompt_tokens INTEGER,
    completion_tokens INTEGER,
    reasoning_tokens INTEGER,
    seconds REAL NOT NULL,
    model TEXT NOT NULL,
    price INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    role TEXT NOT NULL,
    key_version INTEGER NOT NULL,
    created_at REAL NOT NULL,
    body BLOB NOT NULL
)"""


def _replies(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT * FROM reply ORDER BY id")
    _insert(
        connection, "reply", 18, ((*row[:16], datetime.fromisoformat(row[16]).timestamp(), row[17]) for row in rows)
    )


_THREAD_TABLE = """CREATE TABLE new_thread (
    number INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run_name,
    id TEXT NOT NULL,
    place TEXT NOT NULL,
    phase TEXT NOT NULL,
    label TEXT NOT NULL,
    model TEXT NOT NULL,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    started REAL,
    ended REAL,
    cost INTEGER NOT NULL,
    fingerprints BLOB NOT NULL,
    versions TEXT NOT NULL,
    error TEXT,
    result_codec INTEGER NOT NULL,
    raw_codec INTEGER,
    result BLOB NOT NULL,
    raw BLOB,
    UNIQUE (run, id)
)"""


def _threads(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "SELECT number, run_name.id, thread.id, text, fingerprints, result, raw, raw_codec, place, phase, label, "
        "model, role, status, started, ended, cost, versions, error "
        "FROM thread JOIN run_name ON text = run ORDER BY number"
    )

    def made_anew() -> Iterable[tuple[Any, ...]]:
        for number, of_run, thread, run, fingerprints, result, raw, raw_codec, *rest in rows:
            *same, versions, error = rest
            body, codec = pack(result)
            digests = _digests(fingerprints)
            yield (number, of_run, in_run(run, thread), *same, digests, versions, error, codec, raw_codec, body, raw)

    _insert(connection, "thread", 19, made_anew())


def _digests(fingerprints: str) -> bytes | str:
    try:
        return to_digests(decode(fingerprints))
    except (StoreError, ValueError):  # damaged before, which is told as before
        return fingerprints


_EVENT_TABLE = """CREATE TABLE new_event (
    run INTEGER NOT NULL REFERENCES run_name,
    seq INTEGER NOT NULL,
    t REAL NOT NULL,
    shape INTEGER NOT NULL REFERENCES shape,
    data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID"""


def _events(connection: sqlite3.Connection) -> None:
    shapes = Names(connection, "shape")
    rows = connection.execute(
        "SELECT run_name.id, seq, t, type, data, run FROM run_name JOIN event ON run = text ORDER BY run_name.id, seq"
    )

    def made_anew() -> Iterable[tuple[Any, ...]]:
        for of_run, seq, t, kind, data, run in rows:
            shape, values = _values(run, kind, data)
            yield of_run, seq, t, shapes.number(shape), values

    _insert(connection, "event", 5, made_anew())


def _values(run: str, kind: str, data: str) -> tuple[str, str]:
    try:
        fields = decode(data)
    except StoreError:  # damaged before, which is told as before
        return shape_of(kind, {}), data
    return shape_of(kind, fields), values_of(run, fields)


_TALLY_TABLE = """CREATE TABLE new_tally (
    run INTEGER NOT NULL REFERENCES run_name,
    type TEXT NOT NULL,
    count INTEGER NOT NULL,
    last INTEGER NOT NULL,
    before INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, type)
) WITHOUT ROWID"""

_JOURNAL_TABLE = """CREATE TABLE new_journal (
    run INTEGER NOT NULL REFERENCES run_name,
    place TEXT NOT NULL,
    codec INTEGER NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (run, place)
) WITHOUT ROWID"""


def _journal(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT run_name.id, place, value FROM journal JOIN run_name ON text = run")
    packed = ((run, place, *pack(value)) for run, place, value in rows)
    _insert(connection, "journal", 4, ((run, place, codec, body) for run, place, body, codec in packed))


FOURTH: tuple[Step, ...] = (
    *_NAMES,
    *_PARTS,
    *_renamed("part"),
    "ALTER TABLE question ADD COLUMN frame INTEGER REFERENCES frame",
    _questions,
    *_CALLS,
    _REPLY_TABLE,
    _replies,
    *_renamed("reply", "CREATE INDEX reply_answer ON reply (question, call DESC, id)"),
    _THREAD_TABLE,
    _threads,
    *_renamed("thread", "CREATE INDEX thread_run ON thread (run, status)"),
    _EVENT_TABLE,
    _events,
    *_renamed("event"),
    _TALLY_TABLE,
    "INSERT INTO new_tally SELECT run_name.id, type, count, last, before FROM tally JOIN run_name ON text = run",
    *_renamed("tally"),
    _JOURNAL_TABLE,
    _journal,
    *_renamed("journal"),
)
