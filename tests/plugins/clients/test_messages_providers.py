"""What Anthropic's API and the gateways before it really send in a stream of messages, and without one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planloom import Usage
from planloom.clients import TransientError
from planloom.testing.loopback import Served, json_answer, message, message_stream

from .ways import Way, ask, fault

PLAIN, STREAMED = Way("anthropic", stream=False), Way("anthropic", stream=True)
CALLED = {"content-type": "text/event-stream"}
COUNTS = {"input_tokens": 6, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 12, "output_tokens": 1}
MESSAGE: dict[str, Any] = {
    "type": "message",
    "model": "loopback-1",
    "content": [],
    "stop_reason": None,
    "usage": COUNTS,
}
START = {"type": "message_start", "message": MESSAGE}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def begins(block: Any, index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def goes_on(delta: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def text(piece: str, index: int = 0) -> dict[str, Any]:
    return goes_on({"type": "text_delta", "text": piece}, index)


def ends(reason: str | None = "end_turn", usage: Any = None) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or {"output_tokens": 5}}


def stream(*events: Any) -> Served:
    """Return a stream of events under their names, and of texts as they are."""
    texts = [
        event if isinstance(event, str) else f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
        for event in events
    ]
    return Served(body="".join(texts).encode(), headers=CALLED)


YES = (begins({"type": "text", "text": ""}), text("ye"), text("s"), {"type": "content_block_stop", "index": 0})
ANSWERS = {
    "pings everywhere": stream(PING, START, PING, *YES, PING, ends(), PING, STOP),
    "no names": stream(*(f"data: {json.dumps(event)}\n\n" for event in (START, *YES, ends(), STOP))),
    "a vendor's events": stream(
        START, {"type": "vendor", "x": 1}, "event: vendor\ndata: hello\n\n", *YES, ends(), STOP
    ),
    "the last event is missing": stream(START, *YES, ends()),
    "the last event is half": stream(START, *YES, ends(), 'event: message_stop\ndata: {"ty'),
    "a gateway's mark at the end": stream(START, *YES, ends(), "data: [DONE]\n\n"),
    "an error behind the reason": stream(START, *YES, ends(), OVERLOADED),
    "an error behind the end": stream(START, *YES, ends(), STOP, OVERLOADED),
    "the reason, then none": stream(START, *YES, ends(), ends(None), STOP),
    "none, then the reason": stream(START, *YES, ends(None), ends(), STOP),
    "a block that holds text when it begins": stream(START, begins({"type": "text", "text": "ye"}), text("s"), ends()),
    "a block that begins as nothing": stream(START, begins(None), text("yes"), ends(), STOP),
    "a block that never began": stream(START, text("yes"), ends(), STOP),
    "no numbers of blocks": stream(START, *({**event, "index": None} for event in YES), ends(), STOP),
    "citations": stream(START, *YES[:3], goes_on({"type": "citations_delta", "citation": {}}), ends(), STOP),
    "thinking, hidden and not": stream(
        START,
        begins({"type": "thinking", "thinking": "", "signature": ""}, 1),
        goes_on({"type": "thinking_delta", "thinking": "hm"}, 1),
        goes_on({"type": "signature_delta", "signature": "c2ln"}, 1),
        begins({"type": "redacted_thinking", "data": "eA=="}, 2),
        *YES,
        ends(),
        STOP,
    ),
    "a tool of the server": stream(
        START,
        begins({"type": "server_tool_use", "name": "web_search", "input": {}}, 1),
        goes_on({"type": "input_json_delta", "partial_json": '{"q": 1}'}, 1),
        begins({"type": "web_search_tool_result", "content": []}, 2),
        *YES,
        ends(),
        STOP,
    ),
    "Bedrock's measures": stream(START, *YES, ends(), {**STOP, "amazon-bedrock-invocationMetrics": {"latency": 1}}),
    "one message that is called a stream": Served(body=message("yes").body, headers=CALLED),
    "capitals": json_answer({"content": [{"type": "text", "text": "yes"}], "stop_reason": "END_TURN"}),
    "a text in the place of blocks": json_answer({"content": "yes", "stop_reason": "end_turn"}),
    "a text in the place of a block": json_answer({"content": ["yes"], "stop_reason": "end_turn"}),
    "a block without a type": json_answer({"content": [{"text": "yes"}], "stop_reason": "end_turn"}),
}


@pytest.mark.parametrize("served", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_odd_message_that_says_its_end_is_an_answer(served: Served) -> None:
    for way in (STREAMED, PLAIN):
        reply = ask(way, served)
        assert (reply.text, reply.finish_reason, reply.whole) == ("yes", "end_turn", True)


@pytest.mark.parametrize("broken", [Served.cut, Served.stuck], ids=["cut", "silent"])
def test_a_stream_that_said_its_reason_is_whole_though_its_last_event_never_comes(broken: Any) -> None:
    served = stream(START, *YES, ends()).in_chunks()
    assert ask(STREAMED, broken(served, len(served.body)), between_bytes=0.3).whole


def test_pings_that_go_on_for_ever_are_no_answer() -> None:
    pings = stream(START, *[PING] * 400).in_chunks().trickled(40, 0.02)
    caught = fault(STREAMED, pings, total=0.5)
    assert (caught.error_class, caught.maybe_billed) == ("timeout", True)
    assert "`total`" in str(caught)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("refusal", "content_filter"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause_turn"),
        ("compaction", "compaction"),
    ],
)
def test_a_reason_that_is_no_end_keeps_the_text_and_is_not_whole(reason: str, said: str) -> None:
    for way, served in (
        (STREAMED, stream(START, *YES, ends(reason), STOP)),
        (PLAIN, message("yes", stop_reason=reason)),
    ):
        reply = ask(way, served)
        assert (reply.text, reply.finish_reason, reply.whole) == ("yes", said, False)


@pytest.mark.parametrize("content", [None, []])
def test_a_refusal_without_a_word_is_filtered(content: Any) -> None:
    reply = ask(PLAIN, json_answer({"type": "message", "content": content, "stop_reason": "refusal"}))
    assert (reply.text, reply.finish_reason) == ("", "content_filter")


def test_a_tool_that_is_given_nothing_is_given_an_empty_object() -> None:
    block = {"type": "tool_use", "name": "x", "input": None}
    assert ask(PLAIN, message([block], stop_reason="tool_use")).text == "{}"
    assert ask(STREAMED, message_stream([{**block, "input": {}}], stop_reason="tool_use")).text == "{}"


@pytest.mark.parametrize(
    "end",
    [
        {"output_tokens": 5},
        {"output_tokens": "5"},
        {**COUNTS, "output_tokens": 5},
        {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": None, "output_tokens": 5},
        {"output_tokens": 5, "cache_creation": {"ephemeral_5m_input_tokens": 2}, "service_tier": "standard"},
    ],
    ids=["as documented", "a text", "all again", "zeros", "more"],
)
def test_counts_of_the_start_are_not_lost_at_the_end(end: dict[str, Any]) -> None:
    counts = Usage(prompt_tokens=20, cached_prompt_tokens=12, completion_tokens=5)
    assert ask(STREAMED, stream(START, *YES, ends(usage=end), STOP)).usage == counts


def test_counts_that_come_only_at_the_end_are_read() -> None:
    start = {**START, "message": {**MESSAGE, "usage": {"input_tokens": 0, "output_tokens": 0}}}
    found = ask(STREAMED, stream(start, *YES, ends(usage={"input_tokens": 20, "output_tokens": 5}), STOP)).usage
    assert (found.prompt_tokens, found.completion_tokens) == (20, 5)


@pytest.mark.parametrize(
    ("event", "error_class"),
    [
        (json.dumps(OVERLOADED), "overloaded"),
        ('{"error": {"message": "Overloaded"}}', "overloaded"),
        ('{"type": "error", "error": "Overloaded"}', "overloaded"),
        ('{"type": "error", "error": {"type": "timeout_error", "message": "Request timed out"}}', "timeout"),
        ('{"type": "error", "error": {"type": "rate_limit_error", "message": "your rate limit"}}', "rate_limited"),
        ("upstream connect error", "server"),
        ("null", "server"),
    ],
)
def test_an_error_in_the_middle_is_one_however_it_is_written(event: str, error_class: str) -> None:
    for events in ((START, *YES[:2], f"event: error\ndata: {event}\n\n"), (f"event: error\ndata: {event}\n\n",)):
        caught = fault(STREAMED, stream(*events))
        assert (type(caught), caught.error_class, caught.maybe_billed) == (TransientError, error_class, True)


@pytest.mark.parametrize(
    "served",
    [
        stream(START),
        stream(),
        stream('data: {"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}\n\n'),
        json_answer({"Output": {"__type": "UnknownOperationException"}, "Version": "1.0"}),
        json_answer({"choices": [{"message": {"content": "yes"}}]}),
    ],
    ids=["a beginning", "nothing", "another interface's stream", "Bedrock, wrong address", "another interface"],
)
def test_what_is_no_message_is_malformed(served: Served) -> None:
    caught = fault(STREAMED, served)
    assert (caught.error_class, caught.maybe_billed) == ("malformed", True)


def test_a_refusal_that_is_called_a_stream_is_read() -> None:
    assert fault(STREAMED, Served(body=json.dumps(OVERLOADED).encode(), headers=CALLED)).error_class == "overloaded"
    refused = Served(status=529, body=f"event: error\ndata: {json.dumps(OVERLOADED)}\n\n".encode(), headers=CALLED)
    caught = fault(STREAMED, refused)
    assert (caught.error_class, caught.maybe_billed) == ("overloaded", False)
    assert "answered 529: Overloaded;" in str(caught)
