"""What tests of whole runs share: plans played with a real store against a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from planloom.plugins import Registry, load_plugins
from planloom.testing.looms import loom_at
from planloom.testing.loopback import LoopbackServer, Script

from .plays import Play, Scenario


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def play(registry: Registry, tmp_path: Path) -> Play:
    """Play a scenario with a loom whose models are a scripted server; the store stays from one to the next."""

    def play_one(script: Script, scenario: Scenario, **settings: Any) -> None:
        async def main() -> None:
            async with (
                LoopbackServer(script) as server,
                loom_at(server.url, tmp_path / "store.db", registry=registry, **settings) as loom,
            ):
                await scenario(loom, server)

        asyncio.run(main())

    return play_one
