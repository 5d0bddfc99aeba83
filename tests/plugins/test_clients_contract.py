"""What every client of a model server makes of what servers do, over real sockets: one table of odd servers, asked in
each dialect, streamed and not."""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from planloom import Usage
from planloom.clients import Endpoint, FatalError, ModelClient, ModelError, PermanentError, QuotaError, TransientError
from planloom.plugins import load_plugins
from planloom.questions import Question, Reply, message_of
from planloom.testing.loopback import (
    LoopbackServer,
    Script,
    Served,
    api_error,
    completion,
    dropped,
    event_stream,
    html,
    json_answer,
    message,
    message_events,
    message_stream,
    serving,
    tool_call,
    tool_use,
)
from planloom_anthropic import open_client as open_messages
from planloom_openai import open_client as open_chat

KEY = "sk-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"keep": {"type": "boolean"}}, "required": ["keep"]}
SHAPE = {"response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA}}}
CHAT_REASONS = {"whole": "stop", "length": "length", "filtered": "content_filter"}
MESSAGE_REASONS = {"whole": "end_turn", "length": "max_tokens", "filtered": "refusal"}


@attrs.frozen
class Way:
    """A dialect and whether answers are streamed in it; it says the same things as other ways do, in its own form."""

    client: str
    stream: bool

    def open(self, url: str, **timeouts: float) -> ModelClient:
        endpoint = Endpoint(
            name="test",
            client=self.client,
            url=url,
            key_env="TEST_KEY",
            settings={"stream": self.stream},
            timeouts=timeouts,
        )
        return open_chat(endpoint) if self.client == "openai" else open_messages(endpoint)

    def other(self) -> Way:
        """Return the same dialect, streamed where this one is not."""
        return attrs.evolve(self, stream=not self.stream)

    def answer(self, text: str = "yes", reason: str | None = "whole") -> Served:
        """Return an answer of one text."""
        if self.client == "openai":
            said = CHAT_REASONS[reason] if reason else None
            return event_stream([text], finish_reason=said) if self.stream else completion(text, finish_reason=said)
        ended = MESSAGE_REASONS[reason] if reason else None
        return (
            message_stream([text], stop_reason=ended).in_chunks() if self.stream else message(text, stop_reason=ended)
        )

    def nothing(self) -> Served:
        """Return a whole answer that holds nothing."""
        if self.client == "openai":
            return event_stream([]) if self.stream else completion(None)
        return message_stream([]) if self.stream else message([])

    def called(self) -> Served:
        """Return an answer that calls a tool and says no word."""
        given = {"keep": True}
        if self.client == "anthropic":
            block = tool_use("verdict", given)
            return message_stream([block], stop_reason="tool_use") if self.stream else message([block])
        call = tool_call("verdict", json.dumps(given))
        if not self.stream:
            return completion(None, tool_calls=[call], finish_reason="tool_calls")
        pieces = [{"tool_calls": [{"index": 0, **call, "function": {"name": "verdict", "arguments": ""}}]}]
        pieces += [{"tool_calls": [{"index": 0, "function": {"arguments": x}}]} for x in ('{"keep"', ": true}")]
        return event_stream(pieces, finish_reason="tool_calls")

    def thought(self) -> Served:
        """Return an answer that thinks first, apart from its text."""
        if self.client == "anthropic":
            thinking = {"type": "thinking", "thinking": "hm, no", "signature": "c2ln"}
            blocks: list[Any] = [thinking, {"type": "redacted_thinking", "data": "eA=="}]
            return (
                message_stream([*blocks, "yes"]) if self.stream else message([*blocks, {"type": "text", "text": "yes"}])
            )
        if self.stream:
            return event_stream([{"reasoning_content": "hm, "}, {"reasoning_content": "no", "content": None}, "yes"])
        return completion("yes", reasoning_content="hm, no")

    def parts(self) -> Served:
        """Return an answer whose text comes in two parts."""
        parts = [{"type": "text", "text": "y"}, {"type": "text", "text": "es"}]
        if self.client == "anthropic":
            return message_stream(parts) if self.stream else message(parts)
        return event_stream([{"content": [part]} for part in parts]) if self.stream else completion(parts)

    def uncounted(self) -> Served:
        """Return an answer without counts."""
        if self.client == "anthropic":
            if not self.stream:
                return message("yes", usage=None)
            body = message_stream(["yes"]).body.replace(b'"usage"', b'"used"')
            return Served(body=body, headers={"content-type": "text/event-stream"})
        return event_stream(["yes"], usage=None) if self.stream else completion("yes", usage=None)

    def counted(self) -> Served:
        """Return an answer with 20 tokens of question, 12 of them from a cache, 5 of answer, 3 of them thought."""
        if self.client == "anthropic":
            counts = {"input_tokens": 6, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 12}
            end = {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 3}}
            if not self.stream:
                return message("yes", usage={**counts, **end})
            return message_events(
                {"type": "message_start", "message": {**message([]).json, "usage": {**counts, "output_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "yes"}},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": end},
                {"type": "message_stop"},
            )
        usage = {
            "prompt_tokens": 20,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 12},
            "completion_tokens_details": {"reasoning_tokens": 3},
        }
        return event_stream(["yes"], usage=usage) if self.stream else completion("yes", usage=usage)

    def unfinished(self) -> Served:
        """Return a stream that ends well as HTTP and too early as an answer."""
        if self.client == "openai":
            return event_stream(["ye"], finish_reason=None, done=False).in_chunks()
        return message_stream(["ye"], stop_reason=None, stop=False).in_chunks()

    def error(self, kind: str, text: str, status: int, headers: Mapping[str, str] | None = None) -> Served:
        """Return a refusal."""
        if self.client == "anthropic":
            return api_error(kind, text, status, headers)
        return json_answer({"error": {"type": kind, "message": text}}, status, headers)

    def error_in_stream(self, kind: str, text: str) -> Served:
        """Return a stream that breaks off with an error."""
        error = {"type": "error", "error": {"type": kind, "message": text}}
        begun = self.unfinished().body
        end = f"event: error\ndata: {json.dumps(error)}\n\n".encode()
        return Served(body=begun + end, headers={"content-type": "text/event-stream"})


WAYS = [Way(client, stream) for client in ("openai", "anthropic") for stream in (False, True)]
IDS = [f"{way.client}{', streamed' if way.stream else ''}" for way in WAYS]

pytestmark = pytest.mark.parametrize("way", WAYS, ids=IDS)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "*")


