"""A worker's conversation: what it brings back, what is stored, and what a later run asks again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom import AuthenticationFailed, CacheMiss
from planloom.conversations import ModelWorkers
from planloom.money import MICRO, Price
from planloom.questions import LONG_CHARACTERS
from planloom.testing.doors import Doorway, at_the_door, worker_role
from planloom.testing.looms import settings_at
from planloom.testing.loopback import LoopbackServer, Received, completion, json_answer, tool_call
from planloom.workers import Asker, Conversation, Performed, Schema, WorkerRequest

NUMBER = Schema(
    name="number",
    shown={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)
GOOD = completion('{"n": 7}')
BAD = completion('{"m": 7}')
CUT = completion('{"n": 7, "why": "half', finish_reason="length")

Play = Callable[..., None]
Outcome = Callable[[Performed, LoopbackServer], object]
Scenario = Callable[[Doorway, LoopbackServer], Coroutine[Any, Any, None]]


def request(text: str = "count", schema: Schema | None = NUMBER) -> WorkerRequest:
    return WorkerRequest(
        word="agent",
        identity=(text,),
        role="worker",
        label="",
        build=lambda: Conversation(prompt=text),
        input_tokens=10,
        schema=schema,
    )


async def perform(door: Doorway, text: str = "count", schema: Schema | None = NUMBER, **settings: Any) -> Performed:
    """Have a worker perform through a door."""
    configured = attrs.evolve(settings_at("http://127.0.0.1:1/v1", ":memory:"), **settings)
    configured = attrs.evolve(configured, roles={**configured.roles, "worker": door.role})
    asker = Asker(run="run", thread="run/t001", started=lambda: None)
    return await ModelWorkers(door.door, configured).perform(request(text, schema), asker)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play a scenario at a door; all of one test's doors are on one store."""

    def at_one_store(script: Any, scenario: Scenario, **options: Any) -> None:
        at_the_door(tmp_path / "store.db", script, scenario, **options)

    return at_one_store


def once(
    outcome: Callable[[Performed, LoopbackServer], None],
) -> Callable[[Doorway, LoopbackServer], Coroutine[Any, Any, None]]:
    """Return a scenario in which one worker performs, and what to say of it."""

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcome(await perform(door), server)

    return scenario


def test_a_question_that_cannot_be_sent_fails_its_worker_unasked(play: Play) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        performed = await perform(door, "name.\ud800.py", schema=None)
        assert (performed.value, server.total) == (None, 0)
        assert performed.error is not None
        assert performed.error.startswith("unsendable: the text holds a lone surrogate at character 5")

    play([GOOD], scenario)


def test_of_long_questions_that_start_together_each_is_hashed_in_a_turn_of_its_own(play: Play) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        workers = ModelWorkers(door.door, settings_at("http://127.0.0.1:1/v1", ":memory:"))
        asker = Asker(run="run", thread="run/t001", started=lambda: None)
        asked = [workers.perform(request(f"{n}" * LONG_CHARACTERS), asker) for n in range(10, 30)]
        working = asyncio.gather(*asked, return_exceptions=True)
        turns = 0
        while not working.done():
            turns += 1
            await asyncio.sleep(0)
        assert all(isinstance(missed, CacheMiss) for missed in await working)
        assert turns > len(asked)

    play(GOOD, scenario, mode="replay")


# --- answers and their repair


def test_an_answer_that_fits_is_the_value(play: Play) -> None:
    def outcome(performed: Performed, server: LoopbackServer) -> None:
        assert (performed.value, performed.error, performed.calls) == ({"n": 7}, None, 1)
        assert len(performed.versions) == len(performed.fingerprints) == 1
        assert performed.versions[0] > 0

    play(GOOD, once(outcome))


def test_arguments_of_a_tool_call_are_an_answer(play: Play) -> None:
    called = completion(None, finish_reason="tool_calls", tool_calls=[tool_call("number", '{"n": 7}')])
    play(called, once(lambda performed, server: None if performed.value == {"n": 7} else pytest.fail(str(performed))))


