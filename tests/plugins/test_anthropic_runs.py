"""Whole runs with a server of messages: shapes, repairs, counts and prices."""

from __future__ import annotations

import asyncio
from pathlib import Path

import attrs

from planloom.clients import Endpoint
from planloom.loom import Outcome, open_loom
from planloom.money import Price, micro_of
from planloom.plugins import load_plugins
from planloom.testing.looms import run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, Received, Script, message_stream, tool_use

SHAPED = """\
schema = {"type": "object", "properties": {"keep": {"type": "boolean"}}, "required": ["keep"]}
result = agent("is it so?", schema=schema, system="be brief")
"""


async def outcome_of(script: Script, store: Path, plan: str, price: Price) -> tuple[Outcome, list[Received]]:
    async with LoopbackServer(script) as server:
        settings = settings_at("", store, price=price)
        endpoint = Endpoint(name="main", client="anthropic", url=server.url)
        settings = attrs.evolve(settings, endpoints={"main": endpoint})
        async with open_loom(load_plugins(), settings) as loom:
            return await run_plan(loom, plan), list(server.received)


def test_an_answer_that_does_not_fit_is_mended_in_one_turn_of_the_same_conversation(tmp_path: Path) -> None:
    script = [message_stream([tool_use("answer", given)], stop_reason="tool_use") for given in ({}, {"keep": True})]
    outcome, requests = asyncio.run(outcome_of(script, tmp_path / "store.db", SHAPED, Price(call=micro_of(0.2))))
    assert outcome.result == {"keep": True}
    assert [turn["role"] for turn in requests[1].json["messages"]] == ["user", "assistant", "user"]
    assert all(request.json["tool_choice"]["type"] == "tool" for request in requests)


def test_what_the_cache_served_is_paid_at_its_own_price(tmp_path: Path) -> None:
    price = Price(input=micro_of(1), cached_input=micro_of(0.1), output=micro_of(5))
    outcome, _ = asyncio.run(
        outcome_of(message_stream(["yes"]), tmp_path / "store.db", 'result = agent("is it so?")', price)
    )
    # 8 tokens of input, 12 from the cache, 5 of output; a price is rounded up to whole millionths.
    assert (outcome.result, outcome.paid) == ("yes", 8 + 2 + 25)
