"""Who drives a run, and what other processes ask of the driver.

A run belongs to an owner, and through its lease to a process that lives; see :mod:`._owners`. Whoever claims a run of a
dead owner takes it over in the transaction that saw it dead.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import Any

from planloom import RunTaken
from planloom.stores import Request, RunHolder

from ._connections import Readers
from ._owners import lease_is_over
from ._packing import clean, decode, encode

__all__ = ["add_request", "check_driver", "claim_run", "read_driver", "read_requests", "release_run"]

_HOLDER = (
    "SELECT owner.id, machine, pid, since, lease_until FROM driver JOIN owner ON owner.id = driver.owner WHERE run = ?"
)


def claim_run(connection: sqlite3.Connection, run: str, owner: int, now: float) -> RunHolder | None:
    """Make an owner the driver of a run, or return who is."""
    holder = _holder(connection.execute(_HOLDER, (run,)).fetchone(), owner, now)
    if holder is None:
        connection.execute(
            "INSERT INTO driver (run, owner, since) VALUES (?, ?, ?) "
            "ON CONFLICT (run) DO UPDATE SET owner = excluded.owner, since = excluded.since",
            (run, owner, now),
        )
    return holder


def release_run(connection: sqlite3.Connection, run: str, owner: int) -> None:
    """Give a run up that this owner drives."""
    connection.execute("DELETE FROM driver WHERE run = ? AND owner = ?", (run, owner))


def check_driver(connection: sqlite3.Connection, run: str, owner: int, now: float, *, claimed: bool) -> bool:
    """Return whether an owner drives a run, or when it may write the run's records at least.

    :param claimed: whether it claimed the run and did not release it.
    :raises RunTaken: another one drives it, or claimed it since this one did.
    """
    row = connection.execute(_HOLDER, (run,)).fetchone()
    if row is not None and row[0] == owner:
        return True
    holder = _holder(row, owner, now)
    shown = f"`planloom show {run}` tells how it is"
    if holder is not None:
        host = holder.machine.split(" ")[0]
        raise RunTaken(f"the run {run} is driven by process {holder.pid} on {host} by now; {shown}")
    if claimed:
        raise RunTaken(f"another process had the run {run} while this one was away for longer than its lease; {shown}")
    return False


def read_driver(readers: Readers, run_id: str, owner: int, now: float) -> RunHolder | None:
    """Return who drives a run, if anybody alive does."""
    return _holder(readers.row(_HOLDER, (clean(run_id),)), owner, now)


def _holder(row: tuple[Any, ...] | None, asking: int, now: float) -> RunHolder | None:
    if row is None:
        return None
    owner, machine, pid, since, lease_until = row
    if lease_is_over(lease_until, machine, pid, now):
        return None
    return RunHolder(machine=machine, pid=pid, alive_since=datetime.fromtimestamp(since, UTC), here=owner == asking)


def add_request(connection: sqlite3.Connection, run: str, what: str, data: Any) -> int:
    """Keep a request for a run's driver; return its number."""
    (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM request WHERE run = ?", (run,)).fetchone()
    connection.execute(
        "INSERT INTO request (run, number, what, data) VALUES (?, ?, ?, ?)", (run, last + 1, what, encode(data))
    )
    return int(last) + 1


def read_requests(readers: Readers, run_id: str, after: int) -> list[Request]:
    """Return what was asked of a run's driver, in order."""
    rows = readers.rows(
        "SELECT number, what, data FROM request WHERE run = ? AND number > ? ORDER BY number", (clean(run_id), after)
    )
    return [Request(number=number, what=what, data=decode(data)) for number, what, data in rows]
