"""The store of one SQLite file keeps the contract of stores, on disk and in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planloom.stores import Store, StorePlugin
from planloom.testing.store_contract import SharedStoreContract, StoreContract
from planloom_sqlite import SqliteStore, check_store, open_store, register_stores


class TestSqliteFile(StoreContract, SharedStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], Store]:
        return lambda: open_store(tmp_path / "store.db")

    @pytest.fixture(autouse=True)
    def _is_left_whole(self, tmp_path: Path) -> Iterator[None]:
        yield
        assert check_store(tmp_path / "store.db") == []


class TestSqliteMemory(StoreContract):
    @pytest.fixture
    def open_store(self) -> Callable[[], Store]:
        return lambda: open_store(":memory:")


def test_hook_register_stores_offers_the_kind_sqlite() -> None:
    found: list[StorePlugin] = []
    register_stores(found.append)
    assert [(plugin.name, type(plugin.open(":memory:"))) for plugin in found] == [("sqlite", SqliteStore)]