def question(**parameters: Any) -> Question:
    messages = (message_of("system", "be brief"), message_of("user", "is it so?"))
    return Question(endpoint="test", model="m-1", messages=messages, parameters={"max_tokens": 50, **parameters})


def ask(way: Way, script: Script, parameters: Mapping[str, Any] | None = None, **timeouts: float) -> Reply:
    async def run(url: str) -> Reply:
        client = way.open(url, **timeouts)
        try:
            return await client.ask(question(**(parameters or {})))
        finally:
            await client.close()

    with serving(script) as server:
        reply = asyncio.run(run(server.url))
    assert server.total == 1
    return reply


def fault(way: Way, script: Script, **timeouts: float) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(way, script, None, **timeouts)
    return caught.value


# --- answers that are answers


def packed(served: Served) -> Served:
    return Served(body=gzip.compress(served.body), headers={**served.headers, "content-encoding": "gzip"})


ANSWERS: dict[str, Callable[[Way], Served]] = {
    "one text": Way.answer,
    "a list of parts": Way.parts,
    "thinking before it": Way.thought,
    "no counts": Way.uncounted,
    "packed": lambda way: packed(way.answer()),
    "a few bytes at a time": lambda way: way.answer().trickled(7, 0.0),
    "in chunks": lambda way: way.answer().in_chunks(),
    "in chunks of a few bytes": lambda way: way.answer().in_chunks().trickled(7, 0.0),
    "hung up behind it": lambda way: way.answer().hanging_up(),
    "a stream though none was asked for, or none though one was": lambda way: way.other().answer(),
    "no reason why it ended": lambda way: way.answer(reason=None),
}