def test_a_server_that_always_misses_a_field_gets_one_repair_turn_and_the_text_is_kept(play: Play) -> None:
    def outcome(performed: Performed, server: LoopbackServer) -> None:
        assert server.total == 2
        assert performed.value is None
        assert performed.error == "schema: top level: 'n' is a required property"
        assert performed.raw == '{"m": 7}'

    play(BAD, once(outcome))


def test_a_repair_turn_replays_the_answer_and_names_what_is_wrong(play: Play) -> None:
    def outcome(performed: Performed, server: LoopbackServer) -> None:
        assert performed.value == {"n": 7}
        said = [(m["role"], m["content"]) for m in server.received[-1].json["messages"]]
        assert said[1] == ("assistant", '{"m": 7}')
        assert "top level: 'n' is a required property" in said[2][1]

    play([BAD, GOOD], once(outcome))


def test_prose_with_broken_json_twice_is_kept_whole_and_paid_once(play: Play) -> None:
    prose = completion("A long and good analysis. " * 400 + '{"n": ')

    def first(performed: Performed, server: LoopbackServer) -> None:
        assert performed.value is None
        assert performed.error == "schema: top level: the JSON breaks off before its end"
        assert performed.raw is not None
        assert len(performed.raw) > 10_000
        assert (server.total, performed.cost) == (2, 400_000)

    def again(performed: Performed, server: LoopbackServer) -> None:
        assert performed.value is None
        assert performed.raw is not None
        assert (server.total, performed.cost, performed.full_price) == (0, 0, 400_000)

    play(prose, once(first))
    play(prose, once(again))


# --- answers that were cut, and stored ones that do not fit


def test_half_an_answer_is_never_the_value(play: Play) -> None:
    def outcome(performed: Performed, server: LoopbackServer) -> None:
        assert performed.value is None
        assert performed.error is not None
        assert performed.error.startswith("truncated: the reply was cut at its token limit")
        assert server.total == 1

    play(CUT, once(outcome))


def test_a_stored_half_is_asked_again_once_and_counted(play: Play) -> None:
    async def again(door: Doorway, server: LoopbackServer) -> None:
        assert (await perform(door)).value == {"n": 7}
        assert (await perform(door)).cached
        assert (server.total, door.door.asked, door.door.asked_again) == (1, 1, 1)

    play(CUT, once(lambda performed, server: None))
    play(GOOD, again)


def test_a_stored_half_that_is_cut_again_fails_its_worker_and_is_asked_no_third_time(play: Play) -> None:
    async def again(door: Doorway, server: LoopbackServer) -> None:
        assert [(await perform(door)).value for _ in range(3)] == [None] * 3
        assert server.total == 1

    play(CUT, once(lambda performed, server: None))
    play(CUT, again)


def test_replay_tells_a_stored_half_as_it_was(play: Play) -> None:
    def replayed(performed: Performed, server: LoopbackServer) -> None:
        assert performed.error is not None
        assert performed.error.startswith("truncated")
        assert server.total == 0

    play(CUT, once(lambda performed, server: None))
    play(GOOD, once(replayed), mode="replay")


STRICTER = Schema(name="number", shown=NUMBER.shown, read={**NUMBER.shown, "required": ["n", "unit"]})


def test_a_stored_answer_that_fits_no_longer_leads_to_its_repair_which_is_paid_once(play: Play) -> None:
    async def later(door: Doorway, server: LoopbackServer) -> None:
        performed = await perform(door, schema=STRICTER)
        assert performed.value == {"n": 7, "unit": "m"}
        assert (performed.cost, server.total) == (200_000, 1)

    async def again(door: Doorway, server: LoopbackServer) -> None:
        performed = await perform(door, schema=STRICTER)
        assert performed.value == {"n": 7, "unit": "m"}
        assert (performed.cost, performed.cached, server.total) == (0, True, 0)

    play(GOOD, once(lambda performed, server: None))
    play(completion('{"n": 7, "unit": "m"}'), later)
    play(BAD, again)


