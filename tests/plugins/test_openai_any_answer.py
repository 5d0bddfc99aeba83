"""Whatever bytes a server sends, the outcome is a reply that can be stored or one of the named faults."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planloom.clients import Endpoint, ModelError
from planloom.questions import Reply
from planloom.wire import Answer, FaultTable, read_origin
from planloom_openai._client import INTERFACE
from planloom_openai._replies import read_reply

ORIGIN = read_origin(Endpoint(name="test", client="openai", url="https://api.test/v1"), INTERFACE)
FAULTS = FaultTable(ORIGIN, "chat completion")

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=["L", "Cs", "P", "Cc"]), max_size=20)
)
any_json = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects that have some of these fields, and now and then anything else instead."""
    return st.fixed_dictionaries({}, optional={name: value | any_json for name, value in fields.items()})


functions = shaped(function=shaped(arguments=any_json))
messages = shaped(
    content=st.lists(shaped(type=st.just("text"), text=any_json)),
    tool_calls=st.lists(functions, max_size=2),
    refusal=any_json,
    function_call=shaped(arguments=any_json),
)
usages = shaped(
    prompt_tokens=any_json, completion_tokens=any_json, prompt_tokens_details=shaped(cached_tokens=any_json)
)
choices = st.lists(shaped(message=messages, delta=messages, finish_reason=any_json), max_size=2)
errors = shaped(message=any_json, code=any_json, type=any_json)
answers = shaped(choices=choices, usage=usages, model=any_json, error=errors, detail=any_json) | any_json
statuses = st.sampled_from([200, 204, 301, 400, 401, 403, 404, 413, 429, 500, 502, 529])


def outcome(status: int, body: bytes, content_type: str = "application/json") -> Reply | ModelError:
    answer = Answer(status, {"content-type": content_type}, body)
    try:
        return read_reply(answer, "asked-1", 1.0, FAULTS, datetime.now(UTC))
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


@given(statuses, answers)
def test_any_json_has_a_named_outcome(status: int, value: Any) -> None:
    assert_named(outcome(status, json.dumps(value).encode()))


@given(st.lists(answers, max_size=3), st.booleans())
def test_any_events_have_a_named_outcome(values: list[Any], done: bool) -> None:
    events = [f"data: {json.dumps(value)}\n\n" for value in values] + ["data: [DONE]\n\n"] * done
    assert_named(outcome(200, "".join(events).encode(), "text/event-stream"))


@given(statuses, st.binary(max_size=200), st.sampled_from(["application/json", "text/event-stream"]))
def test_any_bytes_have_a_named_outcome(status: int, body: bytes, content_type: str) -> None:
    assert_named(outcome(status, body, content_type))


@given(st.text(), st.sampled_from(["stop", "length", None]))
def test_a_text_comes_back_as_it_was_sent(text: str, finish_reason: str | None) -> None:
    body = {"choices": [{"message": {"content": text}, "finish_reason": finish_reason}]}
    found = outcome(200, json.dumps(body).encode())
    assert isinstance(found, Reply)
    assert (found.text, found.finish_reason) == (text, finish_reason)
