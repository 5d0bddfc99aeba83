"""Letting old runs go, and the texts that no run uses any more; the lines about money always stay.

Rows that money rests on are never deleted: a pruned reply or question keeps its row, its hash and its price, and loses
its text. Nothing is numbered twice, then, and a run that names a reply that is gone is told so.

A run goes in a transaction of its own. Texts go in one transaction, and only while no other process has the store open:
whoever runs might be about to use them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC

from planloom import StoreError, StoreFull, StoreLocked
from planloom.store_tools import Pruned, Pruning

from ._faults import store_fault
from ._names import RUN_NUMBER
from ._owners import anybody_alive, lease_is_over
from ._packing import GONE, clean, decode, from_digests, unpack
from ._sizes import SIZE_OF

__all__ = ["prunable", "prune", "shrink"]

_BY_NUMBER = ("thread", "event", "journal", "tally")
_BY_NAME = ("request", "driver")


def prunable(connection: sqlite3.Connection, pruning: Pruning, now: float) -> Pruned:
    """Return what would go."""
    runs, driven = _runs(connection, pruning, now)
    with _transaction(connection, "DEFERRED"):
        _select_runs(connection, runs)
        if pruning.answers:
            _select_answers(connection, pruning)
        return _selected(connection, pruning, runs, driven)


def prune(connection: sqlite3.Connection, pruning: Pruning, where: str, now: float) -> Pruned:
    """Let go what may go; return what went.

    :raises StoreError: answers are to go, and another process has the store open.
    """
    if pruning.answers:
        _refuse_company(connection, where, now)
    pruned = prunable(connection, pruning, now)
    gone = tuple(run for run in pruned.runs if _prune_run(connection, run, now))
    if pruning.answers:
        with _transaction(connection, "IMMEDIATE"):
            _refuse_company(connection, where, now)
            _select_runs(connection, gone)
            _select_answers(connection, pruning)
            _prune_answers(connection)
    return pruned


def _refuse_company(connection: sqlite3.Connection, where: str, now: float) -> None:
    if anybody_alive(connection, now):
        raise StoreError(
            f"another process has the store {where} open and may use its answers; "
            "prune them when it is done, or leave --answers out"
        )


def shrink(connection: sqlite3.Connection, now: float) -> bool:
    """Give unused room back to the disk, where no other process has the store open and there is room to copy it into;
    return whether it was done."""
    if anybody_alive(connection, now):
        return False
    try:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        if isinstance(store_fault(error, ""), (StoreFull, StoreLocked)):
            return False
        raise
    return True


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


# --- runs


def _runs(connection: sqlite3.Connection, pruning: Pruning, now: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the runs that may go, and those that would if nobody drove them."""
    conditions: list[str] = ["1"]
    values: list[str] = []
    if pruning.before is not None:
        conditions.append("created_at < ?")
        values.append(pruning.before.astimezone(UTC).isoformat())
    # A run whose process was killed never wrote that it was interrupted.
    unwritten = ("running", "paused") if "interrupted" in pruning.statuses else ()
    for column, names in (("id", pruning.runs), ("status", (*pruning.statuses, *unwritten))):
        if names:
            conditions.append(f"{column} IN ({', '.join('?' for _ in names)})")
            values.extend(clean(name) for name in names)
    query = f"SELECT id FROM run WHERE {' AND '.join(conditions)} ORDER BY number"  # noqa: S608  names of this module
    found = [run for (run,) in connection.execute(query, values)]
    driven = tuple(run for run in found if _is_driven(connection, run, now))
    return tuple(run for run in found if run not in driven), driven


def _is_driven(connection: sqlite3.Connection, run: str, now: float) -> bool:
    row = connection.execute(
        "SELECT lease_until, machine, pid FROM driver JOIN owner ON owner.id = driver.owner WHERE run = ?", (run,)
    ).fetchone()
    if row is None:
        return False
    until, machine, pid = row
    return not lease_is_over(until, machine, pid, now)


def _prune_run(connection: sqlite3.Connection, run: str, now: float) -> bool:
    with _transaction(connection, "IMMEDIATE"):
        if _is_driven(connection, run, now):
            return False
        for table in _BY_NUMBER:
            connection.execute(f"DELETE FROM {table} WHERE run = {RUN_NUMBER}", (run,))  # noqa: S608  a name of this module
        for table in _BY_NAME:
            connection.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608  a name of this module
        connection.execute("DELETE FROM run WHERE id = ?", (run,))
    return True


# --- answers, chosen in temporary tables

_GONE_REPLIES = """
SELECT reply.id FROM reply JOIN call ON call.id = reply.call
WHERE reply.codec != :gone
    AND (call.run IN gone_name OR reply.created_at < :before)
    AND call.run NOT IN (SELECT run_name.id FROM run JOIN run_name ON text = run.id WHERE run.id NOT IN gone_run)
    AND reply.question NOT IN used_question
"""
_GONE_QUESTIONS = """
SELECT id FROM question AS q WHERE codec != :gone
    AND EXISTS (SELECT 1 FROM reply WHERE question = q.id AND id IN gone_reply)
    AND NOT EXISTS (
        SELECT 1 FROM reply WHERE question = q.id AND codec != :gone AND id NOT IN gone_reply
    )
    AND id NOT IN (SELECT question FROM call WHERE state IN ('sent', 'uncertain'))
"""


