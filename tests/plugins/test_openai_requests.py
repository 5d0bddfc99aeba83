"""How an endpoint's settings change the form of a request, and what a stream may hold."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from planloom import ConfigurationError
from planloom.clients import Endpoint, ModelError, PermanentError
from planloom.questions import Question, Reply, message_of
from planloom.testing.loopback import LoopbackServer, Script, chunk_stream, completion, event_stream
from planloom_openai import open_client


def question(**parameters: Any) -> Question:
    return Question(endpoint="test", model="m", messages=(message_of("user", "hello"),), parameters=parameters)


async def exchanged(script: Script, asked: Question, **settings: Any) -> tuple[Reply, dict[str, Any]]:
    async with LoopbackServer(script) as server:
        client = open_client(Endpoint(name="test", client="openai", url=server.url, settings=settings))
        try:
            reply = await client.ask(asked)
        finally:
            await client.close()
        return reply, server.received[0].json


def sent(asked: Question, **settings: Any) -> dict[str, Any]:
    request = asyncio.run(exchanged(completion(), asked, **settings))[1]
    return {name: value for name, value in request.items() if name not in ("model", "messages")}


def reply_to(script: Script) -> Reply:
    return asyncio.run(exchanged(script, question(), stream=True))[0]


def test_a_stream_is_asked_for_with_its_counts() -> None:
    assert sent(question(), stream=True) == {"stream": True, "stream_options": {"include_usage": True}}


def test_a_server_that_refuses_to_be_asked_for_counts_is_not() -> None:
    assert sent(question(), stream=True, stream_usage=False) == {"stream": True}


def test_a_parameter_goes_under_the_name_that_the_server_knows() -> None:
    asked = question(max_tokens=9, seed=1)
    assert sent(asked, rename={"max_tokens": "max_completion_tokens"}) == {"max_completion_tokens": 9, "seed": 1}


def test_a_new_name_that_the_client_uses_itself_is_refused() -> None:
    with pytest.raises(PermanentError, match="`stream` cannot be set"):
        sent(question(seed=1), rename={"seed": "stream"})


@pytest.mark.parametrize(
    "settings", [{"rename": {"max_tokens": 1}}, {"rename": "max_tokens"}, {"stream": 1}, {"stream_usage": "no"}]
)
def test_a_setting_of_the_wrong_kind_is_refused_with_its_value(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="of endpoint `test` must"):
        open_client(Endpoint(name="test", client="openai", url="http://localhost", settings=settings))


def test_two_tool_calls_that_arrive_interleaved_are_told_apart() -> None:
    pieces = [(0, '{"a"'), (1, '{"b"'), (0, ": 1}"), (1, ": 2}")]
    deltas = [{"tool_calls": [{"index": i, "function": {"arguments": text}}]} for i, text in pieces]
    assert reply_to(event_stream(deltas, finish_reason="tool_calls")).text == '{"a": 1}\n{"b": 2}'


@pytest.mark.parametrize("index", [None, [0], {"at": 0}, 1.5], ids=repr)
def test_pieces_of_a_tool_call_whose_number_is_none_are_put_together(index: Any) -> None:
    deltas = [{"tool_calls": [{"index": index, "function": {"arguments": text}}]} for text in ('{"a"', ": 1}")]
    assert reply_to(event_stream(deltas, finish_reason="tool_calls")).text == '{"a": 1}'


def test_a_refusal_that_is_streamed_is_the_text_when_there_is_no_other() -> None:
    assert reply_to(event_stream([{"refusal": "I will "}, {"refusal": "not."}])).text == "I will not."


def test_a_stream_without_an_end_mark_is_whole_when_it_said_why_it_ended() -> None:
    assert reply_to(event_stream(["yes"], done=False)).text == "yes"


@pytest.mark.parametrize(
    ("chunk", "error_class"),
    [
        ({"error": {"message": "Overloaded", "code": 529}}, "overloaded"),
        ({"object": "error", "message": "maximum context length is 8192", "code": 400}, "context_too_long"),
    ],
)
def test_an_error_in_mid_stream_is_the_fault_it_says(chunk: dict[str, Any], error_class: str) -> None:
    begun = {"choices": [{"index": 0, "delta": {"content": "ye"}, "finish_reason": None}]}
    with pytest.raises(ModelError) as caught:
        reply_to(chunk_stream(begun, chunk))
    assert caught.value.error_class == error_class
