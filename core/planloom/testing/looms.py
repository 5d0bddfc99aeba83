"""A loom for tests of whole runs: the installed plugins, one endpoint ``main``, every role on it.

async with loom_at(server.url, tmp_path / "store.db") as loom:
    outcome = await run_plan(loom, 'result = agent("is it so?")')
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from planlang import compile as compile_program
from planloom.clients import Endpoint
from planloom.kits import Kit
from planloom.loom import Job, Loom, Outcome, open_loom
from planloom.money import Price, micro_of
from planloom.plugins import Registry, load_plugins
from planloom.settings import STANDARD_ROLES, RoleSettings, Settings
from planloom.words import build_vocabulary

__all__ = ["PRICE", "loom_at", "run_plan", "settings_at"]

PRICE = Price(call=micro_of(0.2))


def settings_at(
    url: str,
    store: Path | str,
    *,
    price: Price = PRICE,
    max_tokens: int = 100,
    in_flight: int = 16,
    workers: int = 1_000,
    json_mode: str = "json_schema",
    key_env: str = "",
    hedge_after_s: float | None = None,
) -> Settings:
    """Return settings with every standard role at one address."""
    endpoint = Endpoint(
        name="main", client="openai", url=url, json_mode=json_mode, key_env=key_env, hedge_after_s=hedge_after_s
    )
    roles = {
        name: RoleSettings(name=name, endpoint="main", model="m-1", price=price, parameters={"max_tokens": max_tokens})
        for name in STANDARD_ROLES
    }
    return Settings(
        store_path=str(store),
        endpoints={"main": endpoint},
        roles=roles,
        in_flight=in_flight,
        bare_in_flight=in_flight,
        workers=workers,
    )


@asynccontextmanager
async def loom_at(
    url: str, store: Path | str, *, registry: Registry | None = None, **settings: Any
) -> AsyncIterator[Loom]:
    """Give a loom on a store, whose models are at an address; ``settings`` are those of :func:`settings_at`."""
    async with open_loom(registry or load_plugins(), settings_at(url, store, **settings)) as loom:
        yield loom


async def run_plan(
    loom: Loom, source: str, *, cap: float = 1_500, args: dict[str, Any] | None = None, **options: Any
) -> Outcome:
    """Compile a plan with the words of the core and of every installed kit, and run it; ``options`` are the loom's.

    :param cap: in credits.
    """
    kits = tuple(loom.registry.all("kit", Kit).values())
    program = compile_program(source, build_vocabulary(loom.registry, loom.settings, kits))
    job = Job(title="A job", args=args or {}, cap=micro_of(cap))
    return await loom.run(job, program, source, **options)