def _choice(connection: sqlite3.Connection, name: str, column: str) -> None:
    """Make an empty temporary table of that one column."""
    connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
    connection.execute(f"CREATE TEMP TABLE {name} ({column} PRIMARY KEY)")


def _select_runs(connection: sqlite3.Connection, runs: tuple[str, ...]) -> None:
    _choice(connection, "gone_run", "id TEXT")
    connection.executemany("INSERT INTO gone_run VALUES (?)", [(run,) for run in runs])
    _choice(connection, "gone_name", "id INTEGER")
    connection.execute("INSERT INTO gone_name SELECT id FROM run_name WHERE text IN gone_run")


def _select_answers(connection: sqlite3.Connection, pruning: Pruning) -> None:
    _select_used(connection)
    by_age = not pruning.runs and not pruning.statuses
    before = pruning.before.timestamp() if pruning.before and by_age else float("-inf")
    values = {"before": before, "gone": GONE}
    for name, query in (("gone_reply", _GONE_REPLIES), ("gone_question", _GONE_QUESTIONS)):
        _choice(connection, name, "id INTEGER")
        connection.execute(f"INSERT INTO {name} {query}", values)
    _select_parts(connection)
    _select_frames(connection)


def _select_used(connection: sqlite3.Connection) -> None:
    """Choose the questions that workers of the runs which stay asked."""
    _choice(connection, "used_question", "id INTEGER")
    asked = connection.execute("SELECT fingerprints FROM thread WHERE run NOT IN gone_name")
    connection.executemany(
        "INSERT OR IGNORE INTO used_question SELECT id FROM question WHERE fingerprint = ?",
        ((bytes.fromhex(fingerprint),) for (stored,) in asked for fingerprint in from_digests(stored)),
    )


def _select_parts(connection: sqlite3.Connection) -> None:
    """Choose the parts that no question which stays names."""
    _choice(connection, "gone_part", "id INTEGER")
    connection.execute("INSERT INTO gone_part SELECT id FROM part")
    staying = connection.execute("SELECT body, codec FROM question WHERE frame IS NOT NULL AND id NOT IN gone_question")
    connection.executemany(
        "DELETE FROM gone_part WHERE id = ?", ((part,) for body, codec in staying for part in _parts_of(body, codec))
    )


def _parts_of(body: bytes, codec: int) -> list[int]:
    return [part for part in decode(unpack(body, codec)) if isinstance(part, int)]


def _select_frames(connection: sqlite3.Connection) -> None:
    """Choose the frames that no question which stays has."""
    _choice(connection, "gone_frame", "id INTEGER")
    staying = "SELECT frame FROM question WHERE frame IS NOT NULL AND id NOT IN gone_question"
    connection.execute(f"INSERT INTO gone_frame SELECT id FROM frame WHERE id NOT IN ({staying})")  # noqa: S608  a text of this function


def _prune_answers(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE reply SET body = x'', codec = ? WHERE id IN gone_reply", (GONE,))
    connection.execute("UPDATE question SET frame = NULL, body = x'', codec = ? WHERE id IN gone_question", (GONE,))
    for table in ("part", "frame"):
        connection.execute(f"DELETE FROM {table} WHERE id IN gone_{table}")  # noqa: S608  a name of this module
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'pruned'")


# --- telling

_OF_GONE_RUNS = {
    "run": "id IN gone_run",
    "thread": "run IN gone_name",
    "event": "run IN gone_name",
    "journal": "run IN gone_name",
}
_GONE_TEXTS = {table: f"id IN gone_{table}" for table in ("reply", "question", "part", "frame")}


def _selected(
    connection: sqlite3.Connection, pruning: Pruning, runs: tuple[str, ...], driven: tuple[str, ...]
) -> Pruned:
    """Return what the temporary tables choose."""
    chosen = {**_OF_GONE_RUNS, **(_GONE_TEXTS if pruning.answers else {})}
    totals = {table: _total(connection, table, where) for table, where in chosen.items()}
    counts = {table: count for table, (count, _) in totals.items()}
    return Pruned(
        runs=runs,
        driven=driven,
        threads=counts["thread"],
        events=counts["event"],
        replies=counts.get("reply", 0),
        questions=counts.get("question", 0),
        parts=counts.get("part", 0),
        size_bytes=sum(size for _, size in totals.values()),
        shrunk=False,
    )


def _total(connection: sqlite3.Connection, table: str, where: str) -> tuple[int, int]:
    """Return how many rows of a table are chosen, and what they take."""
    query = f"SELECT count(*), coalesce(sum({SIZE_OF[table]}), 0) FROM {table} WHERE {where}"  # noqa: S608  names of this module
    count, taken = connection.execute(query).fetchone()
    return int(count), int(taken)
