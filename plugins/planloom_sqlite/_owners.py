"""Who may have calls in flight: one owner an open store, alive as long as it renews its lease.

The writer thread renews it. A process that was suspended past its lease finds it run out and goes on as a new owner:
others may have declared its calls of unknown outcome meanwhile. The runs that it drove stay its own where nobody took
them. A process of this machine that is gone has no lease, whatever its row says: who starts again after a kill need not
wait for the lease to run out.
"""

from __future__ import annotations

import os
import sqlite3

from planloom.processes import is_gone, this_machine

from ._till import Till

__all__ = ["Owner", "anybody_alive", "give_up_expired", "has_expired", "lease_is_over"]


class Owner:
    """This store's own lease; the writer thread alone changes it.

    :ivar drives: the runs that it claimed and did not release, also those that others claimed since.
    :ivar seen_driving: the runs whose row says that it drives them, as far as it was read since others wrote last.
    """

    def __init__(self, lease_s: float) -> None:
        self._lease_s = lease_s
        self._until = float("-inf")
        self._committed: tuple[int, float, frozenset[str]] | None = None
        self.id = 0
        self.drives: frozenset[str] = frozenset()
        self.seen_driving: set[str] = set()

    @property
    def renew_every_s(self) -> float:
        """How often to call :meth:`keep`: two renewals may fail before the lease is over."""
        return self._lease_s / 3

    def keep(self, connection: sqlite3.Connection, till: Till, now: float) -> None:
        """Hold a lease for the open transaction: renew it when a third of it has passed, start anew when it is over.

        Where it writes anyway it also gives up the calls of owners whose leases are over. When the clock was set back
        the lease is renewed too: else it would outlive this process by as much.
        """
        if now > self._until:
            self._start(connection, till, now)
        elif self._lease_s - self.renew_every_s < self._until - now <= self._lease_s:
            return
        self._until = now + self._lease_s
        connection.execute("UPDATE owner SET lease_until = ? WHERE id = ?", (self._until, self.id))
        give_up_expired(connection, till, now)

    def _start(self, connection: sqlite3.Connection, till: Till, now: float) -> None:
        if self.id:
            till.give_up(self.id)
            connection.execute("UPDATE owner SET lease_until = NULL WHERE id = ?", (self.id,))
        cursor = connection.execute(
            "INSERT INTO owner (lease_until, machine, pid) VALUES (?, ?, ?)",
            (now + self._lease_s, this_machine(), os.getpid()),
        )
        assert cursor.lastrowid is not None
        connection.execute("UPDATE driver SET owner = ? WHERE owner = ?", (cursor.lastrowid, self.id))
        self.id = cursor.lastrowid
        self.seen_driving.clear()

    def end(self, connection: sqlite3.Connection) -> None:
        """Let the lease run out at once."""
        connection.execute("UPDATE owner SET lease_until = 0 WHERE id = ?", (self.id,))

    def committed(self) -> None:
        """Remember where the lease and the claims stand."""
        self._committed = (self.id, self._until, self.drives)

    def rolled_back(self) -> None:
        """Go back to where they stood."""
        self.id, self._until, self.drives = self._committed or (0, float("-inf"), frozenset())


def give_up_expired(connection: sqlite3.Connection, till: Till, now: float) -> None:
    """Make uncertain the calls of every owner whose lease is over or whose process is gone."""
    owners = connection.execute("SELECT id, lease_until, machine, pid FROM owner WHERE lease_until IS NOT NULL")
    for owner, until, machine, pid in owners.fetchall():
        if lease_is_over(until, machine, pid, now):
            till.give_up(owner)
            connection.execute("UPDATE owner SET lease_until = NULL WHERE id = ?", (owner,))


def has_expired(connection: sqlite3.Connection, owner: int, now: float) -> bool:
    """Whether an owner's lease is over, or its process is gone."""
    query = "SELECT lease_until, machine, pid FROM owner WHERE id = ?"
    until, machine, pid = connection.execute(query, (owner,)).fetchone()
    return lease_is_over(until, machine, pid, now)


def anybody_alive(connection: sqlite3.Connection, now: float) -> bool:
    """Whether any open store is on this file; the tools themselves are none."""
    owners = connection.execute("SELECT lease_until, machine, pid FROM owner WHERE lease_until IS NOT NULL")
    return any(not lease_is_over(until, machine, pid, now) for until, machine, pid in owners)


def lease_is_over(until: float | None, machine: str, pid: int, now: float) -> bool:
    """Whether an owner of whom these are the columns may be taken for dead."""
    return until is None or until < now or is_gone(machine, pid)
