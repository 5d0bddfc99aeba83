"""What servers of chat completions really send where the standard says otherwise, each with the name of who does it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from planloom import Usage
from planloom.clients import ModelError, PermanentError, TransientError
from planloom.testing.loopback import Served, completion, event_stream, html, json_answer

from .ways import Way, ask, fault

PLAIN, STREAMED = Way("openai", stream=False), Way("openai", stream=True)
COUNTS = {"prompt_tokens": 20, "completion_tokens": 5}


def chunk(content: str | None = None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {} if content is None else {"content": content}, "finish_reason": reason}
    return {"object": "chat.completion.chunk", "model": "loopback-1", "choices": [choice], **more}


def of(choice: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"choices": [choice], **more}


def events(*events: Any, between: str = "\n\n", end: str = "\n\n", content_type: str = "text/event-stream") -> Served:
    """Return a stream of chunks and of texts as they are."""
    texts = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    return Served(body=(between.join(texts) + end).encode(), headers={"content-type": content_type})


DONE = "data: [DONE]"
YES = (chunk("ye"), chunk("s"), chunk(None, "stop"))
FORGOTTEN = {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}
COUNTED = chunk(None, "stop", usage=COUNTS)

# --- streams that are an answer

STREAMS = {
    "no space behind the colon": events(*(f"data:{json.dumps(x)}" for x in YES), "data:[DONE]"),
    "one event over three lines": events(
        'data: {"choices": [\ndata: {"index": 0, "delta": {"content": "yes"},\ndata: "finish_reason": "stop"}]}', DONE
    ),
    "no empty line between events": events(*YES, DONE, between="\n"),
    "no end mark": events(*YES),
    "no end mark, and no line end behind the last event": events(*YES, end=""),
    "the end mark twice": events(*YES, DONE, DONE),
    "another end mark": events(*YES, "data: [done]"),
    "an end mark in quotes": events(*YES, 'data: "[DONE]"'),
    "more behind the end mark": events(*YES, DONE, chunk("no")),
    "events without data": events(chunk("ye"), "data:", "data: ", chunk("s", "stop"), DONE),
    "an event that is null": events("data: null", *YES, DONE),
    "pings that are JSON": events("event: ping\ndata: {}", *YES, DONE),
    "pings that are none": events("event: ping\ndata: ping", *YES, DONE),
    "comments in the place of data": events("data: : keep-alive", *YES, DONE),
    "numbers and times of events": events(f"id: 1\nretry: 3000\ndata: {json.dumps(chunk('ye'))}", *YES[1:], DONE),
    "OpenRouter while it waits": events(": OPENROUTER PROCESSING", ": OPENROUTER PROCESSING", *YES, DONE),
    "2 KB of blanks first": events(" " * 2_048, *YES, DONE),
    "a byte order mark": events("\ufeff" + f"data: {json.dumps(YES[0])}", *YES[1:], DONE),
    "a reason `null` in each chunk": events(chunk("ye", "null"), chunk("s", "null"), YES[2], DONE),
    "an empty reason in each chunk": events(chunk("ye", ""), chunk("s", ""), YES[2], DONE),
    "Azure's filter results before and behind it": events(
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        *YES,
        of({"index": 0, "content_filter_results": {}, "finish_reason": None}),
        DONE,
    ),
    "no delta": events(of({"index": 0, "delta": None, "finish_reason": None}), *YES, DONE),
    "indices as texts": events(*(of({**x["choices"][0], "index": "0"}) for x in YES), DONE),
    "two choices without an index": events(
        of({"delta": {"content": "yes"}}, id=1)
        | {"choices": [{"delta": {"content": "yes"}}, {"delta": {"content": "no"}}]},
        YES[2],
        DONE,
    ),
    "the whole text once more at the end": events(
        *YES[:2], of({"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}), DONE
    ),
    "the text so far each time": events(
        of({"message": {"content": "ye"}}), of({"message": {"content": "yes"}, "finish_reason": "stop"}), DONE
    ),
    "the text so far beside each piece": events(
        of({"delta": {"content": "ye"}, "message": {"content": "ye"}}),
        of({"delta": {"content": "s"}, "message": {"content": "yes"}, "finish_reason": "stop"}),
    ),
    "half an event behind the reason": events(*YES, 'data: {"choices": [], "usa', end=""),
    "nonsense behind the reason": events(*YES, "data: {oops}"),
    "a page behind the reason": events(*YES, "<html>502</html>"),
    "half a letter behind the reason": Served(
        body=events(*YES).body + b'data: {"x": "\xc3', headers={"content-type": "text/event-stream"}
    ),
    "an error behind the reason": events(*YES, {"error": {"message": "boom"}}),
    "one whole completion that is called a stream": Served(
        body=completion("yes").body, headers={"content-type": "text/event-stream"}
    ),
}


@pytest.mark.parametrize("served", STREAMS.values(), ids=STREAMS.keys())
def test_a_stream_that_is_odd_and_says_its_end_is_an_answer(served: Served) -> None:
    for way in (STREAMED, PLAIN):
        reply = ask(way, served)
        assert (reply.text, reply.finish_reason, reply.whole) == ("yes", "stop", True)


@pytest.mark.parametrize("broken", [Served.cut, Served.stuck], ids=["cut", "silent"])
def test_a_stream_that_said_its_reason_is_whole_though_its_end_mark_never_comes(broken: Any) -> None:
    served = events(*YES).in_chunks()
    reply = ask(STREAMED, broken(served, len(served.body)), between_bytes=0.3)
    assert (reply.text, reply.whole) == ("yes", True)


@pytest.mark.parametrize("broken", [Served.cut, Served.stuck], ids=["cut", "silent"])
def test_a_stream_that_has_not_said_its_reason_is_no_answer_when_it_breaks_off(broken: Any) -> None:
    served = events(*YES[:2]).in_chunks()
    caught = fault(STREAMED, broken(served, len(served.body)), between_bytes=0.3)
    assert (type(caught), caught.maybe_billed) == (TransientError, True)


def test_letters_and_pairs_that_are_cut_between_pieces_are_put_together() -> None:
    halves = events(
        *(f'data: {{"choices": [{{"delta": {{"content": "{x}"}}}}]}}' for x in (r"\ud83d", r"\ude00")), YES[2]
    )
    assert ask(STREAMED, halves).text == "\U0001f600"
    whole = events('data: {"choices": [{"delta": {"content": "é\U0001f600"}}]}', YES[2], DONE)
    assert ask(STREAMED, whole.in_chunks().trickled(1, 0.0)).text == "é\U0001f600"


# --- counts


@pytest.mark.parametrize(
    "served",
    [
        events(*YES[:2], COUNTED, DONE),
        events(*YES, {"choices": [], "usage": COUNTS}, DONE),
        events(*YES[:2], COUNTED, {"choices": [], "usage": None}, DONE),
        events(*YES[:2], COUNTED, FORGOTTEN, DONE),
        events(chunk("yes", usage={"prompt_tokens": 20, "completion_tokens": 1}), COUNTED, DONE),
        events(*YES[:2], chunk(None, "stop", x_groq={"usage": COUNTS}), DONE),
        events(*YES[:2], of({"delta": {}, "finish_reason": "stop", "usage": COUNTS}), DONE),
    ],
    ids=["with the reason", "behind it", "then null", "then zeros", "in each", "Groq", "Moonshot"],
)
def test_counts_are_found_wherever_a_stream_has_them(served: Served) -> None:
    assert ask(STREAMED, served).usage == Usage(prompt_tokens=20, completion_tokens=5)


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": "20", "completion_tokens": "5"}, (20, None, 5)),
        ({"prompt_tokens": 20.0, "completion_tokens": 5e0}, (20, None, 5)),
        ({"input_tokens": 20, "output_tokens": 5}, (20, None, 5)),
        ({"prompt_tokens": 20.5, "completion_tokens": "5.5"}, (None, None, None)),
        ({"prompt_tokens": True, "completion_tokens": "²"}, (None, None, None)),
        ({**COUNTS, "prompt_tokens_details": {"cached_tokens": 500}}, (20, None, 5)),
        ({**COUNTS, "prompt_tokens_details": {"cached_tokens": "12"}}, (20, 12, 5)),
        ({**COUNTS, "total_tokens": 325}, (20, None, 305)),
        ({**COUNTS, "total_tokens": 3}, (20, None, 5)),
        ({**COUNTS, "total_tokens": None}, (20, None, 5)),
        ([20, 5], (None, None, None)),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else None,
)
def test_counts_are_read_as_servers_write_them(usage: Any, read: tuple[int | None, ...]) -> None:
    served = json_answer({**completion("yes", usage=None).json, "usage": usage})
    found = ask(PLAIN, served).usage
    assert (found.prompt_tokens, found.cached_prompt_tokens, found.completion_tokens) == read


@pytest.mark.parametrize("total", [{"total_tokens": 325}, {}])
def test_thinking_that_a_server_counts_apart_is_billed_with_the_answer(total: dict[str, int]) -> None:
    usage = {**COUNTS, "completion_tokens_details": {"reasoning_tokens": 300}, **total}
    found = ask(PLAIN, completion("yes", usage=usage)).usage
    assert (found.completion_tokens, found.reasoning_tokens) == (305, 300)


def test_thinking_that_is_part_of_the_answer_s_count_is_not_counted_twice() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 305, "total_tokens": 325}
    found = ask(PLAIN, completion("yes", usage={**usage, "completion_tokens_details": {"reasoning_tokens": 300}})).usage
    assert found.completion_tokens == 305


# --- bodies that are an answer


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": {"type": "text", "text": "yes"}}, "yes"),
        ({"content": {"keep": True}}, '{"keep": true}'),
        ({"content": [{"type": "text", "text": {"value": "yes", "annotations": []}}]}, "yes"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, "yes"]}, "yes"),
        ({"content": [{"type": "text", "text": "yes"}, {"type": "reference", "reference_ids": [1]}]}, "yes"),
        ({"content": "yes", "tool_calls": None, "function_call": None, "refusal": None, "audio": None}, "yes"),
    ],
    ids=["one part", "an object", "Assistants", "Mistral, thinking", "Mistral, references", "all that is null"],
)
def test_a_content_is_read_in_whichever_form_it_comes(message: dict[str, Any], text: str) -> None:
    reply = ask(PLAIN, json_answer(of({"message": message, "finish_reason": "stop"})))
    assert (reply.text, reply.whole) == (text, True)


def test_a_body_is_read_whatever_else_is_in_it() -> None:
    told = b'"choices": [{"message": {"content": "a\tb\nc"}}], "created": ' + b"9" * 5_000
    reply = ask(PLAIN, Served(body=b"{" + told + b', "usage": {"prompt_tokens": ' + b"8" * 5_000 + b"}}"))
    assert (reply.text, reply.usage) == ("a\tb\nc", Usage())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_body_in_another_form_of_unicode_is_read(encoding: str) -> None:
    assert ask(PLAIN, Served(body=json.dumps(of({"message": {"content": "é"}})).encode(encoding))).text == "é"


def test_a_single_chunk_though_no_stream_was_asked_for_is_read() -> None:
    assert ask(PLAIN, json_answer(chunk("yes", "stop"))).text == "yes"


@pytest.mark.parametrize("way", [PLAIN, STREAMED], ids=["whole", "streamed"])
def test_a_refusal_and_nothing_else_is_filtered_and_keeps_its_text(way: Way) -> None:
    streamed = event_stream([{"refusal": "I can"}, {"refusal": "not."}])
    reply = ask(way, streamed if way.stream else completion(None, refusal="I cannot."))
    assert (reply.text, reply.finish_reason, reply.whole) == ("I cannot.", "content_filter", False)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("content_filter: RECITATION", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("sensitive", "content_filter"),
        ("model_length", "length"),
        ("MAX_OUTPUT_TOKENS", "length"),
        ("abort", "abort"),
        ("insufficient_system_resource", "insufficient_system_resource"),
    ],
)
def test_a_reason_of_a_provider_is_that_of_the_standard_and_the_answer_is_not_whole(said: str, reason: str) -> None:
    for reply in (
        ask(PLAIN, completion("ye", finish_reason=said)),
        ask(STREAMED, event_stream(["ye"], finish_reason=said)),
    ):
        assert (reply.text, reply.finish_reason, reply.whole) == ("ye", reason, False)


@pytest.mark.parametrize("choice", [{}, {"message": None}, {"message": {"role": "assistant"}}])
def test_an_answer_of_which_a_filter_left_the_reason_alone_is_filtered(choice: dict[str, Any]) -> None:
    reply = ask(PLAIN, json_answer(of({"index": 0, "finish_reason": "content_filter", **choice})))
    assert (reply.text, reply.finish_reason) == ("", "content_filter")


@pytest.mark.parametrize("second", ["stop", "null", "", None])
def test_that_an_answer_was_cut_stays_said_whatever_is_said_after_it(second: str | None) -> None:
    assert ask(STREAMED, events(chunk("ye", "length"), chunk(None, second), DONE)).finish_reason == "length"


@pytest.mark.parametrize(
    "deltas",
    [
        [{"tool_calls": [{"index": 0, "function": {"name": "v", "arguments": {"keep": True}}}]}],
        [{"function_call": {"name": "v", "arguments": '{"keep":'}}, {"function_call": {"arguments": " true}"}}],
        [
            {"tool_calls": [{"id": "a", "function": {"name": "v", "arguments": '{"keep":'}}]},
            {"tool_calls": [{"function": {"arguments": " true}"}}]},
        ],
    ],
    ids=["an object", "the older kind", "no index"],
)
def test_a_streamed_call_of_a_tool_is_what_it_was_given(deltas: list[dict[str, Any]]) -> None:
    assert ask(STREAMED, event_stream(deltas, finish_reason="tool_calls")).text == '{"keep": true}'


def test_two_calls_that_have_no_number_are_known_by_their_ids() -> None:
    calls = [{"id": name, "function": {"name": "v", "arguments": f'{{"{name}": 1}}'}} for name in "ab"]
    reply = ask(STREAMED, event_stream([{"tool_calls": [call]} for call in calls], finish_reason="tool_calls"))
    assert reply.text == '{"a": 1}\n{"b": 1}'


# --- faults under 200


@attrs.frozen
class Fault:
    """What an answer with status 200 is, in a stream and without."""

    served: Served
    error_class: str
    kind: type[ModelError] = TransientError
    said: str = ""


LOST = {"code": 502, "message": "Upstream error"}
CALLED = {"content-type": "text/event-stream"}
FAULTS = {
    "OpenRouter: an error in the choice": Fault(
        json_answer(of({"message": {"content": ""}, "finish_reason": "error", "error": LOST})), "server"
    ),
    "an error in the choice and nothing else": Fault(json_answer(of({"error": LOST})), "server"),
    "OpenRouter: an error in a choice of a stream": Fault(
        events(chunk("ye"), of({"delta": {"content": ""}, "finish_reason": "error", "error": LOST}), DONE), "server"
    ),
    "OpenRouter: lost in the middle": Fault(
        events(chunk("ye"), {**chunk("", "error"), "error": {"code": "server_error", "message": "disconnected"}}),
        "server",
        said="with an error: disconnected",
    ),
    "Groq: an error beside the chunk": Fault(
        events(chunk("ye"), chunk(None, "", x_groq={"error": "over capacity"}), DONE), "overloaded"
    ),
    "llama.cpp: a line of its own": Fault(events(chunk("ye"), 'error: {"message": "boom"}'), "server", said="boom"),
    "an object between the events": Fault(
        events(chunk("ye"), '{"error": {"message": "slow down", "type": "rate_limit_error"}}'), "rate_limited"
    ),
    "an error in words": Fault(
        events(chunk("ye"), "event: error\ndata: upstream gone"), "server", said="upstream gone"
    ),
    "a refusal that is called a stream": Fault(
        Served(body=b'{"error": {"message": "Rate limit", "code": 429}}', headers=CALLED), "rate_limited"
    ),
    "a page that is called a stream": Fault(html("Sign in", 200, "text/event-stream"), "malformed", said="not JSON"),
    "nothing that is called a stream": Fault(Served(headers=CALLED), "malformed"),
    "comments and no more": Fault(events(": a", ": b"), "malformed"),
    "a stream whose reason `null` is none": Fault(events(chunk("ye", "null")), "malformed", said="before its end"),
    "half an event before the reason": Fault(events(chunk("ye"), 'data: {"cho', end=""), "malformed", said="not JSON"),
    "the answer of another interface": Fault(
        json_answer({"object": "response", "output": [{"content": [{"text": "yes"}]}]}), "malformed"
    ),
    "202, for who comes again": Fault(
        Served(status=202, body=b'{"requestId": "r-1", "status": "pending"}'), "malformed", said="answered 202"
    ),
    "vLLM": Fault(
        events({"object": "error", "message": "length: maximum context length is 8", "code": 400}),
        "context_too_long",
        PermanentError,
    ),
}


@pytest.mark.parametrize("right", FAULTS.values(), ids=FAULTS.keys())
def test_what_is_no_answer_under_200_is_a_named_fault(right: Fault) -> None:
    for way in (PLAIN, STREAMED):
        caught = fault(way, right.served)
        assert (type(caught), caught.error_class) == (right.kind, right.error_class)
        assert caught.maybe_billed == (right.kind is TransientError)
        assert right.said in str(caught)
        assert "\n" not in str(caught)
