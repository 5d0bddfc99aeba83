"""What SQLite says when it fails, turned into what a person can act on."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from planloom import StoreError, StoreFull, StoreLocked

__all__ = ["concerns_the_store", "store_fault", "unwritable", "why_unwritable"]

_PRIMARY = 0xFF
"""An extended result code carries its primary code in the low byte."""

_ELSEWHERE = "name another file with --store, or move this one away"


def store_fault(error: sqlite3.Error, where: str) -> StoreError:
    """Return the error to raise in place of SQLite's own, in one sentence with what to do."""
    extended = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    code = extended & _PRIMARY
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(
            f"another process keeps the store {where} locked; wait until it is done, or end it, and try again"
        )
    # A quota or a file size limit reaches SQLite as a failed write, not as a full disk.
    if code == sqlite3.SQLITE_FULL or extended in (
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
    ):
        return StoreFull(
            f"the store {where} cannot grow: its disk is full or a size limit is reached; "
            "free some room and go on, nothing that was stored is lost"
        )
    return StoreError(_other_fault(code, error, where))


def _other_fault(code: int, error: sqlite3.Error, where: str) -> str:
    if code == sqlite3.SQLITE_NOTADB:
        return f"{where} is not a planloom store but another kind of file; {_ELSEWHERE}"
    if code == sqlite3.SQLITE_CORRUPT:
        return f"the store {where} is damaged ({error}); restore a copy, or move it away and start a new one"
    if code in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_AUTH,
    ):
        return unwritable(where, str(error))
    if code == sqlite3.SQLITE_CONSTRAINT:
        return f"the store {where} refused a row that is already there or does not fit ({error})"
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return f"the store {where} failed with {name}: {error}; check its disk, or name another place with --store"


def unwritable(where: str, error: str = "nothing more is known") -> str:
    """Return what to say of a store that cannot be written.

    :param error: the reason, where the file and its folder show none.
    """
    return (
        f"the store {where} cannot be written ({why_unwritable(Path(where)) or error}); "
        "make the file and its folder writable, or name another place with --store"
    )


def why_unwritable(file: Path) -> str:
    """Return why a store's file cannot be written as it stands, empty where nothing is in the way.

    SQLite writes its log into the file's folder, so that it needs both.
    """
    for place, what in ((file, "the file"), (file.parent, f"the folder {file.parent}")):
        if not os.path.exists(place) or os.access(place, os.W_OK):
            continue
        if os.statvfs(place).f_flag & os.ST_RDONLY:
            return f"{what} is on a disk that is mounted read-only"
        return f"this user may not write {what}"
    return ""


def concerns_the_store(error: Exception) -> bool:
    """Whether a failure is the store's, so that nothing else would fare better, and not one operation's own."""
    return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError
