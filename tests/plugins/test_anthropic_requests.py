"""How a question is put to the Messages API."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import attrs
import pytest

from planloom import ConfigurationError
from planloom.clients import ClientPlugin, Endpoint, PermanentError
from planloom.questions import Message, Question, Reply, message_of
from planloom.testing.loopback import LoopbackServer, Script, message, tool_use
from planloom.wire import read_origin
from planloom_anthropic import CLIENT, open_client, register_clients
from planloom_anthropic._client import INTERFACE

LONG = "x" * 4_096
KEEP = {"type": "ephemeral"}


def question(*messages: Message, **parameters: Any) -> Question:
    asked = messages or (message_of("user", "hello"),)
    return Question(endpoint="test", model="m-1", messages=asked, parameters=parameters)


def endpoint(url: str = "", **settings: Any) -> Endpoint:
    return Endpoint(name="test", client="anthropic", url=url, settings={"stream": False, **settings})


async def exchanged(asked: Question, script: Script, configured: Endpoint) -> tuple[Reply, dict[str, Any]]:
    async with LoopbackServer(script) as server:
        client = open_client(attrs.evolve(configured, url=server.url))
        try:
            reply = await client.ask(asked)
        finally:
            await client.close()
        return reply, server.received[0].json


def sent(asked: Question, *, prefix_cache: bool = False, **settings: Any) -> dict[str, Any]:
    """Return what is posted for a question."""
    configured = attrs.evolve(endpoint(**settings), prefix_cache=prefix_cache)
    return asyncio.run(exchanged(asked, message(), configured))[1]


def shape(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def test_the_system_text_is_a_field_of_its_own_and_nothing_is_sent_unasked() -> None:
    asked = question(message_of("system", "be brief"), message_of("user", "prompt", "data: é"), max_tokens=9)
    assert sent(asked) == {
        "model": "m-1",
        "max_tokens": 9,
        "system": [text("be brief")],
        "messages": [{"role": "user", "content": [text("prompt\n\n"), text("data: é")]}],
    }


def test_messages_of_one_role_in_a_row_are_one_message() -> None:
    turns = [("user", "a"), ("user", "b"), ("assistant", "c"), ("user", "d")]
    messages = sent(question(*(message_of(role, said) for role, said in turns)))["messages"]
    assert [(turn["role"], "".join(block["text"] for block in turn["content"])) for turn in messages] == [
        ("user", "a\n\nb"),
        ("assistant", "c"),
        ("user", "d"),
    ]


def test_no_question_goes_without_the_most_tokens_an_answer_may_have() -> None:
    assert sent(question())["max_tokens"] == 16_000


def test_answers_are_streamed_unless_a_setting_says_otherwise() -> None:
    async def run() -> bool:
        async with LoopbackServer() as server:
            client = open_client(Endpoint(name="test", client="anthropic", url=server.url))
            await client.ask(question())
            await client.close()
            return server.received[0].wants_stream

    assert asyncio.run(run())


@pytest.mark.parametrize("parameter", ["messages", "model", "stream", "system", "tools", "tool_choice"])
def test_a_parameter_the_client_decides_is_refused_before_anything_is_sent(parameter: str) -> None:
    with pytest.raises(PermanentError, match=f"`{parameter}` cannot be set"):
        sent(question(**{parameter: 1}))


# --- answers of a given shape


def test_an_answer_of_a_given_shape_is_the_input_of_a_tool_that_must_be_called() -> None:
    schema = {"properties": {"keep": {"type": "boolean"}}}
    request = sent(question(response_format=shape(schema)))
    assert request["tools"][0]["input_schema"] == {"type": "object", **schema}
    assert request["tool_choice"] == {"type": "tool", "name": "verdict"}
    assert "response_format" not in request


def test_json_without_a_shape_is_asked_for_in_words_alone() -> None:
    request = sent(question(response_format={"type": "json_object"}))
    assert request.keys() == {"model", "max_tokens", "messages"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}},
        {"anyOf": [{"type": "array"}, {"type": "object"}]},
    ],
)
def test_an_answer_that_is_no_object_stands_in_one_and_is_taken_out_again(schema: dict[str, Any]) -> None:
    asked = question(response_format=shape(schema))
    served = message([text("Here it is:"), tool_use("verdict", {"answer": [1, 2]})], stop_reason="tool_use")
    reply, request = asyncio.run(exchanged(asked, served, endpoint()))
    wanted = request["tools"][0]["input_schema"]
    assert (wanted["type"], wanted["properties"]) == ("object", {"answer": schema})
    assert wanted.get("$defs") == schema.get("$defs")
    assert (json.loads(reply.text), reply.whole) == ([1, 2], True)


def test_an_object_that_happens_to_have_one_property_named_answer_stays_as_it_is() -> None:
    asked = question(response_format=shape({"type": "object", "properties": {"answer": {"type": "integer"}}}))
    served = message([tool_use("verdict", {"answer": 1})])
    assert json.loads(asyncio.run(exchanged(asked, served, endpoint()))[0].text) == {"answer": 1}


# --- what the server is told to keep


def marked(asked: Question) -> list[str]:
    """Return the last characters of each block that the server is told to keep."""
    request = sent(asked, prefix_cache=True)
    blocks = [*request.get("system", []), *(block for turn in request["messages"] for block in turn["content"])]
    assert all(block["cache_control"] == KEEP for block in blocks if "cache_control" in block)
    return [block["text"].strip()[-1] for block in blocks if "cache_control" in block]


def test_the_end_of_a_long_system_text_and_of_the_first_long_part_are_kept() -> None:
    asked = question(message_of("system", LONG, "s"), message_of("user", "prompt", LONG + "1", LONG + "2", "q"))
    assert marked(asked) == ["s", "1"]


def test_short_texts_are_not_kept() -> None:
    assert marked(question(message_of("system", "s"), message_of("user", "prompt", "q"))) == []


def test_nothing_is_kept_where_nobody_said_so() -> None:
    assert "cache_control" not in json.dumps(sent(question(message_of("system", LONG))))


# --- where, and with which key


@pytest.mark.parametrize(
    ("url", "posted_to"),
    [
        ("", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"),
        ("https://other.test/anthropic", "https://other.test/anthropic/v1/messages"),
    ],
)
def test_questions_are_posted_below_the_configured_address(url: str, posted_to: str) -> None:
    assert read_origin(endpoint(url), INTERFACE).url == posted_to


def test_the_version_of_the_api_is_named() -> None:
    async def run() -> str:
        async with LoopbackServer(message()) as server:
            client = open_client(endpoint(server.url))
            await client.ask(question())
            await client.close()
            return server.received[0].headers["anthropic-version"]

    assert asyncio.run(run()) == "2023-06-01"


def test_a_setting_that_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="stream of endpoint `test` must be true or false, got 'yes'"):
        open_client(endpoint(stream="yes"))


def test_the_plugin_registers_one_client_named_anthropic() -> None:
    found: list[ClientPlugin] = []
    register_clients(found.append)
    assert (found, CLIENT.name, CLIENT.free) == ([CLIENT], "anthropic", False)