def test_an_empty_answer_is_asked_for_once_more(play: Play) -> None:
    def outcome(performed: Performed, server: LoopbackServer) -> None:
        assert (performed.value, performed.calls, server.total) == ({"n": 7}, 2, 2)

    play([completion(""), GOOD], once(outcome))


# --- which stored reply a run uses


def test_an_earlier_start_of_a_run_names_the_replies_it_used_and_a_refresh_does_not_change_them(play: Play) -> None:
    seen: list[Performed] = []

    async def refreshed(door: Doorway, server: LoopbackServer) -> None:
        assert (await perform(door)).value == {"n": 8}

    async def newest(door: Doorway, server: LoopbackServer) -> None:
        assert (await perform(door)).value == {"n": 8}

    async def resumed(door: Doorway, server: LoopbackServer) -> None:
        performed = await perform(door)
        assert (performed.value, performed.versions, server.total) == ({"n": 7}, seen[0].versions, 0)

    play(GOOD, once(lambda performed, server: seen.append(performed)))
    play(completion('{"n": 8}'), refreshed, mode="refresh")
    play(GOOD, newest)
    used = dict(zip(seen[0].fingerprints, seen[0].versions, strict=True))
    for mode in ("collect", "replay", "refresh"):
        play(completion('{"n": 9}'), resumed, mode=mode, versions=used)


# --- time, faults, tokens


def test_a_prompt_that_stalls_every_time_is_given_up_with_what_it_may_have_cost(play: Play) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        performed = await perform(door, worker_timeout_s=150.0)
        assert performed.value is None
        assert performed.error == (
            "timeout: the worker had no answer within its 150 s; ask for less at once, or raise "
            "`limits.worker_timeout_s` (after 3 attempts, up to 0.6 credits may have been billed)"
        )

    play(completion("late").hanging(), scenario, speed=100.0, timeouts={"first_byte": 60.0})


def test_one_of_thirty_that_never_answers_holds_nobody_longer_than_the_deadline(play: Play) -> None:
    def script(received: Received) -> Any:
        return GOOD.hanging() if received.question == "q0" else GOOD

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        began = asyncio.get_running_loop().time()
        workers = [perform(door, f"q{n}", worker_timeout_s=100.0) for n in range(30)]
        performed = await asyncio.gather(*workers)
        assert [p.value for p in performed] == [None] + [{"n": 7}] * 29
        assert 100.0 <= asyncio.get_running_loop().time() - began < 1_000.0

    play(script, scenario, speed=100.0, in_flight=30)


def test_a_model_that_the_server_does_not_know_ends_the_run_with_the_first_answer(play: Play) -> None:
    unknown = json_answer(
        {"error": {"message": "The model `m-1` does not exist", "code": "model_not_found"}}, status=404
    )

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        workers = [perform(door, f"q{n}") for n in range(100)]
        outcomes = await asyncio.gather(*workers, return_exceptions=True)
        assert all(isinstance(outcome, AuthenticationFailed) for outcome in outcomes)
        assert "The model `m-1` does not exist" in str(outcomes[0])
        assert server.total <= 16

    play(unknown, scenario)


def test_cached_and_fresh_tokens_are_kept_apart_and_add_up_to_the_price(play: Play) -> None:
    usage = {
        "prompt_tokens": 1_000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 900},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    role = worker_role(Price(input=MICRO, cached_input=MICRO // 10, output=4 * MICRO))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        performed = await perform(door)
        assert (performed.prompt_tokens, performed.cached_prompt_tokens, performed.completion_tokens) == (
            1_000,
            900,
            50,
        )
        assert performed.cost == 100 + 90 + 200
        reply = door.store.reply(performed.fingerprints[0])
        assert reply is not None
        assert reply.usage.reasoning_tokens == 20

    play(completion('{"n": 7}', usage=usage), scenario, role=role)


def test_tokens_that_the_server_did_not_count_stay_unknown(play: Play) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        performed = await perform(door)
        reply = door.store.reply(performed.fingerprints[0])
        assert reply is not None
        assert attrs.astuple(reply.usage) == (None, None, None, None)

    play(completion('{"n": 7}', usage=None), scenario)