@pytest.mark.parametrize("served", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_is_its_text_however_it_comes(way: Way, served: Callable[[Way], Served]) -> None:
    reply = ask(way, served(way))
    assert (reply.text, reply.whole, reply.model) == ("yes", True, "loopback-1")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_events_may_end_their_lines_in_any_way(way: Way, end: str) -> None:
    streamed = Way(way.client, stream=True).answer()
    body = streamed.body.replace(b"\n", end.encode())
    assert ask(way, Served(body=body, headers={"content-type": "Text/Event-Stream; charset=utf-8"})).text == "yes"


def test_a_text_of_any_characters_arrives_as_it_is(way: Way) -> None:
    text = 'line\n\n"quoted" [DONE]\r\n{"type": "message_stop"} \u2028 é \U0001f600 data: x'
    assert ask(way, way.answer(text).trickled(11, 0.0)).text == text


def test_each_count_is_read(way: Way) -> None:
    counts = Usage(prompt_tokens=20, cached_prompt_tokens=12, completion_tokens=5, reasoning_tokens=3)
    assert ask(way, way.counted()).usage == counts


def test_counts_that_are_not_there_are_not_said(way: Way) -> None:
    assert ask(way, way.uncounted()).usage == Usage()


def test_a_tool_call_instead_of_text_is_what_it_was_given(way: Way) -> None:
    assert json.loads(ask(way, way.called(), SHAPE).text) == {"keep": True}


def test_a_tool_call_that_nobody_asked_for_is_read_too(way: Way) -> None:
    reply = ask(way, way.called())
    assert (json.loads(reply.text), reply.whole) == ({"keep": True}, True)


def test_an_answer_that_holds_nothing_is_empty_and_not_whole(way: Way) -> None:
    reply = ask(way, way.nothing())
    assert (reply.text, reply.whole) == ("", False)


@pytest.mark.parametrize(("reason", "said"), [("length", "length"), ("filtered", "content_filter")])
def test_an_answer_that_was_cut_or_filtered_keeps_its_text_and_is_not_whole(way: Way, reason: str, said: str) -> None:
    reply = ask(way, way.answer('{"keep', reason))
    assert (reply.text, reply.finish_reason, reply.whole) == ('{"keep', said, False)


# --- no answer


@attrs.frozen
class Odd:
    """A server that gives no answer, and what that is."""

    served: Callable[[Way], Served]
    kind: type[ModelError]
    error_class: str
    billed: bool


def _odd(served: Callable[[Way], Served], kind: type[ModelError], error_class: str, billed: bool = False) -> Odd:
    return Odd(served, kind, error_class, billed)


def _refused(status: int, text: str = "no", kind: str = "error") -> Callable[[Way], Served]:
    return lambda way: way.error(kind, text, status)


def _length_said(way: Way, more_bytes: int) -> Served:
    answer = Way(way.client, stream=False).answer("x" * 200)
    length = str(len(answer.body) + more_bytes)
    return attrs.evolve(answer, headers={**answer.headers, "content-length": length}, hang_up=True)


ODD_SERVERS = {
    "nothing at all": _odd(lambda way: dropped(), TransientError, "transport", True),
    "cut before the body": _odd(lambda way: way.answer().cut(0), TransientError, "transport", True),
    "cut in the body": _odd(lambda way: way.answer().cut(30), TransientError, "transport", True),
    "cut in a chunk": _odd(lambda way: way.answer().in_chunks().cut(30), TransientError, "transport", True),
    "shorter than it said": _odd(lambda way: _length_said(way, 10), TransientError, "transport", True),
    # Whether the surplus is seen before the part that was announced has been read is the network's to say.
    "longer than it said": _odd(lambda way: _length_said(way, -10), TransientError, "transport or malformed", True),
    "a stream that stops early": _odd(Way.unfinished, TransientError, "malformed", True),
    "a page with 200": _odd(lambda way: html("Sign in"), TransientError, "malformed", True),
    "a page as JSON": _odd(lambda way: html("x", 200, "application/json"), TransientError, "malformed", True),
    "an empty body": _odd(lambda way: Served(), TransientError, "malformed", True),
    "other JSON": _odd(lambda way: json_answer({"ok": True}), TransientError, "malformed", True),
    "no list where one should be": _odd(
        lambda way: json_answer({"type": "message", "content": "x", "choices": "x"}), TransientError, "malformed", True
    ),
    "not UTF-8": _odd(lambda way: Served(body=b'{"content": "\xff"}'), TransientError, "malformed", True),
    "events that are no JSON": _odd(lambda way: Served(body=b"data: {\n\n"), TransientError, "malformed", True),
    "not what it is packed as": _odd(
        lambda way: Served(body=b"x", headers={"content-encoding": "gzip"}), TransientError, "malformed", True
    ),
    "overloaded in the middle": _odd(
        lambda way: way.error_in_stream("overloaded_error", "Overloaded"), TransientError, "overloaded", True
    ),
    "refused in the middle": _odd(
        lambda way: way.error_in_stream("invalid_request_error", "no"), PermanentError, "bad_request"
    ),
    "an error with 200": _odd(_refused(200, "Overloaded", "overloaded_error"), TransientError, "overloaded", True),
    "408": _odd(_refused(408), TransientError, "timeout"),
    "409": _odd(_refused(409), TransientError, "server"),
    "429": _odd(_refused(429, "slow down", "rate_limit_error"), TransientError, "rate_limited"),
    "500": _odd(_refused(500, "Internal server error", "api_error"), TransientError, "server"),
    "502 page": _odd(lambda way: html("Bad gateway", 502), TransientError, "server", True),
    "503": _odd(_refused(503), TransientError, "overloaded"),
    "529": _odd(_refused(529, "Overloaded", "overloaded_error"), TransientError, "overloaded"),
    "400": _odd(_refused(400, "temperature: too high", "invalid_request_error"), PermanentError, "bad_request"),
    "404": _odd(lambda way: html("Not found", 404), PermanentError, "bad_request"),
    "422": _odd(_refused(422), PermanentError, "bad_request"),
    "413": _odd(_refused(413, "too large", "request_too_large"), PermanentError, "context_too_long"),
    "too long a question": _odd(
        _refused(400, "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error"),
        PermanentError,
        "context_too_long",
    ),
    "flagged": _odd(_refused(400, "flagged by our usage policy"), PermanentError, "filtered"),
    "401": _odd(_refused(401, "invalid x-api-key", "authentication_error"), FatalError, "auth"),
    "403": _odd(_refused(403, "your key may not", "permission_error"), FatalError, "auth"),
    "an unknown model": _odd(_refused(404, "model: m-1", "not_found_error"), FatalError, "unknown_model"),
    "a redirect": _odd(
        lambda way: Served(status=307, headers={"location": "https://x.test/"}), FatalError, "bad_request"
    ),
    "402": _odd(_refused(402, "pay first", "billing_error"), QuotaError, "quota"),
    "no credit left, with 400": _odd(
        _refused(400, "Your credit balance is too low to access the API.", "invalid_request_error"), QuotaError, "quota"
    ),
    "429 that says quota": _odd(_refused(429, "You exceeded your current quota"), QuotaError, "quota"),
}


@pytest.mark.parametrize("odd", ODD_SERVERS.values(), ids=ODD_SERVERS.keys())
def test_each_odd_server_is_the_fault_it_should_be(way: Way, odd: Odd) -> None:
    caught = fault(way, odd.served(way))
    assert (type(caught), caught.maybe_billed) == (odd.kind, odd.billed)
    assert caught.error_class in odd.error_class.split(" or ")


@pytest.mark.parametrize(
    ("served", "phase"),
    [
        (lambda way: way.answer().hanging(), "first_byte"),
        (lambda way: way.answer().stuck(30), "between_bytes"),
        (lambda way: way.answer().in_chunks().stuck(30), "between_bytes"),
        (lambda way: way.answer("x" * 2_000).trickled(10, 0.05), "total"),
    ],
    ids=["before the body", "in the body", "in a chunk", "without end"],
)
def test_a_server_that_hangs_is_given_up_in_the_phase_it_hangs_in(
    way: Way, served: Callable[[Way], Served], phase: str
) -> None:
    caught = fault(way, served(way), **{"first_byte": 5.0, "between_bytes": 5.0, "total": 8.0, phase: 0.2})
    assert (caught.error_class, caught.maybe_billed) == ("timeout", True)
    assert f"`{phase}`" in str(caught)


def test_a_body_without_end_is_refused_while_it_is_read(way: Way) -> None:
    caught = fault(way, way.answer().padded(1_000_000_000))
    assert (type(caught), caught.error_class, caught.maybe_billed) == (PermanentError, "malformed", True)


def test_a_small_body_that_unpacks_to_a_huge_one_is_refused_while_it_is_unpacked(way: Way) -> None:
    caught = fault(way, Served(body=bomb(), headers={"content-encoding": "gzip"}))
    assert (type(caught), caught.error_class) == (PermanentError, "malformed")


@functools.cache
def bomb() -> bytes:
    """Return 200 MB of blanks, packed."""
    return gzip.compress(b" " * 200_000_000, compresslevel=1)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [({"retry-after": "7"}, 7.0), ({"retry-after": "Sun, 29 Nov 2020 12:00:00 GMT"}, 0.0), ({}, None)],
)
def test_the_wait_that_a_refusal_asks_for_is_told(way: Way, headers: Mapping[str, str], wait_s: float | None) -> None:
    assert fault(way, way.error("rate_limit_error", "slow down", 429, headers)).retry_after_s == wait_s


