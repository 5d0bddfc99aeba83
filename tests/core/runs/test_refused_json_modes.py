"""A server that does not take the way in which an answer of a shape is asked for is asked in words, once for all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from planloom.former import read_former
from planloom.loom import Loom, Outcome
from planloom.testing.looms import run_plan
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, json_answer

from .plays import Play, events

SCHEMA = '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}'
ONE = f'result = agent("n?", schema={SCHEMA})\n'
SIX = f'result = parallel([lambda i=i: agent(f"n {{i}}?", schema={SCHEMA}) for i in range(6)])\n'
JUDGED = f'{SIX}result.append(agent("judge", schema={SCHEMA}, model="judge"))\n'


def refusal(words: str = "response_format json_schema is not supported by this model") -> Served:
    return json_answer({"error": {"message": words}}, status=400)


def has_format(request: Received) -> bool:
    return "response_format" in request.json


def in_words_only(request: Received) -> Served:
    """Answer what is asked without a response format."""
    return refusal() if has_format(request) else completion('{"n": 3}')


def logs(loom: Loom, outcome: Outcome) -> list[str]:
    return [event.data["message"] for event in events(loom, outcome) if event.type == "run.log"]


async def go_on(loom: Loom, source: str, before: Outcome, **options: Any) -> Outcome:
    row = loom.store.run(before.run_id)
    assert row is not None
    return await run_plan(loom, source, former=read_former(loom.store, row), **options)


def test_a_worker_whose_way_of_asking_is_refused_asks_once_more_in_words_and_pays_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ONE)
        assert (outcome.result, outcome.exit_code, server.total) == ({"n": 3}, 0, 2)
        first, second = (request.json for request in server.received)
        assert first["response_format"]["type"] == "json_schema"
        assert "response_format" not in second
        assert "Answer with one JSON object that satisfies this JSON Schema" in second["messages"][-1]["content"]
        assert loom.store.money(outcome.run_id) == {"calls": 1, "spent": 200_000, "uncertain": 0, "reserved": 0}

    play(in_words_only, scenario)


def test_the_stored_question_is_the_one_that_was_answered(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        (thread,) = loom.store.threads((await run_plan(loom, ONE)).run_id)
        (fingerprint,) = thread.fingerprints
        question = loom.store.question(fingerprint)
        assert question is not None
        assert "response_format" not in question.parameters
        assert question.messages[-1].text == server.received[1].json["messages"][-1]["content"]

    play(in_words_only, scenario)


def test_later_workers_of_the_run_ask_in_words_at_once_and_the_run_says_so_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, JUDGED)
        assert (outcome.holes, outcome.result) == (0, [{"n": 3}] * 7)
        # A role has a model of its own, and finds out for itself. The next in line may go out before the first asks.
        refused = [has_format(request) for request in server.received].count(True)
        assert (server.total, refused) == (7 + refused, refused)
        assert refused <= 3
        assert logs(loom, outcome) == [
            "endpoint `main` refuses json_mode json_schema of model `m-1` (first for the shape `answer`); the run asks "
            "in words in its place: write another json_mode under the endpoint, `planloom doctor` finds out which it "
            "heeds"
        ]

    play(in_words_only, scenario, in_flight=1)


def test_a_run_that_goes_on_asks_in_words_from_the_start(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stopped = await run_plan(loom, SIX, cap=0.6)
        before = server.total
        assert (stopped.status, loom.store.money(stopped.run_id)["spent"]) == ("paused", 600_000)
        outcome = await go_on(loom, SIX, stopped, cap=10)
        assert (outcome.status, outcome.asked, server.total) == ("completed", 3, before + 3)
        assert not any(has_format(request) for request in list(server.received)[before:])
        assert len(logs(loom, outcome)) == 1

    play(in_words_only, scenario, in_flight=1)


def test_a_replay_asks_nothing_and_gives_the_same(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        first = await run_plan(loom, SIX)
        asked = server.total
        again = await go_on(loom, SIX, first, mode="replay")
        assert (again.status, again.result, server.total) == ("completed", first.result, asked)

    play(in_words_only, scenario)


def test_a_new_run_of_the_job_finds_out_again_for_nothing_and_has_its_answers_from_the_ledger(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, SIX)
        asked = server.total
        again = await run_plan(loom, SIX)
        assert (again.result, again.paid, again.reused) == ([{"n": 3}] * 6, 0, 6)
        assert all(has_format(request) for request in list(server.received)[asked:])

    play(in_words_only, scenario, in_flight=1)


def test_what_was_answered_before_the_server_changed_its_mind_is_neither_asked_again_nor_lost(play: Play) -> None:
    answers = iter([completion('{"n": 1}'), completion('{"n": 2}')])

    def script(request: Received) -> Served:
        if has_format(request):
            return next(answers, refusal())
        return completion('{"n": 3}')

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stopped = await run_plan(loom, SIX, cap=0.8)
        assert (stopped.status, loom.store.money(stopped.run_id)["spent"]) == ("paused", 800_000)
        outcome = await go_on(loom, SIX, stopped, cap=10)
        assert sorted(answer["n"] for answer in outcome.result) == [1, 2, 3, 3, 3, 3]
        assert [has_format(request) for request in server.received].count(False) == 4
        assert loom.store.money(outcome.run_id)["spent"] == 1_200_000
        asked = server.total
        again = await go_on(loom, SIX, outcome, mode="replay")
        assert (again.status, again.result, server.total) == ("completed", outcome.result, asked)

    play(script, scenario, in_flight=1)


def always_refused(request: Received) -> Served:
    return refusal()


def refused_for_another_reason(request: Received) -> Served:
    return refusal("temperature is too hot")


@pytest.mark.parametrize(
    ("script", "most"),
    [(always_refused, 8), (refused_for_another_reason, 6)],
    ids=["in words too", "for another reason"],
)
def test_a_server_that_refuses_all_fails_its_workers_and_nothing_is_written_down(
    play: Play, script: Callable[[Received], Served], most: int
) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, SIX)
        assert (outcome.holes, logs(loom, outcome)) == (6, [])
        assert 6 <= server.total <= most
        assert loom.store.journal(outcome.run_id) == {}
        assert loom.store.money(outcome.run_id)["spent"] == 0

    play(script, scenario, in_flight=1)


def test_of_many_workers_no_more_are_refused_than_were_in_flight(play: Play) -> None:
    source = f'result = parallel([lambda i=i: agent(f"n {{i}}?", schema={SCHEMA}) for i in range(60)])\n'

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, source)
        assert (outcome.holes, outcome.result) == (0, [{"n": 3}] * 60)
        assert server.total <= 60 + 2 * 8

    play(in_words_only, scenario, in_flight=8)


def test_a_mode_that_is_configured_as_words_is_asked_once(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        assert (await run_plan(loom, ONE)).holes == 1
        assert server.total == 1

    play(always_refused, scenario, json_mode="none")


def test_a_json_object_that_is_refused_is_asked_for_in_words(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        outcome = await run_plan(loom, ONE)
        assert (outcome.result, server.total) == ({"n": 3}, 2)
        assert [json.loads(request.body).get("response_format") for request in server.received] == [
            {"type": "json_object"},
            None,
        ]

    play(in_words_only, scenario, json_mode="json_object")


def test_what_the_ledger_has_from_before_the_server_changed_its_mind_is_not_paid_for_again(play: Play) -> None:
    new_first = f'first = agent("another?", schema={SCHEMA})\n{SIX}result.append(first)\n'

    def script(request: Received) -> Served:
        another = "another?" in request.json["messages"][-1]["content"]
        return refusal() if another and has_format(request) else completion(f'{{"n": {7 if another else 3}}}')

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        await run_plan(loom, SIX)
        outcome = await run_plan(loom, new_first)
        assert (outcome.result, outcome.paid, outcome.reused) == ([{"n": 3}] * 6 + [{"n": 7}], 200_000, 6)
        asked = server.total
        again = await go_on(loom, new_first, outcome, mode="replay")
        assert (again.status, again.result, server.total) == ("completed", outcome.result, asked)

    play(script, scenario)


def test_a_run_that_goes_on_takes_the_answer_that_it_used_where_the_ledger_has_one_to_either_question(
    play: Play,
) -> None:
    takes_formats = False

    def script(request: Received) -> Served:
        if has_format(request):
            return completion('{"n": 1}') if takes_formats else refusal()
        return completion('{"n": 3}')

    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        nonlocal takes_formats
        await run_plan(loom, ONE)
        takes_formats = True
        two = f'{ONE}result = [result, agent("another?", schema={SCHEMA})]\n'
        stopped = await run_plan(loom, two, cap=0.2)
        assert stopped.status == "paused"
        takes_formats = False
        outcome = await go_on(loom, two, stopped, cap=10)
        assert outcome.result == [{"n": 1}, {"n": 3}]
        again = await go_on(loom, two, outcome, mode="replay")
        assert (again.status, again.result) == ("completed", outcome.result)

    play(script, scenario)


def test_a_run_that_begins_with_what_an_unfinished_one_recorded_is_replayed_like_any(play: Play) -> None:
    async def scenario(loom: Loom, server: LoopbackServer) -> None:
        stopped = await run_plan(loom, SIX, cap=0.6)
        outcome = await run_plan(loom, SIX, cap=10, recorded=loom.store.journal(stopped.run_id))
        asked = server.total
        again = await go_on(loom, SIX, outcome, mode="replay")
        assert (again.status, again.result, server.total) == ("completed", outcome.result, asked)

    play(in_words_only, scenario, in_flight=1)
