"""Reading a store that cannot be written: one that is mounted read-only, or that belongs to somebody else.

SQLite reads a file with a write-ahead log through a shared index beside it, which it makes where there is none. Where
it may make nothing it can read the file alone, taken for one that never changes (``immutable``). That holds as long as
no log has anything newer and nobody writes meanwhile, which is looked at after every read.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path
from typing import Any

from planloom import StoreError
from planloom.stores import Granted

from ._connections import Place
from ._faults import store_fault, unwritable, why_unwritable
from ._operations import End, Flush, Operation
from ._schema import LATEST, check_identity

__all__ = ["NoWriter", "place_to_read", "refuse_others"]


def place_to_read(file: Path, busy_timeout_s: float) -> Place:
    """Return how to open a store's file to read it, in a way that leaves nothing beside a file which others own.

    :raises StoreError: this user may not read it.
    """
    real = file.resolve()
    if not os.access(real, os.R_OK):
        raise StoreError(f"this user may not read the store {file}; make it readable, or name another with --store")
    address = f"{real.as_uri()}?mode=ro"
    if not why_unwritable(real) or _log_bytes(real):
        return Place(str(file), busy_timeout_s, address)
    before = _state(real)

    def check() -> None:
        if _state(real) != before:
            raise StoreError(
                f"the store {file} was written by another process while it was read, and from where it cannot be "
                "written it can only be read while nobody writes; run the command again"
            )

    return Place(str(file), busy_timeout_s, f"{address}&immutable=1", check)


def _log(real: Path) -> Path:
    return Path(f"{real}-wal")


def _log_bytes(real: Path) -> int:
    log = _log(real)
    return log.stat().st_size if log.exists() else 0


def _state(real: Path) -> tuple[int, int, int, int]:
    found = os.stat(real)
    return found.st_ino, found.st_size, found.st_mtime_ns, _log_bytes(real)


def refuse_others(connection: sqlite3.Connection, file: Path) -> None:
    """Return when a connection that only reads finds a store of the latest format.

    :raises StoreError: it is of another, is no store, or cannot be read.
    """
    where, stuck = str(file), bool(why_unwritable(file.resolve()))
    try:
        version = check_identity(connection, where)
    except sqlite3.OperationalError as error:
        if stuck and _log_bytes(file.resolve()):
            raise StoreError(
                f"the store {where} has newer content in {where}-wal, which cannot be read where nothing can be "
                "written; copy both files to a folder that you can write, and name the copy with --store"
            ) from error
        raise store_fault(error, where) from error
    except sqlite3.Error as error:
        raise store_fault(error, where) from error
    if version == LATEST:
        return
    step = "`planloom runs` brings it up to date"
    if stuck:
        step = f"copy it to a folder that you can write and name the copy with --store, where {step}"
    raise StoreError(f"the store {where} has format {version}, not {LATEST}; {step}")


class NoWriter:
    """Stands where a store has its writer, and refuses to write.

    :param ends_with: what is closed with the store.
    """

    owner_id = 0
    asked = None

    def __init__(self, where: str, ends_with: sqlite3.Connection | None = None) -> None:
        self._where, self._ends_with = where, ends_with

    def submit(self, operation: Operation) -> asyncio.Future[Any]:
        """Return a future that tells why nothing is written; what ends a store has nothing to do."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if isinstance(operation, (Flush, End)):
            if isinstance(operation, End) and self._ends_with is not None:
                self._ends_with.close()
            future.set_result(None)
        else:
            future.set_exception(StoreError(unwritable(self._where, "it was opened to be read")))
        return future

    def abandon(self, granted: Granted) -> None:
        """Do nothing: nothing is ever granted."""
