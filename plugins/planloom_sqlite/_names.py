"""What very many rows repeat, stored once and named by number: runs, the frames of questions, the shapes of events."""

from __future__ import annotations

import sqlite3

__all__ = ["RUN_NUMBER", "Names", "from_run", "in_run"]

RUN_NUMBER = "(SELECT id FROM run_name WHERE text = ?)"
"""A query's number of the run of that name; null, hence equal to nothing, where no row is of that run."""


class Names:
    """The numbers of the texts of one table, as the open write transaction sees them.

    They stay known from one transaction to the next, until :meth:`forget`.
    """

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection = connection
        self._table = table
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text, stored where it is new."""
        known = self._numbers.get(text)
        if known is None:
            known = self._numbers[text] = self._stored(text)
        return known

    def _stored(self, text: str) -> int:
        table = self._table
        row = self._connection.execute(f"SELECT id FROM {table} WHERE text = ?", (text,)).fetchone()  # noqa: S608  a name of this package
        if row is not None:
            return int(row[0])
        added = self._connection.execute(f"INSERT INTO {table} (text) VALUES (?)", (text,))  # noqa: S608  a name of this package
        assert added.lastrowid is not None
        return added.lastrowid

    def forget(self) -> None:
        """Read numbers anew."""
        self._numbers.clear()


def in_run(run: str, thread: str) -> str:
    """Return a thread's id as it is stored beside its run: one that begins with the run's own id, from the slash on."""
    return thread[len(run) :] if thread.startswith(f"{run}/") else thread


def from_run(run: str, stored: str) -> str:
    """Return the id of a stored thread."""
    return run + stored if stored.startswith("/") else stored