def test_models_that_the_server_names_are_told_when_it_does_not_know_the_one_asked(way: Way) -> None:
    error = {"type": "not_found_error", "message": "model: m-1", "available_models": ["m-2", "m-3"]}
    caught = fault(way, json_answer({"type": "error", "error": error}, 404))
    assert "set a model that endpoint `test` has, it names: m-2, m-3" in str(caught)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            'write rename = { max_tokens = "max_completion_tokens" } under endpoint `test`',
        ),
        (
            "Unsupported value: 'temperature' does not support 0.6 with this model.",
            'write drop = ["temperature", "top_p"] under its role',
        ),
        ("`temperature` is deprecated for this model.", 'write drop = ["temperature", "top_p"] under its role'),
        (
            "`temperature` and `top_p` cannot both be specified for this model.",
            'write drop = ["temperature", "top_p"] under its role',
        ),
        ("body.stream_options: Extra inputs are not permitted", "write stream_usage = false under endpoint `test`"),
        ("Thinking may not be enabled when tool_choice forces tool use.", "write another json_mode under endpoint"),
        ("seed must be positive", "check the model's parameters against what the server takes"),
    ],
)
def test_a_default_that_the_server_refuses_is_told_with_the_setting_that_changes_it(
    way: Way, text: str, step: str
) -> None:
    assert step in str(fault(way, way.error("invalid_request_error", text, 400)))


