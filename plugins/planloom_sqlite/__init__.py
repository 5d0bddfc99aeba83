"""The default store: one SQLite file in WAL mode, embedded, safe for several processes on one machine.

Everything that is awaited is on the disk (``synchronous=FULL``) when the answer comes back. One writer thread commits
in groups; readers never wait for it.
"""

from __future__ import annotations

from collections.abc import Callable

from planloom.hookspecs import hookimpl
from planloom.stores import StorePlugin

from ._check import check_store
from ._store import BUSY_TIMEOUT_S, LEASE_S, SqliteStore, open_store

__all__ = ["BUSY_TIMEOUT_S", "LEASE_S", "SqliteStore", "check_store", "open_store", "register_stores"]


@hookimpl
def register_stores(register: Callable[[StorePlugin], None]) -> None:
    """Register the store kind ``sqlite``."""
    register(
        StorePlugin(
            name="sqlite",
            summary="one file on a local disk, for any number of processes of one machine",
            open=open_store,
        )
    )
