"""Connections to one store file: how it is found, made, opened, and read.

Readers have a connection a thread and hold no transaction longer than one statement, so that they never keep the
write-ahead log from being emptied. A store in memory has a single connection, which readers share with the writer under
a lock: a transaction in memory is over before a wait is felt, and SQLite's shared caches fail readers with table locks.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from weakref import WeakSet

from planloom import StoreError, StoreLocked
from planloom.data_classes import frozen

from ._faults import store_fault
from ._rows import in_lots
from ._schema import check_identity, migrate

__all__ = ["MEMORY", "WAL_KEPT_BYTES", "Place", "Readers", "open_writer"]

MEMORY = ":memory:"

WAL_KEPT_BYTES = 8 * 1024 * 1024
"""How large the write-ahead log may stay after it was emptied."""

_RETRY_S = 0.02

_OLDEST = (3, 33)
"""The first version with ``UPDATE ... FROM``, of August 2020."""


@frozen
class Place:
    """Where a store is, and how long to wait for its lock.

    :ivar address: how SQLite is to open it, where that is not simply its path. :ivar check: raises
        :class:`planloom.StoreError` after a read that was not to be trusted.
    """

    location: str
    busy_timeout_s: float
    address: str = ""
    check: Callable[[], None] = lambda: None

    @property
    def in_memory(self) -> bool:
        """Whether it ends with the process."""
        return self.location == MEMORY

    def connect(self) -> sqlite3.Connection:
        """Return a new connection without transactions of its own."""
        # Some builds of SQLite take every name that begins so for an address, and open another file.
        name = f"./{self.location}" if self.location.startswith("file:") else self.location
        return sqlite3.connect(
            self.address or name,
            uri=bool(self.address),
            timeout=self.busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )


def open_writer(place: Place) -> sqlite3.Connection:
    """Return the writer's connection to a store that is made and migrated where needed.

    :raises StoreError: it cannot be made or opened; the text says what to do.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreError(
            f"this Python brings SQLite {sqlite3.sqlite_version}, and the store needs {'.'.join(map(str, _OLDEST))} or "
            "newer; use a newer Python, or one that is built with a newer SQLite"
        )
    if not place.in_memory:
        _make_folder(Path(place.location))
    connection: sqlite3.Connection | None = None
    try:
        connection = place.connect()
        _until_unlocked(connection, place)
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise store_fault(error, place.location) from error
    except StoreError:
        if connection is not None:
            connection.close()
        raise
    return connection


def _make_folder(file: Path) -> None:
    folder = file.parent
    try:
        if file.is_dir():
            raise StoreError(f"{file} is a folder; name a file in it, such as {file / 'store.db'}")
        folder.mkdir(parents=True, exist_ok=True)
        # A report may have made the folder before. Once there is a store, who deletes the file keeps it deleted.
        if folder.name == ".planloom" and not file.exists() and not (folder / ".gitignore").exists():
            (folder / ".gitignore").write_text("*\n")
    except OSError as error:
        what, step = f"the folder {folder} for the store cannot be made", "make it yourself, or name"
        if os.path.isdir(folder):
            what, step = f"the folder {folder} of the store cannot be used", "open it to this user, or name"
        raise StoreError(f"{what} ({error.strerror}); {step} another place with --store") from error


def _until_unlocked(connection: sqlite3.Connection, place: Place) -> None:
    """Set a connection up; changing a new file to WAL is refused at once while others do, without SQLite's own wait."""
    deadline = time.monotonic() + place.busy_timeout_s
    while True:
        try:
            return _set_up(connection, place)
        except sqlite3.OperationalError as error:
            if not isinstance(store_fault(error, place.location), StoreLocked) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)


def _set_up(connection: sqlite3.Connection, place: Place) -> None:
    check_identity(connection, place.location)
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal" and not place.in_memory:
        raise StoreError(
            f"the disk of {place.location} does not support SQLite's write-ahead log; name a file on a local disk"
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_KEPT_BYTES}")
    migrate(connection, place.location)
    connection.execute("PRAGMA foreign_keys = ON")


class _Reader:
    """One thread's connection, which ends with it. Any thread may close it, but not while it is read through: Python's
    module would read on from memory that SQLite has freed."""

    __slots__ = ("__weakref__", "_busy", "_connection")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._busy = threading.Lock()
        connection.execute("PRAGMA query_only = ON")

    def __del__(self) -> None:
        self._connection.close()

    def rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return all rows of one query."""
        with self._busy:
            return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close it; a query that goes on is cut off."""
        while not self._busy.acquire(timeout=_RETRY_S):
            self._connection.interrupt()
        try:
            self._connection.close()
        finally:
            self._busy.release()


class Readers:
    """Reading connections, one a thread; made when a thread first reads, closed when it ends, or all together."""

    def __init__(self, place: Place, shared: sqlite3.Connection | None) -> None:
        self._place = place
        self._shared = shared
        self._guard = threading.Lock()
        self._own = threading.local()
        self._all: WeakSet[_Reader] = WeakSet()
        self._closed = False

    @property
    def guard(self) -> AbstractContextManager[Any]:
        """What the writer must hold during a transaction: a lock in memory, nothing for a file."""
        return self._guard if self._shared is not None else nullcontext()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of one query.

        :raises StoreError: the store is closed, or cannot be read.
        """
        try:
            if self._shared is None:
                found = self._reader().rows(sql, values)
                self._place.check()
                return found
            with self._guard:
                self._refuse_when_closed()
                return self._shared.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            self._refuse_when_closed()  # by another thread meanwhile
            raise store_fault(error, self._place.location) from error

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of one query, or ``None``."""
        rows = self.rows(sql, values)
        return rows[0] if rows else None

    def select(self, query: str, keys: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that ends with ``IN``, for these keys."""
        for lot in in_lots(keys):
            yield from self.rows(f"{query} ({', '.join('?' * len(lot))})", lot)

    def _reader(self) -> _Reader:
        self._refuse_when_closed()
        reader: _Reader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = _Reader(self._place.connect())
            with self._guard:
                self._all.add(reader)
            if self._closed:  # by another thread in this very moment
                reader.close()
                self._refuse_when_closed()
            self._own.reader = reader
        return reader

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self._place.location} is closed; open it again")

    def close(self) -> None:
        """Close every connection; reads are refused from now on, and those that other threads are at are cut off."""
        with self._guard:
            self._closed = True
            readers = list(self._all)
        for reader in readers:
            reader.close()
