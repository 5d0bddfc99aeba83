"""Whatever bytes a server of messages sends, the outcome is a reply that can be stored or one of the named faults."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.clients import Endpoint, ModelError
from planloom.questions import Question, Reply, message_of
from planloom.wire import Answer, FaultTable, read_origin
from planloom_anthropic._client import INTERFACE
from planloom_anthropic._replies import read_reply

FAULTS = FaultTable(read_origin(Endpoint(name="test", client="anthropic"), INTERFACE), "message")
SHAPE = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}}

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(categories=["L", "Cs"]))
any_json = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects that have some of these fields, and now and then anything else instead."""
    return st.fixed_dictionaries({}, optional={name: value | any_json for name, value in fields.items()})


kinds = st.sampled_from(["text", "tool_use", "thinking", "text_delta", "input_json_delta", "error", "message"])
blocks = shaped(type=kinds, text=any_json, input=any_json, partial_json=st.text(max_size=5))
counts = shaped(input_tokens=st.integers(-1, 9), cache_read_input_tokens=st.integers(-1, 9), output_tokens=any_json)
messages = shaped(type=kinds, content=st.lists(blocks, max_size=3), stop_reason=any_json, usage=counts, error=any_json)
events = shaped(
    type=st.sampled_from(
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "message_delta",
            "message_stop",
            "error",
            "ping",
        ]
    ),
    message=messages,
    index=st.integers(0, 2),
    content_block=blocks,
    delta=blocks | shaped(stop_reason=any_json),
    usage=counts,
    error=shaped(type=any_json, message=any_json),
)
statuses = st.sampled_from([200, 301, 400, 401, 404, 413, 429, 500, 529])


def outcome(
    status: int, body: bytes, content_type: str = "application/json", shape: bool = False
) -> Reply | ModelError:
    parameters = {"response_format": SHAPE} if shape else {}
    asked = Question(endpoint="test", model="m-1", messages=(message_of("user", "hello"),), parameters=parameters)
    answer = Answer(status, {"content-type": content_type}, body)
    try:
        return read_reply(answer, asked, 1.0, FAULTS, datetime.now(UTC))
    except ModelError as error:
        return error


def assert_named(found: Reply | ModelError) -> None:
    if isinstance(found, Reply):
        assert f"{found.text}{found.model}{found.finish_reason}".encode()
        assert found.model
        assert found.finish_reason != ""
    else:
        assert found.error_class
        assert len(str(found).encode()) < 3000


@given(statuses, messages | any_json, st.booleans())
def test_any_json_has_a_named_outcome(status: int, value: Any, shape: bool) -> None:
    assert_named(outcome(status, json.dumps(value).encode(), shape=shape))


@given(st.lists(events | any_json, max_size=5), st.booleans())
def test_any_events_have_a_named_outcome(values: list[Any], shape: bool) -> None:
    body = "".join(f"event: x\ndata: {json.dumps(value)}\n\n" for value in values)
    assert_named(outcome(200, body.encode(), "text/event-stream", shape))


@given(statuses, st.binary(max_size=200), st.sampled_from(["application/json", "text/event-stream"]))
def test_any_bytes_have_a_named_outcome(status: int, body: bytes, content_type: str) -> None:
    assert_named(outcome(status, body, content_type))


@pytest.mark.parametrize(
    ("reason", "said", "whole"),
    [
        ("end_turn", "end_turn", True),
        ("stop_sequence", "stop_sequence", True),
        ("tool_use", "tool_calls", True),
        ("max_tokens", "length", False),
        ("model_context_window_exceeded", "length", False),
        ("refusal", "content_filter", False),
        ("pause_turn", "pause_turn", False),
        (None, None, True),
    ],
)
def test_why_an_answer_ended_is_told_in_the_words_that_all_clients_use(
    reason: str | None, said: str | None, whole: bool
) -> None:
    body = {"type": "message", "content": [{"type": "text", "text": "yes"}], "stop_reason": reason}
    found = outcome(200, json.dumps(body).encode())
    assert isinstance(found, Reply)
    assert (found.finish_reason, found.whole) == (said, whole)
