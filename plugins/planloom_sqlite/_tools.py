"""Looking after one store file: each tool opens it for itself and closes it again."""

from __future__ import annotations

import os
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
from ._connections import MEMORY, Place
from ._export import records_of
from ._faults import store_fault
from ._prune import prunable, prune, shrink
from ._reading import place_to_read, refuse_others
from ._stats import stats_of

__all__ = ["SqliteTools", "check_store"]

_BUSY_TIMEOUT_S = 30.0
"""A run that goes on may keep the lock for some time; a person who prunes can wait longer than a call."""


class SqliteTools:
    """See :class:`planloom.store_tools.StoreTools`."""

    def __init__(self, location: str | Path) -> None:
        if str(location) == MEMORY:
            raise StoreError("a store in memory ends with its process; name a file with --store")
        self._path = Path(os.path.expanduser(location))

    def check(self) -> Iterator[str]:
        """Yield what is wrong, a sentence a fault."""
        with self._reading() as connection:
            yield from faults_of(connection)

    def stats(self) -> StoreStats:
        """Return what the store holds and weighs."""
        with self._reading() as connection:
            return stats_of(connection, self._path)

    def prune(self, pruning: Pruning, *, apply: bool) -> Pruned:
        """Remove runs and, where asked, answers; return what went or would go."""
        if not apply:
            with self._reading() as connection:
                return prunable(connection, pruning, time.time())
        with self._writing() as connection:
            pruned = prune(connection, pruning, str(self._path), time.time())
            return attrs.evolve(pruned, shrunk=shrink(connection, time.time()))

    def export(self, kinds: Sequence[str] = EXPORTED_KINDS) -> Iterator[Mapping[str, Any]]:
        """Yield everything of these kinds as plain data."""
        with self._reading() as connection:
            for kind in EXPORTED_KINDS:
                if kind in kinds:
                    yield from records_of(connection, kind)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self._refuse_none()
        place = place_to_read(self._path, _BUSY_TIMEOUT_S)
        with self._open(place) as connection:
            yield connection
        place.check()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._refuse_none()
        address = f"{self._path.resolve().as_uri()}?mode=rw"
        with self._open(Place(str(self._path), _BUSY_TIMEOUT_S, address)) as connection:
            yield connection

    def _refuse_none(self) -> None:
        if not os.path.isfile(self._path):
            raise StoreError(f"there is no store at {self._path}; name it with --store, or check the path")

    @contextmanager
    def _open(self, place: Place) -> Iterator[sqlite3.Connection]:
        connection: sqlite3.Connection | None = None
        try:
            connection = place.connect()
            refuse_others(connection, self._path)
            yield connection
        except sqlite3.Error as error:
            place.check()
            raise store_fault(error, place.location) from error
        finally:
            if connection is not None:
                connection.close()


def check_store(location: str | Path) -> list[str]:
    """Return what is wrong with a store, a sentence a fault; none when it is whole. Changes nothing.

    :raises StoreError: it cannot be opened, or it is no store of a format that this planloom knows.
    """
    return list(SqliteTools(location).check())
