"""The tables, as numbered migrations: the file's ``user_version`` says how many of them it has seen.

A question is a row once; calls and replies name it by number. An answer is the first reply to the newest call that has
one: asking again on purpose replaces it, a late or doubled reply to an older call is kept as a version and does not.
Money stands on calls alone, and the partial unique index ``call_open`` is what keeps two processes from asking the
same question at once. ``meta`` counts what may have freed money or closed a question, and how often texts were pruned.
``tally`` counts a run's events by type, so that nobody need read them all to say how far it is: ``last`` is the highest
number of that type, ``before`` how many came before the run was last resumed.

What many rows repeat has a number. ``run_name`` numbers the runs that calls, threads, events and journals are of, also
those that were pruned or have no row yet; ``frame`` what questions of one kind have in common, see :mod:`._frames`;
``shape`` the types of events with the names of their fields, whose values alone are in ``event``. A thread's id is kept
without the name of its run.
"""

from __future__ import annotations

import sqlite3
import time

from planloom import StoreError, StoreLocked, StoreTooNew

from ._format_4 import FOURTH, Step
from ._owners import anybody_alive

__all__ = ["APPLICATION_ID", "LATEST", "MIGRATIONS", "check_identity", "migrate"]

APPLICATION_ID = 0x706C6F6D
"""``plom``: tells a store from other programs' databases."""

_FIRST = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "INSERT INTO meta VALUES ('freed', 0)",
    "CREATE TABLE part (hash BLOB PRIMARY KEY, body BLOB NOT NULL, codec INTEGER NOT NULL)",
    """CREATE TABLE question (
        id INTEGER PRIMARY KEY,
        fingerprint BLOB NOT NULL UNIQUE,
        body BLOB NOT NULL,
        codec INTEGER NOT NULL
    )""",
    """CREATE TABLE budget (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        cap INTEGER NOT NULL,
        spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
        reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
        uncertain INTEGER NOT NULL DEFAULT 0 CHECK (uncertain >= 0)
    )""",
    # AUTOINCREMENT: an owner's number is never given twice.
    """CREATE TABLE owner (
        id INTEGER PRIMARY KEY AUTOINCREMENT, lease_until REAL, machine TEXT NOT NULL, pid INTEGER NOT NULL
    )""",
    """CREATE TABLE call (
        id INTEGER PRIMARY KEY,
        question INTEGER NOT NULL REFERENCES question,
        owner INTEGER NOT NULL REFERENCES owner,
        budget INTEGER NOT NULL REFERENCES budget,
        run TEXT NOT NULL,
        thread TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('sent', 'settled', 'uncertain', 'released')),
        worst INTEGER NOT NULL CHECK (worst >= 0),
        price INTEGER NOT NULL DEFAULT 0 CHECK (price >= 0)
    )""",
    "CREATE UNIQUE INDEX call_open ON call (question) WHERE state = 'sent'",
    "CREATE INDEX call_uncertain ON call (budget) WHERE state = 'uncertain'",
    "CREATE INDEX call_run ON call (run)",
    """CREATE TABLE reply (
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
        created_at TEXT NOT NULL,
        body BLOB NOT NULL
    )""",
    "CREATE INDEX reply_answer ON reply (question, call DESC, id)",
    """CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        status TEXT NOT NULL,
        plan TEXT NOT NULL,
        plan_hash TEXT NOT NULL,
        budget TEXT NOT NULL,
        created_at TEXT NOT NULL,
        job TEXT NOT NULL,
        facts TEXT NOT NULL,
        result TEXT NOT NULL,
        error TEXT
    )""",
    "CREATE INDEX run_job ON run (job, number)",
    """CREATE TABLE thread (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        run TEXT NOT NULL,
        place TEXT NOT NULL,
        phase TEXT NOT NULL,
        label TEXT NOT NULL,
        model TEXT NOT NULL,
        role TEXT NOT NULL,
        status TEXT NOT NULL,
        started REAL,
        ended REAL,
        cost INTEGER NOT NULL,
        fingerprints TEXT NOT NULL,
        error TEXT,
        result TEXT NOT NULL,
        raw BLOB,
        raw_codec INTEGER
    )""",
    "CREATE INDEX thread_run ON thread (run)",
    """CREATE TABLE event (
        run TEXT NOT NULL,
        seq INTEGER NOT NULL,
        t REAL NOT NULL,
        type TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID""",
    """CREATE TABLE journal (
        run TEXT NOT NULL,
        place TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (run, place)
    ) WITHOUT ROWID""",
)

