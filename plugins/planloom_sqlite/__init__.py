"""The default store: one SQLite file in WAL mode, embedded, safe for several processes on one machine.

Everything that is awaited is on the disk (``synchronous=FULL``) when the answer comes back. One writer thread commits
in groups; readers never wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from planloom.hookspecs import hookimpl
from planloom.late import late_names
from planloom.stores import Store, StorePlugin

if TYPE_CHECKING:
    from planloom.store_tools import StoreTools

    from ._store import BUSY_TIMEOUT_S, LEASE_S, SqliteStore, open_store, read_store
    from ._tools import SqliteTools, check_store

__all__ = [
    "BUSY_TIMEOUT_S",
    "LEASE_S",
    "SqliteStore",
    "SqliteTools",
    "check_store",
    "open_store",
    "read_store",
    "register_stores",
]

__getattr__ = late_names(
    __name__,
    {
        "_store": ("BUSY_TIMEOUT_S", "LEASE_S", "SqliteStore", "open_store", "read_store"),
        "_tools": ("SqliteTools", "check_store"),
    },
)


@hookimpl
def register_stores(register: Callable[[StorePlugin], None]) -> None:
    """Register the store kind ``sqlite``."""
    register(
        StorePlugin(
            name="sqlite",
            summary="one file on a local disk, for any number of processes of one machine",
            open=_open,
            read=_read,
            tools=_tools_of,
        )
    )


def _open(path: str | Path) -> Store:
    from ._store import open_store

    return open_store(path)


def _read(path: str | Path) -> Store:
    from ._store import read_store

    return read_store(path)


def _tools_of(path: str | Path) -> StoreTools:
    from ._tools import SqliteTools

    return SqliteTools(path)
