"""Plans that ask much and servers that answer, for the tests of runs that go on and are played again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import planloom
from planlang import compile as compile_program
from planloom import Planloom
from planloom.money import micro_of
from planloom.plugins import load_plugins
from planloom.rehearsal import Rehearsal, rehearse
from planloom.settings import Settings
from planloom.testing.folders import CONFIG, Folder
from planloom.testing.loopback import LoopbackServer, Received, Script, echo, json_answer
from planloom.words import build_vocabulary

MakeFolder = Callable[..., Folder]

# The rehearsal, which makes up another answer, foresees three workers.
MORE_THAN_FORESEEN = """
many = 29 if agent("how many") == "ok: how many" else 2
result = parallel([lambda i=i: agent(f"question {i}") for i in range(many)])
"""

MANY = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"question {{i}}") for i in range({count})])\n'


def slow_echo(request: Received) -> Any:
    return echo(request).after(0.05)


@asynccontextmanager
async def opened(folder: Path, script: Script) -> AsyncIterator[tuple[Planloom, LoopbackServer]]:
    """Give planloom in a folder whose workers are answered by a scripted server."""
    async with LoopbackServer(script) as server:
        (folder / "planloom.toml").write_text(CONFIG.format(url=server.url))
        async with planloom.open(folder) as loom:
            yield loom, server


def rehearsed_with(settings: Settings, plan: str, cap: float) -> Rehearsal:
    """Return what a rehearsal of a plan without a kit says under a cap in credits."""
    registry = load_plugins()
    return rehearse(
        compile_program(plan, build_vocabulary(registry, settings, ())),
        registry=registry,
        settings=settings,
        works={},
        prices=lambda role: settings.role(role).price,
        budget=micro_of(cap),
    )


def refused() -> Any:
    return json_answer({"error": {"message": "content refused"}}, status=400)


def paid_of(folder: Folder, run: str) -> Any:
    return folder.store(lambda store: store.money(run)["spent"])