def test_the_key_is_in_one_header_and_in_no_message(way: Way) -> None:
    with serving(way.error("authentication_error", f"bad key {KEY}", 401)) as server:

        async def run() -> None:
            client = way.open(server.url)
            try:
                await client.ask(question())
            finally:
                await client.close()

        with pytest.raises(FatalError) as caught:
            asyncio.run(run())
    sent = server.received[0]
    assert [name for name, value in sent.headers.items() if KEY in value] == [
        "authorization" if way.client == "openai" else "x-api-key"
    ]
    assert KEY not in str(caught.value)
    assert KEY.encode() not in sent.body


# --- the connection and the moment an answer begins


def test_a_connection_serves_one_answer_after_the_other(way: Way) -> None:
    async def run() -> int:
        async with LoopbackServer(way.answer().in_chunks()) as server:
            client = way.open(server.url)
            for _ in range(3):
                await client.ask(question())
            await client.close()
            return server.connections

    assert asyncio.run(run()) == 1


def test_a_server_that_hangs_up_behind_each_answer_loses_none(way: Way) -> None:
    async def run() -> list[str]:
        async with LoopbackServer(way.answer().hanging_up()) as server:
            client = way.open(server.url)
            texts = []
            for _ in range(3):
                texts.append((await client.ask(question())).text)
                while any(not c._transport.is_closing() for c in server._open):
                    await asyncio.sleep(0.001)
                await asyncio.sleep(0.01)
            await client.close()
            return texts

    assert asyncio.run(run()) == ["yes"] * 3


