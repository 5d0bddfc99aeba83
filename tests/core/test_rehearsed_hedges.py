"""What a rehearsal says of requests that may be sent a second time: they are in no estimate, and it says so."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from planloom.money import Price, micro_of
from planloom.rehearsal import Rehearsal
from planloom.testing.looms import PRICE, loom_at, run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, Received, completion, echo

from .asking import MakeFolder, rehearsed_with

THREE = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(3)])\n'
TOKENS = Price(input=micro_of(1), output=micro_of(4))


def rehearsed(price: Price, hedge_after_s: float | None) -> Rehearsal:
    settings = settings_at("http://127.0.0.1:9/v1", ":memory:", price=price, hedge_after_s=hedge_after_s)
    return rehearsed_with(settings, THREE, 100)


def told_of(rehearsal: Rehearsal) -> float | None:
    """Return what second requests may add, in credits, as the rehearsal says it."""
    said = [re.search(r"may add up to about ([\d.]+) credits on top", line) for line in rehearsal.advice]
    found = [match for match in said if match]
    return float(found[0][1]) if found else None


def test_a_rehearsal_says_what_hedged_requests_may_add_and_prices_none(tmp_path: Path) -> None:
    hedged = rehearsed(PRICE, 20.0)
    assert hedged.credits_p90 == rehearsed(PRICE, None).credits_p90 == 600_000
    assert [line for line in hedged.advice if "hedge" in line] == [
        "hedged requests (hedge_after_s) may add up to about 0.6 credits on top of the estimate, as far as the budget "
        "allows: each is charged at its highest price"
    ]


def test_a_rehearsal_says_nothing_of_hedges_where_there_are_none() -> None:
    assert told_of(rehearsed(PRICE, None)) is None
    assert told_of(rehearsed(Price(), 20.0)) is None


@pytest.mark.parametrize("price", [PRICE, TOKENS], ids=["by call", "by token"])
def test_what_is_told_is_no_less_than_what_a_run_of_nothing_but_hedges_is_charged(tmp_path: Path, price: Price) -> None:
    seen: set[str] = set()

    async def charged() -> int:
        async with (
            LoopbackServer(lambda request: completion().hanging() if _first(request, seen) else completion()) as server,
            loom_at(server.url, tmp_path / "store.db", price=price, hedge_after_s=0.05) as loom,
        ):
            outcome = await run_plan(loom, THREE)
            assert (outcome.status, server.total) == ("completed", 6)
            return loom.store.money(outcome.run_id)["uncertain"]

    told = told_of(rehearsed(price, 0.05))
    assert told is not None
    assert 0 < asyncio.run(charged()) <= micro_of(told)


def _first(request: Received, seen: set[str]) -> bool:
    """Whether a question is asked for the first time."""
    is_first = request.question not in seen
    seen.add(request.question)
    return is_first


def test_who_rehearses_or_runs_a_plan_reads_it_before_anything_is_asked(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, THREE)
    folder.run("run", "job.plan")  # its estimate, which is kept, says nothing of hedges
    folder.configure(**{'client = "openai"': 'client = "openai"\nhedge_after_s = 20'})
    _, output, _ = folder.run("rehearse", "job.plan", "--json")
    assert "may add up to about 0.6 credits" in str(json.loads(output)["advice"])
    _, _, remarks = folder.run("run", "job.plan", "--repeat", "1")
    assert "worth knowing: hedged requests (hedge_after_s) may add up to about 0.6 credits" in " ".join(remarks.split())
