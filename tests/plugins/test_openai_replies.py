"""Every odd answer with status 200 has one outcome, over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from typing import Any

import pytest

from planloom import Usage
from planloom.clients import Endpoint, FatalError, ModelError, PermanentError, QuotaError, TransientError
from planloom.questions import Question, Reply, message_of
from planloom.testing.loopback import (
    Script,
    Served,
    chunk_stream,
    completion,
    dropped,
    event_stream,
    html,
    json_answer,
    serving,
    tool_call,
)
from planloom_openai import open_client


def question(text: str = "hello", **parameters: Any) -> Question:
    return Question(endpoint="test", model="asked-1", messages=(message_of("user", text),), parameters=parameters)


def ask(script: Script, **parameters: Any) -> Reply:
    async def run(url: str) -> Reply:
        client = open_client(Endpoint(name="test", client="openai", url=url))
        try:
            return await client.ask(question(**parameters))
        finally:
            await client.close()

    with serving(script) as server:
        return asyncio.run(run(server.url))


def fault(script: Script) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(script)
    return caught.value


def raw(body: str | bytes, content_type: str = "application/json") -> Served:
    return Served(body=body.encode() if isinstance(body, str) else body, headers={"content-type": content_type})


# --- text


def test_the_text_is_the_content() -> None:
    assert ask(completion("yes")).text == "yes"


def test_a_list_of_parts_is_their_text_in_order_without_the_thinking() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {}},
        "b",
        {"type": "output_text", "text": "c"},
    ]
    assert ask(completion(parts)).text == "abc"


def test_tool_calls_instead_of_text_give_their_arguments() -> None:
    calls = [tool_call("report", '{"findings": []}')]
    assert ask(completion(None, tool_calls=calls, finish_reason="tool_calls")).text == '{"findings": []}'


def test_tool_call_arguments_sent_as_an_object_are_written_as_json() -> None:
    calls = [{"function": {"name": "report", "arguments": {"findings": []}}}]
    assert ask(completion(None, tool_calls=calls)).text == '{"findings": []}'


def test_content_comes_before_the_arguments_of_tool_calls() -> None:
    calls = [tool_call("a", "{}"), tool_call("b", '{"b": 1}')]
    assert ask(completion("Here:", tool_calls=calls)).text == 'Here:\n{}\n{"b": 1}'


def test_a_refusal_is_the_text_when_there_is_no_other() -> None:
    assert ask(completion(None, refusal="I will not.")).text == "I will not."


def test_thinking_text_beside_the_content_stays_out_of_it() -> None:
    assert ask(completion("yes", reasoning_content="maybe {no}", reasoning="maybe")).text == "yes"


def test_null_content_with_stop_is_an_empty_reply_that_is_not_whole() -> None:
    reply = ask(completion(None))
    assert (reply.text, reply.finish_reason, reply.whole) == ("", "stop", False)


def test_null_content_that_was_filtered_says_so() -> None:
    reply = ask(completion(None, finish_reason="content_filter"))
    assert (reply.text, reply.finish_reason) == ("", "content_filter")


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert ask(raw('{"choices": [{"message": {"content": "a\\ud800b\\ud83d\\ude00"}}]}')).text == "a\ufffdb\U0001f600"


# --- finish reason


@pytest.mark.parametrize("reason", ["length", "content_filter", "error"])
def test_the_text_so_far_is_kept_with_the_raw_finish_reason_and_is_not_whole(reason: str) -> None:
    reply = ask(completion('{"findings": [{"path": "a.py", "li', finish_reason=reason))
    assert (reply.finish_reason, reply.text[:4], reply.whole) == (reason, '{"fi', False)


def test_a_missing_finish_reason_is_none_and_the_reply_counts() -> None:
    reply = ask(completion("yes", finish_reason=None))
    assert (reply.finish_reason, reply.whole) == (None, True)


@pytest.mark.parametrize(
    ("said", "reason", "whole"),
    [
        ("eos", "stop", True),
        ("eos_token", "stop", True),
        ("STOP", "stop", True),
        ("COMPLETE", "stop", True),
        ("function_call", "tool_calls", True),
        ("MAX_TOKENS", "length", False),
        ("SAFETY", "content_filter", False),
        ("none_such", "none_such", False),
    ],
)
def test_other_words_for_the_reasons_of_the_standard_are_known(said: str, reason: str, whole: bool) -> None:
    reply = ask(completion("yes", finish_reason=said))
    assert (reply.finish_reason, reply.whole) == (reason, whole)


def test_names_that_a_server_gives_are_kept_short() -> None:
    reply = ask(completion("yes", finish_reason="r" * 1_000_000, model="m" * 1_000_000))
    assert (reply.finish_reason, reply.model) == ("r" * 200, "m" * 200)


# --- usage and model


def test_cached_and_reasoning_tokens_are_read() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    assert ask(completion(usage=usage)).usage == Usage(
        prompt_tokens=100, cached_prompt_tokens=80, completion_tokens=50, reasoning_tokens=30
    )


def test_cache_hits_in_the_older_field_are_read() -> None:
    assert ask(completion(usage={"prompt_cache_hit_tokens": 7})).usage.cached_prompt_tokens == 7


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": -1},
        {"prompt_tokens": 10**20, "completion_tokens": 10**12},
    ],
)
def test_counts_the_server_did_not_say_are_none_and_never_zero(usage: dict[str, Any] | None) -> None:
    assert ask(completion(usage=usage)).usage == Usage()


def test_the_model_is_as_the_server_named_it() -> None:
    assert ask(completion(model="served-2")).model == "served-2"


def test_an_unnamed_model_is_the_one_that_was_asked() -> None:
    assert ask(completion(model=None)).model == "asked-1"


def test_the_seconds_include_the_wait_for_the_answer() -> None:
    assert 0.1 <= ask(completion().after(0.1)).seconds < 2


# --- bodies that are odd and still an answer


def test_events_not_asked_for_are_put_together() -> None:
    reply = ask(event_stream(["ye", "s\u2028 ", "no"]))
    assert (reply.text, reply.finish_reason, reply.model, reply.usage.prompt_tokens) == (
        "yes\u2028 no",
        "stop",
        "loopback-1",
        20,
    )


def test_events_are_known_by_their_text_when_the_content_type_says_json() -> None:
    events = event_stream(["yes"]).body.split(b"\n\n", 1)[1]
    assert ask(raw(events)).text == "yes"


def test_a_packed_body_is_unpacked() -> None:
    packed = gzip.compress(completion("yes").body)
    assert ask(Served(body=packed, headers={"content-encoding": "gzip"})).text == "yes"


def test_a_long_answer_arrives_whole() -> None:
    text = "long " * 500_000
    assert ask(completion(text)).text == text


def test_blank_lines_before_the_json_are_skipped() -> None:
    assert ask(raw(b"\n\n\n" + completion("yes").body)).text == "yes"


def test_nan_in_a_field_nobody_reads_is_no_fault() -> None:
    body = (
        '{"choices": [{"message": {"content": "yes"}, "logprobs": [NaN, -Infinity]}], "usage": {"prompt_tokens": NaN}}'
    )
    reply = ask(raw(body))
    assert (reply.text, reply.usage.prompt_tokens) == ("yes", None)


def test_a_key_twice_that_nobody_reads_is_no_fault() -> None:
    assert ask(raw('{"id": 1, "id": 2, "choices": [{"message": {"content": "yes"}}]}')).text == "yes"


def test_a_null_error_beside_the_choices_is_no_fault() -> None:
    assert ask(raw('{"error": null, "choices": [{"message": {"content": "yes"}}]}')).text == "yes"


# --- bodies that are no answer


@pytest.mark.parametrize(
    "served",
    [
        html("Bad gateway", 200),
        html("Bad gateway", 200, "application/json"),
        raw(b""),
        raw("null"),
        raw('"ok"'),
        raw("[]"),
        raw("{}"),
        raw('{"choices": []}'),
        raw('{"choices": [{"finish_reason": "stop"}]}'),
        raw('{"choices": [{"message": {"content": "half'),
        raw(b'{"choices": [{"message": {"content": "\xff"}}]}'),
        raw('{"choices": [{"message": {"content": "a", "content": "b"}}]}'),
        raw("[" * 100_000),
        event_stream(["ha", "lf"], finish_reason=None, done=False),
    ],
    ids=lambda served: ascii(served.body[:40]) if isinstance(served, Served) else None,
)
def test_a_body_that_is_no_completion_is_transient_and_maybe_billed(served: Served) -> None:
    caught = fault(served)
    assert type(caught) is TransientError
    assert (caught.error_class, caught.http_status, caught.maybe_billed) == ("malformed", 200, True)


def test_an_odd_body_is_kept_to_200_characters() -> None:
    caught = fault(raw("x" * 1000))
    assert "x" * 200 in str(caught)
    assert "x" * 201 not in str(caught)


def test_a_packed_body_that_cannot_be_unpacked_is_malformed() -> None:
    caught = fault(Served(body=b"not gzip", headers={"content-encoding": "gzip"}))
    assert (type(caught), caught.error_class) == (TransientError, "malformed")


@pytest.mark.parametrize(
    ("error", "kind", "error_class"),
    [
        ({"message": "overloaded"}, TransientError, "overloaded"),
        ("the engine is busy", TransientError, "overloaded"),
        ({"message": "upstream", "code": 502}, TransientError, "server"),
        ({"message": "slow down", "code": 429}, TransientError, "rate_limited"),
        ({"message": "no funds", "code": "402"}, QuotaError, "quota"),
        ({"message": "nobody knows"}, TransientError, "server"),
        ({"message": "temperature", "type": "invalid_request_error"}, PermanentError, "bad_request"),
        ({"message": "maximum context length is 8192"}, PermanentError, "context_too_long"),
        ({"message": "the model `x` does not exist"}, FatalError, "unknown_model"),
    ],
)
def test_an_error_object_with_status_200_is_read_as_an_error(
    error: Any, kind: type[ModelError], error_class: str
) -> None:
    caught = fault(json_answer({"error": error}))
    assert (type(caught), caught.error_class) == (kind, error_class)


def test_an_error_inside_a_stream_is_read_as_an_error() -> None:
    event = json.dumps({"error": {"message": "Overloaded"}})
    caught = fault(raw(f"data: {event}\n\n", "text/event-stream"))
    assert caught.error_class == "overloaded"


# --- the request


def test_the_request_holds_model_messages_and_parameters_and_nothing_else() -> None:
    with serving() as server:
        url = server.url

        async def run() -> None:
            client = open_client(Endpoint(name="test", client="openai", url=url + "/"))
            messages = (message_of("system", "be brief"), message_of("user", "prompt", "data: é"))
            asked = Question(
                endpoint="test", model="m", messages=messages, parameters={"response_format": {"type": "json_object"}}
            )
            await client.ask(asked)
            await client.close()

        asyncio.run(run())
        received = server.received[0]
    assert (received.method, received.target) == ("POST", "/v1/chat/completions")
    assert received.json == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "prompt\n\ndata: é"},
        ],
        "response_format": {"type": "json_object"},
    }


@pytest.mark.parametrize("parameter", ["stream", "n", "model", "messages"])
def test_a_parameter_the_client_decides_is_refused_before_anything_is_sent(parameter: str) -> None:
    with pytest.raises(PermanentError, match=f"`{parameter}` cannot be set"):
        ask(completion(), **{parameter: 1})


def test_a_parameter_json_cannot_hold_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(PermanentError, match="cannot be written as JSON"):
        ask(completion(), temperature=float("nan"))


# --- the beginning of an answer


def beginnings(script: Script) -> int:
    """Return how often a client says that its answer begins."""
    began: list[None] = []

    async def run(url: str) -> None:
        client = open_client(Endpoint(name="test", client="openai", url=url))
        try:
            await client.ask(question(), began=lambda: began.append(None))
        finally:
            await client.close()

    with serving(script) as server, contextlib.suppress(ModelError):
        asyncio.run(run(server.url))
    return len(began)


def test_that_an_answer_begins_is_said_once_however_it_arrives() -> None:
    assert beginnings(completion("drip").trickled(30, 0.001)) == 1


@pytest.mark.parametrize("served", [json_answer({}, 500), dropped(), completion().cut(0)])
def test_a_refusal_or_a_cut_connection_begins_no_answer(served: Served) -> None:
    assert beginnings(served) == 0


# --- streams of several choices, and errors behind an answer


def piece(text: str | None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": reason, **more}]}


@pytest.mark.parametrize(
    "chunks",
    [
        [piece("ye", index=0), piece("n", index=1), piece("s", index=0), piece("o", "stop", index=1)],
        [piece("no", index=1), piece("yes", index=0)],
        [{"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}],
        [piece("ye"), piece("s", index=None), piece("no", index=2)],
    ],
)
def test_of_several_choices_in_a_stream_the_first_is_the_answer_and_nothing_else(chunks: list[dict[str, Any]]) -> None:
    assert ask(chunk_stream(*chunks, piece(None, "stop", index=0))).text == "yes"


def test_an_error_behind_the_end_of_an_answer_takes_nothing_from_it() -> None:
    reply = ask(chunk_stream(piece("yes"), piece(None, "stop"), {"error": {"message": "boom"}}))
    assert (reply.text, reply.whole) == ("yes", True)


def test_a_stream_whose_reason_to_end_is_an_error_is_one() -> None:
    failed = {**piece(None, "error"), "error": {"message": "upstream", "code": 502}}
    assert fault(chunk_stream(piece("ye"), failed)).error_class == "server"


def test_what_fails_in_the_middle_of_an_answer_may_be_billed() -> None:
    caught = fault(chunk_stream(piece("ye"), {"error": {"message": "slow down", "code": 429}}))
    assert (caught.error_class, caught.maybe_billed) == ("rate_limited", True)
