"""Looking after one store file: each tool opens it for itself and closes it again."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from planloom import StoreError
from planloom.store_tools import EXPORTED_KINDS, Pruned, Pruning, StoreStats

from ._check import faults_of
from ._connections import MEMORY
from ._export import records_of
from ._faults import store_fault
from ._prune import prunable, prune, shrink
from ._schema import LATEST, check_identity
from ._stats import stats_of

__all__ = ["SqliteTools", "check_store"]

_BUSY_TIMEOUT_S = 30.0
"""A run that goes on may keep the lock for some time; a person who prunes can wait longer than a call."""


class SqliteTools:
    """See :class:`planloom.store_tools.StoreTools`."""

    def __init__(self, location: str | Path) -> None:
        if str(location) == MEMORY:
            raise StoreError("a store in memory ends with its process; name a file with --store")
        self._path = Path(location).expanduser()

    def check(self) -> Iterator[str]:
        """Yield what is wrong, a sentence a fault."""
        with self._open("ro") as connection:
            yield from faults_of(connection)

    def stats(self) -> StoreStats:
        """Return what the store holds and weighs."""
        with self._open("ro") as connection:
            return stats_of(connection, self._path)

    def prune(self, pruning: Pruning, *, apply: bool) -> Pruned:
        """Remove runs and, where asked, answers; return what went or would go."""
        if not apply:
            with self._open("ro") as connection:
                return prunable(connection, pruning, time.time())
        with self._open("rw") as connection:
            pruned = prune(connection, pruning, str(self._path), time.time())
            return attrs.evolve(pruned, shrunk=shrink(connection, time.time()))

    def export(self, kinds: Sequence[str] = EXPORTED_KINDS) -> Iterator[Mapping[str, Any]]:
        """Yield everything of these kinds as plain data."""
        with self._open("ro") as connection:
            for kind in EXPORTED_KINDS:
                if kind in kinds:
                    yield from records_of(connection, kind)

    @contextmanager
    def _open(self, mode: str) -> Iterator[sqlite3.Connection]:
        where = str(self._path)
        if not self._path.is_file():
            raise StoreError(f"there is no store at {where}; name it with --store, or check the path")
        connection: sqlite3.Connection | None = None
        try:
            address = f"{self._path.resolve().as_uri()}?mode={mode}"
            connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_TIMEOUT_S)
            _refuse_others(connection, where)
            yield connection
        except sqlite3.Error as error:
            raise store_fault(error, where) from error
        finally:
            if connection is not None:
                connection.close()


def _refuse_others(connection: sqlite3.Connection, where: str) -> None:
    version = check_identity(connection, where)
    if version != LATEST:
        raise StoreError(f"the store {where} has format {version}, not {LATEST}; `planloom runs` brings it up to date")


def check_store(location: str | Path) -> list[str]:
    """Return what is wrong with a store, a sentence a fault; none when it is whole. Changes nothing.

    :raises StoreError: it cannot be opened, or it is no store of a format that this planloom knows.
    """
    return list(SqliteTools(location).check())