_SECOND = (
    "INSERT INTO meta VALUES ('pruned', 0)",
    "ALTER TABLE call ADD COLUMN sent_at REAL",
    "ALTER TABLE thread ADD COLUMN versions TEXT NOT NULL DEFAULT '[]'",
    "DROP INDEX thread_run",
    "CREATE INDEX thread_run ON thread (run, status)",
    """CREATE TABLE tally (
        run TEXT NOT NULL,
        type TEXT NOT NULL,
        count INTEGER NOT NULL,
        last INTEGER NOT NULL,
        before INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (run, type)
    ) WITHOUT ROWID""",
    "INSERT INTO tally (run, type, count, last) SELECT run, type, count(*), max(seq) FROM event GROUP BY run, type",
    """CREATE TABLE driver (
        run TEXT PRIMARY KEY, owner INTEGER NOT NULL REFERENCES owner, since REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE request (
        run TEXT NOT NULL,
        number INTEGER NOT NULL,
        what TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) WITHOUT ROWID""",
)

# A plan's arguments and its result stand in its run's row, and may be megabytes.
_THIRD = (
    "ALTER TABLE run ADD COLUMN facts_codec INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE run ADD COLUMN result_codec INTEGER NOT NULL DEFAULT 0",
    "UPDATE run SET facts = CAST(facts AS BLOB), result = CAST(result AS BLOB)",
)

MIGRATIONS: tuple[tuple[Step, ...], ...] = (_FIRST, _SECOND, _THIRD, FOURTH)
"""Steps that lead from each version to the next; a released one never changes."""

LATEST = len(MIGRATIONS)


def check_identity(connection: sqlite3.Connection, where: str) -> int:
    """Return the version of a store's tables, 0 when there are none yet; changes nothing.

    :raises StoreTooNew: a newer planloom wrote it.
    :raises StoreError: it is another program's database.
    """
    # First of the three, since another process may be making the store: who sees its tables sees whose they are.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if tables and application != APPLICATION_ID:
        raise StoreError(
            f"{where} is another program's database, not a planloom store; "
            "name another file with --store, or move this one away"
        )
    if version > LATEST:
        raise StoreTooNew(
            f"the store {where} has format {version} and this planloom knows formats up to {LATEST}; "
            "update planloom, or name another file with --store"
        )
    return int(version) if tables else 0


def migrate(connection: sqlite3.Connection, where: str) -> None:
    """Bring a store to the latest version, all in one transaction.

    :raises StoreLocked: a process that knows only an older one has it open.
    """
    if check_identity(connection, where) == LATEST:
        return
    # Tables that others refer to are made anew.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        version = check_identity(connection, where)
        if 0 < version < LATEST:
            _refuse_company(connection, where)
        for steps in MIGRATIONS[version:]:
            for step in steps:
                if isinstance(step, str):
                    connection.execute(step)
                else:
                    step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {LATEST}")
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, (ValueError, TypeError)):
            raise StoreError(
                f"the store {where} cannot be brought up to date, since it is damaged ({error}); restore a copy, "
                "or begin another with --store"
            ) from error
        raise


def _refuse_company(connection: sqlite3.Connection, where: str) -> None:
    if anybody_alive(connection, time.time()):
        raise StoreLocked(
            f"another process of an older planloom has the store {where} open, which is to be brought up to date; "
            "wait until it is done, or end it, and try again"
        )
