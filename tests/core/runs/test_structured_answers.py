"""Workers with a schema: what is sent, what is repaired, and what is no answer; whole runs against a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planloom.loom import Loom
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, completion

from .plays import Play

SCHEMA = '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}'

ASK_N = f'result = agent("n?", schema={SCHEMA})\n'


def test_an_answer_that_does_not_fit_is_repaired_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.exit_code, server.total) == ({"n": 3}, 0, 2)
        assert server.received[1].json["messages"][1:] == [
            {"role": "assistant", "content": '{"n": "three"}'},
            {
                "role": "user",
                "content": "Your answer does not fit:\n- n: 'three' is not of type 'integer'\n"
                "Answer with the corrected JSON object only.",
            },
        ]

    play([completion('{"n": "three"}'), completion('{"n": 3}')], scenario)


def test_an_answer_that_never_fits_fails_after_one_repair_with_its_text_kept(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.holes, server.total) == (None, 1, 2)
        (thread,) = loom.store.threads(outcome.run_id)
        assert (thread.error, thread.raw) == ("schema: top level: 'n' is a required property", '{"m": 1} and prose')
        assert thread.cost == 2 * 200_000

    play(completion('{"m": 1} and prose'), scenario)


def test_a_stored_answer_that_does_not_fit_leads_to_its_stored_repair(play: Play) -> None:
    script = [completion('{"n": "three"}'), completion('{"n": 3}')]

    async def first(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, ASK_N)

    async def second(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.paid, outcome.reused, server.total) == ({"n": 3}, 0, 2, 0)

    play(script, first)
    play(script, second)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (completion('{"n": 3', finish_reason="length"), "truncated: the reply was cut at its token limit"),
        (completion('{"n": 3}', finish_reason="content_filter"), "unfinished: the server ended the reply with"),
        (
            completion('{"n":', finish_reason="error"),
            "unfinished: the server ended the reply with finish reason `error`",
        ),
        (
            completion("", finish_reason="content_filter"),
            "empty: the reply holds no text (finish reason content_filter)",
        ),
    ],
)
def test_a_reply_that_is_not_whole_fails_the_worker_and_asks_for_no_repair(play: Play, answer: Any, error: str) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, server.total) == (None, 1)
        (thread,) = loom.store.threads(outcome.run_id)
        assert thread.error is not None
        assert thread.error.startswith(error)

    play(answer, scenario)


def test_an_empty_reply_that_was_not_filtered_is_asked_for_once_more(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.holes, server.total) == ({"n": 3}, 0, 2)

    play([completion(""), completion('{"n": 3}')], scenario)


def test_a_reply_that_stays_empty_fails_the_worker(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ASK_N)
        assert (outcome.result, outcome.holes, server.total) == (None, 1, 2)

    play(completion(""), scenario)


def test_a_repair_that_was_cut_short_is_no_answer(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, ASK_N)).result is None

    play([completion("no"), completion('{"n": 3}', finish_reason="length")], scenario)


@pytest.mark.parametrize(
    ("json_mode", "sent"),
    [
        ("json_schema", {"type": "json_schema", "json_schema": {"name": "answer", "schema": json.loads(SCHEMA)}}),
        ("json_object", {"type": "json_object"}),
        ("none", None),
    ],
)
def test_a_schema_is_sent_as_the_server_can_take_it(play: Play, json_mode: str, sent: Any) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, ASK_N)).result == {"n": 3}
        request = server.received[0].json
        assert request.get("response_format") == sent
        assert ("JSON Schema" in request["messages"][0]["content"]) == (json_mode != "json_schema")

    play(completion('{"n": 3}'), scenario, json_mode=json_mode)
