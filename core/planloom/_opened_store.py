"""The configured store, open for as long as a block."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .plugins import Registry
from .settings import Settings
from .stores import Store, StorePlugin

__all__ = ["opened_store"]


@asynccontextmanager
async def opened_store(registry: Registry, settings: Settings, *, read_only: bool = False) -> AsyncIterator[Store]:
    """Open the configured store, which has the configured cap from then on.

    :param read_only: nothing is to be written, so that a store which cannot be written will do.
    :raises StoreError: the store cannot be opened.
    """
    plugin = registry.get("store", settings.store_kind, StorePlugin)
    store = plugin.opened(settings.store_path, read_only=read_only)
    try:
        if settings.store_cap is not None and not read_only:
            await store.configure_cap(settings.store_cap)
        yield store
    finally:
        await store.close()