def test_a_length_that_was_a_lie_does_not_spoil_the_next_answer(way: Way) -> None:
    async def run() -> str:
        async with LoopbackServer([attrs.evolve(_length_said(way, -10), hang_up=False), way.answer()]) as server:
            client = way.open(server.url)
            with pytest.raises(TransientError):
                await client.ask(question())
            text = (await client.ask(question())).text
            await client.close()
            return text

    assert asyncio.run(run()) == "yes"


def beginnings(way: Way, script: Script, **timeouts: float) -> int:
    began: list[None] = []

    async def run(url: str) -> None:
        client = way.open(url, **timeouts)
        try:
            await client.ask(question(), began=lambda: began.append(None))
        except ModelError:
            pass
        finally:
            await client.close()

    with serving(script) as server:
        asyncio.run(run(server.url))
    return len(began)


def test_that_an_answer_begins_is_said_once(way: Way) -> None:
    assert beginnings(way, way.answer().trickled(5, 0.0)) == 1


@pytest.mark.parametrize("served", [dropped(), json_answer({}, 500), html("x", 503)])
def test_what_is_no_answer_does_not_begin(way: Way, served: Served) -> None:
    assert beginnings(way, served) == 0


def test_comments_that_keep_a_stream_open_are_no_beginning(way: Way) -> None:
    waiting = Served(body=b": still queued\n\n" * 3 + b"data", headers={"content-type": "text/event-stream"})
    assert beginnings(way, waiting.in_chunks().stuck(47), between_bytes=0.1) == 0


def test_a_stream_that_said_its_end_is_whole_whatever_its_connection_does(way: Way) -> None:
    streamed = Way(way.client, stream=True).answer()
    began = time.perf_counter()
    assert ask(way, streamed.in_chunks().stuck(len(streamed.body))).text == "yes"
    assert ask(way, streamed.in_chunks().cut(len(streamed.body))).text == "yes"
    assert time.perf_counter() - began < 5


def test_a_call_that_is_cancelled_leaves_the_client_usable(way: Way) -> None:
    async def run() -> tuple[str, int]:
        async with LoopbackServer([way.answer().stuck(20), way.answer()]) as server:
            client = way.open(server.url)
            call = asyncio.create_task(client.ask(question()))
            while server.total == 0:
                await asyncio.sleep(0.001)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            text = (await client.ask(question())).text
            await client.close()
            return text, server.abandoned

    assert asyncio.run(run()) == ("yes", 1)


# --- the plugin


def test_the_client_is_installed_under_its_name(way: Way) -> None:
    assert way.client in load_plugins().names("client")
