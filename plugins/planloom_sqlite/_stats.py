"""What a store file holds and weighs."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from planloom.store_tools import Spender, StoreStats, Weight
from planloom.stores import Books

from ._packing import GONE
from ._sizes import SIZE_OF
from ._till import STORE_CAP

__all__ = ["stats_of"]

_KINDS = {
    "parts": ("part",),
    "questions": ("question", "frame"),
    "replies": ("reply",),
    "calls": ("call",),
    "events": ("event",),
    "threads": ("thread",),
    "runs": ("run", "journal"),
}
"""Content by kind, and the tables that hold it; the first one is counted."""


def stats_of(connection: sqlite3.Connection, path: Path) -> StoreStats:
    """Return what a store holds and weighs."""
    log = Path(f"{path}-wal")
    log_bytes = log.stat().st_size if log.exists() else 0
    (oldest, newest) = connection.execute("SELECT min(created_at), max(created_at) FROM reply").fetchone()
    return StoreStats(
        format=_one(connection, "PRAGMA user_version"),
        size_bytes=path.stat().st_size + log_bytes,
        log_bytes=log_bytes,
        free_bytes=_one(connection, "PRAGMA freelist_count") * _one(connection, "PRAGMA page_size"),
        weights=tuple(_weight(connection, kind) for kind in _KINDS),
        budgets=_budgets(connection),
        spenders=_spenders(connection),
        cap=next((cap for (cap,) in connection.execute(STORE_CAP)), None),
        uncertain=_one(connection, "SELECT count(*) FROM call WHERE state = 'uncertain'"),
        oldest_at=None if oldest is None else datetime.fromtimestamp(oldest, UTC),
        newest_at=None if newest is None else datetime.fromtimestamp(newest, UTC),
    )


def _one(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _weight(connection: sqlite3.Connection, kind: str) -> Weight:
    counts, sizes = [], []
    for table in _KINDS[kind]:
        kept = f"sum(codec != {GONE})" if table in ("question", "reply") else "count(*)"
        query = f"SELECT coalesce({kept}, 0), coalesce(sum({SIZE_OF[table]}), 0) FROM {table}"  # noqa: S608  names of this module
        count, size = connection.execute(query).fetchone()
        counts.append(count)
        sizes.append(size)
    return Weight(kind=kind, count=counts[0], size_bytes=sum(sizes))


def _budgets(connection: sqlite3.Connection) -> dict[str, Books]:
    rows = connection.execute("SELECT name, cap, spent, reserved, uncertain FROM budget ORDER BY id")
    return {
        name: Books(cap=cap, spent=spent, reserved=reserved, uncertain=uncertain)
        for name, cap, spent, reserved, uncertain in rows
    }


def _spenders(connection: sqlite3.Connection) -> dict[str, tuple[Spender, ...]]:
    found: dict[str, list[Spender]] = {}
    for budget, run, title in connection.execute("SELECT budget, id, title FROM run ORDER BY number DESC"):
        found.setdefault(budget, []).append(Spender(run=run, title=title))
    return {budget: tuple(runs) for budget, runs in found.items()}
