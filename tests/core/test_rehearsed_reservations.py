"""A call is let through at its highest price and paid at its real one: a rehearsal sees both, as a run does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from planloom.money import Price, micro_of
from planloom.rehearsal import Rehearsal
from planloom.testing.looms import loom_at, run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, echo

from .asking import MakeFolder, rehearsed_with

THREE = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(3)])\n'
BY_TOKENS = Price(input=micro_of(1), output=micro_of(4))
MOST_TOKENS = 10_000  # of an answer: 0.04 credits


def rehearsed(cap: float) -> Rehearsal:
    settings = settings_at("http://127.0.0.1:9/v1", ":memory:", price=BY_TOKENS, max_tokens=MOST_TOKENS)
    return rehearsed_with(settings, THREE, cap)


def status_of_run(cap: float, store: Path) -> str:
    async def run() -> str:
        async with (
            LoopbackServer(echo) as server,
            loom_at(server.url, store, price=BY_TOKENS, max_tokens=MOST_TOKENS) as loom,
        ):
            return str((await run_plan(loom, THREE, cap=cap)).status)

    return asyncio.run(run())


@pytest.mark.parametrize(("cap", "status"), [(0.03, "paused"), (0.05, "completed")])
def test_a_rehearsal_refuses_what_a_run_would_stop_at_and_nothing_else(tmp_path: Path, cap: float, status: str) -> None:
    assert status_of_run(cap, tmp_path / "store.db") == status
    told = rehearsed(cap)
    assert bool(told.problems) == (status == "paused")
    assert told.credits_p90 < micro_of(0.03)


def test_a_budget_below_the_highest_price_of_one_call_is_told_before_anybody_is_asked_to_approve(
    folder_with: MakeFolder,
) -> None:
    folder = folder_with(echo, THREE)
    folder.configure(**{"call = 0.2": "input = 1, output = 4"})
    code, output, remarks = folder.run("rehearse", "job.plan", "--cap", "0.01", "--json")
    assert code == 6, remarks
    (problem,) = json.loads(output)["problems"]
    assert "would stop at the budget of 0.01 credits after 0 calls, since the next may cost" in problem
    assert folder.server.total == 0
