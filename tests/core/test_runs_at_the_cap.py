"""Runs at their cap: what they spend, what they say, and how they go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom import Planloom
from planloom.api import open_with
from planloom.money import MICRO, Price
from planloom.plugins import load_plugins
from planloom.testing.looms import settings_at
from planloom.testing.loopback import LoopbackServer, Script, echo

Scenario = Callable[[Planloom, LoopbackServer], Coroutine[Any, Any, None]]
Play = Callable[..., None]

# The rehearsal, which makes up another answer, foresees three workers.
MORE_THAN_FORESEEN = """
phase("Ask")
many = 15 if agent("how many") == "ok: how many" else 2
result = parallel([lambda i=i: agent(f"question {i}") for i in range(many)])
"""


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play a scenario with models of a given price."""

    def play_one(script: Script, scenario: Scenario, price: Price, worker_timeout_s: float = 60.0) -> None:
        async def main() -> None:
            async with LoopbackServer(script) as server:
                settings = settings_at(server.url, tmp_path / "store.db", price=price)
                settings = attrs.evolve(settings, worker_timeout_s=worker_timeout_s)
                async with open_with(load_plugins(), settings) as loom:
                    await scenario(loom, server)

        asyncio.run(main())

    return play_one


def test_parallel_workers_share_one_cap(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(MORE_THAN_FORESEEN, cap=2_000, approve=True)
        outcome = await run
        assert (outcome.status, outcome.exit_code, outcome.paid, server.total) == ("paused", 5, 2_000 * MICRO, 4)
        figures = [event.data async for event in run.events() if event.type == "run.budget_paused"]
        assert all(paused["spent"] + paused["reserved"] <= paused["cap"] == 2_000 for paused in figures)

    play(lambda request: echo(request).after(0.1), scenario, Price(call=500 * MICRO))


def test_message_status_and_event_give_the_same_figures_as_the_cap(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(MORE_THAN_FORESEEN, cap=2, approve=True)
        outcome = await run
        (paused,) = [event.data async for event in run.events() if event.type == "run.budget_paused"]
        assert (paused["spent"], paused["reserved"], paused["cap"], paused["asked"]) == (2.0, 0.0, 2.0, 0.5)
        assert outcome.error is not None
        assert "has spent 2.0 of 2.0 credits, and the next call may cost 0.5" in outcome.error
        assert " | 2.0 credits | " in run.status_line
        assert run.status_line.endswith("| PAUSED at the budget")
        assert outcome.paid == 2 * MICRO
        (phase,) = outcome.phases
        assert (phase["prompt_tokens"], phase["completion_tokens"]) == (80, 20)

    play(echo, scenario, Price(call=MICRO // 2))


def test_time_at_the_budget_counts_against_no_workers_time(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(MORE_THAN_FORESEEN, cap=2, at_cap="wait", approve=True)
        while run.status != "paused":
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.5)
        await run.raise_cap(100)
        outcome = await run
        assert (outcome.status, outcome.holes, server.total) == ("completed", 0, 16)

    play(echo, scenario, Price(call=MICRO // 2), worker_timeout_s=1.0)
