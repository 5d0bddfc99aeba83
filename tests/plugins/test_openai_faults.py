"""Each refusal, slow answer and broken connection is the fault it should be, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.clients import Endpoint, FatalError, ModelError, PermanentError, QuotaError, TransientError
from planloom.questions import Question, Reply, message_of
from planloom.testing.loopback import (
    LoopbackServer,
    Script,
    Served,
    completion,
    dropped,
    html,
    json_answer,
    serving,
)
from planloom.wire import FaultTable, WireClient, read_origin, wait_asked_s
from planloom.wire._transport import HttpxExchange
from planloom_openai import open_client
from planloom_openai._client import INTERFACE, ChatDialect

QUESTION = Question(endpoint="test", model="m", messages=(message_of("user", "hello"),), parameters={})
NOON = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


async def ask_at(url: str, timeouts: Mapping[str, float]) -> Reply:
    client = open_client(Endpoint(name="test", client="openai", url=url, timeouts=timeouts))
    try:
        return await client.ask(QUESTION)
    finally:
        await client.close()


def fault(script: Script, **timeouts: float) -> ModelError:
    with serving(script) as server, pytest.raises(ModelError) as caught:
        asyncio.run(ask_at(server.url, timeouts))
    assert server.total == 1
    return caught.value


def refused(status: int, error: Any, headers: Mapping[str, str] | None = None) -> Served:
    return json_answer({"error": error} if isinstance(error, dict) else error, status, headers)


def says(message: str, **more: Any) -> dict[str, Any]:
    return {"message": message, **more}


# --- by status and words

TOO_LONG = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "the request exceeds the available context size. try increasing the context size",
    "Please reduce the length of the messages or completion.",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500",
    "`inputs` tokens + `max_new_tokens` must be <= 4097",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "Input is too long for requested model.",
    "Your request exceeded model token limit: 8192 (requested: 9000)",
    "prompt token count of 70000 exceeds the limit of 64000",
]
UNKNOWN = [
    (404, says("The model `gpt-9` does not exist or you do not have access to it.", code="model_not_found")),
    (404, says('model "gpt-9" not found, try pulling it first')),
    (404, {"object": "error", "message": "The model `gpt-9` does not exist.", "code": 404}),
    (400, {"error": "gpt-9 is not a valid model ID"}),
    (400, says("Model Not Exist", type="invalid_request_error")),
    (400, {"message": "Invalid model: gpt-9", "type": "invalid_model", "code": "1500"}),
    (400, says("The model `old` has been decommissioned", code="model_decommissioned")),
    (404, [{"error": {"code": 404, "message": "models/gpt-9 is not found, no such model"}}]),
]
FILTERED = [
    (400, says("The response was filtered", code="content_filter")),
    (400, says("Content Exists Risk")),
    (400, says("Input data may contain inappropriate content", code="data_inspection_failed")),
    (400, says("Your prompt was flagged as potentially violating our usage policy", code="invalid_prompt")),
    (403, says("openai/x requires moderation. Your input was flagged", code=403)),
]


@pytest.mark.parametrize(
    ("served", "kind", "error_class"),
    [
        (refused(400, says("temperature must be below 2")), PermanentError, "bad_request"),
        (refused(422, {"detail": [{"loc": ["body"], "msg": "field required"}]}), PermanentError, "bad_request"),
        (refused(404, {"detail": "Not Found"}), PermanentError, "bad_request"),
        (html("404 Not Found", 404), PermanentError, "bad_request"),
        (refused(413, says("Payload too large")), PermanentError, "context_too_long"),
        *((refused(400, says(text)), PermanentError, "context_too_long") for text in TOO_LONG),
        (refused(500, says(TOO_LONG[4])), PermanentError, "context_too_long"),
        (refused(400, says("too long", code="context_length_exceeded")), PermanentError, "context_too_long"),
        *((refused(status, error), PermanentError, "filtered") for status, error in FILTERED),
        *((refused(status, error), FatalError, "unknown_model") for status, error in UNKNOWN),
        (refused(401, says("Incorrect API key provided")), FatalError, "auth"),
        (refused(403, says("Country not supported")), FatalError, "auth"),
        (Served(status=302, headers={"location": "https://login.test/?next=1"}), FatalError, "bad_request"),
        (refused(402, says("Payment required")), QuotaError, "quota"),
        (refused(429, says("You exceeded your current quota, please check your plan")), QuotaError, "quota"),
        (refused(429, says("no", code="insufficient_quota")), QuotaError, "quota"),
        (refused(429, says("Your credit balance is too low")), QuotaError, "quota"),
        (refused(429, says("Quota exceeded for requests per minute")), TransientError, "rate_limited"),
        (refused(429, says("Rate limit reached; to raise your quota see billing")), TransientError, "rate_limited"),
        (refused(429, says("slow down")), TransientError, "rate_limited"),
        (Served(status=429), TransientError, "rate_limited"),
        (refused(408, says("timeout")), TransientError, "timeout"),
        (refused(409, says("conflict")), TransientError, "server"),
        (refused(500, says("internal error")), TransientError, "server"),
        (refused(500, says("The engine is overloaded")), TransientError, "overloaded"),
        (html("Bad gateway", 502, "application/json"), TransientError, "server"),
        (refused(503, says("Loading model")), TransientError, "overloaded"),
        (Served(status=529), TransientError, "overloaded"),
    ],
    ids=lambda value: f"{value.status} {value.body[11:45]!a}" if isinstance(value, Served) else None,
)
def test_a_refusal_is_the_fault_its_status_and_words_say(
    served: Served, kind: type[ModelError], error_class: str
) -> None:
    caught = fault(served)
    assert (type(caught), caught.error_class, caught.http_status) == (kind, error_class, served.status)


@pytest.mark.parametrize("status", [400, 401, 402, 404, 408, 429, 500, 503, 529])
def test_what_the_server_refused_is_not_billed(status: int) -> None:
    assert not fault(refused(status, says("no"))).maybe_billed


@pytest.mark.parametrize("status", [502, 504, 524])
def test_what_a_gateway_lost_may_be_billed(status: int) -> None:
    assert fault(html("gateway", status)).maybe_billed


def test_the_first_200_characters_of_a_page_are_kept() -> None:
    message = str(fault(html("y" * 500, 502)))
    assert "<html><head><title>yyy" in message
    assert "y" * 200 not in message


def test_a_redirect_is_not_followed() -> None:
    with serving() as other:
        caught = fault(Served(status=307, headers={"location": f"{other.url}/chat/completions?token=1"}))
        assert other.total == 0
    assert f"{other.url}/chat/completions;" in str(caught)


# --- Retry-After


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Sun, 29 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_the_server_asks_for_is_read(headers: dict[str, str], wait_s: float | None) -> None:
    async def run(url: str) -> None:
        origin = read_origin(Endpoint(name="test", client="openai", url=url), INTERFACE)
        dialect = ChatDialect(faults=FaultTable(origin, "chat completion"))
        client = WireClient(HttpxExchange(origin), dialect, now=lambda: NOON)
        try:
            await client.ask(QUESTION)
        finally:
            await client.close()

    with serving(refused(429, says("slow down"), headers)) as server, pytest.raises(TransientError) as caught:
        asyncio.run(run(server.url))
    assert caught.value.retry_after_s == wait_s


@given(st.text())
def test_no_retry_after_header_is_a_fault_of_its_own(text: str) -> None:
    wait_s = wait_asked_s({"retry-after": text}, NOON)
    assert wait_s is None or wait_s >= 0


# --- connections and time


def test_a_server_that_is_not_there_is_transient_and_not_billed() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(TransientError, match=r"cannot connect to 127\.0\.0\.1") as caught:
            asyncio.run(ask_at(url, {}))
    assert (caught.value.error_class, caught.value.maybe_billed) == ("transport", False)


def test_a_server_that_never_accepts_runs_into_the_connect_timeout_and_is_not_billed() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        try:
            with pytest.raises(TransientError) as caught:
                asyncio.run(ask_at(f"http://127.0.0.1:{address[1]}/v1", {"connect": 0.2}))
        finally:
            for filler in fillers:
                filler.close()
    assert "no connection within 0.2 s" in str(caught.value)
    assert not caught.value.maybe_billed


@pytest.mark.parametrize("served", [dropped(), completion("abc").cut(0), completion("abc").cut(20)])
def test_a_cut_connection_is_transient_and_maybe_billed(served: Served) -> None:
    caught = fault(served)
    assert (type(caught), caught.error_class, caught.maybe_billed) == (TransientError, "transport", True)


def test_a_server_that_speaks_no_http_is_transient() -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(nonsense, "127.0.0.1", 0)
        async with server:
            await ask_at(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", {})

    with pytest.raises(TransientError) as caught:
        asyncio.run(run())
    assert caught.value.error_class == "malformed"


@pytest.mark.parametrize(
    ("served", "phase"),
    [
        (completion().hanging(), "first_byte"),
        (completion("x" * 200).trickled(100, 5.0), "between_bytes"),
        (completion("x" * 2000).trickled(10, 0.05), "total"),
    ],
    ids=["first_byte", "between_bytes", "total"],
)
def test_each_phase_has_its_own_timeout_and_its_name_is_told(served: Served, phase: str) -> None:
    timeouts = {"first_byte": 5.0, "between_bytes": 5.0, "total": 8.0, phase: 0.3}
    began = time.perf_counter()
    caught = fault(served, **timeouts)
    assert time.perf_counter() - began < 4
    assert (caught.error_class, caught.maybe_billed) == ("timeout", True)
    assert f"`{phase}`" in str(caught)


def test_a_slow_answer_within_each_phase_is_no_fault() -> None:
    with serving(completion("drip").trickled(30, 0.02)) as server:
        reply = asyncio.run(ask_at(server.url, {"first_byte": 1.0, "between_bytes": 1.0}))
    assert reply.text == "drip"


def test_a_body_over_the_limit_is_refused_while_it_is_read() -> None:
    async def run(url: str) -> None:
        origin = read_origin(Endpoint(name="test", client="openai", url=url), INTERFACE)
        dialect = ChatDialect(faults=FaultTable(origin, "chat completion"))
        client = WireClient(HttpxExchange(origin, body_limit_bytes=1_000_000), dialect)
        try:
            await client.ask(QUESTION)
        finally:
            await client.close()

    with serving(completion().padded(500_000_000)) as server:
        with pytest.raises(PermanentError) as caught:
            asyncio.run(run(server.url))
        assert (caught.value.error_class, caught.value.maybe_billed) == ("malformed", True)
        for _ in range(1_000):  # the server notices a closed connection when it next writes
            if server.abandoned:
                break
            time.sleep(0.01)
    assert server.abandoned == 1


def test_a_call_that_is_cancelled_leaves_the_server_and_the_client_usable() -> None:
    async def run() -> tuple[str, int]:
        async with LoopbackServer([completion().hanging(), completion("next")]) as server:
            client = open_client(Endpoint(name="test", client="openai", url=server.url))
            call = asyncio.create_task(client.ask(QUESTION))
            while server.total == 0:
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            text = (await client.ask(QUESTION)).text
            await client.close()
            return text, server.abandoned

    assert asyncio.run(run()) == ("next", 1)


# --- the connections of many calls


def test_more_calls_are_in_flight_than_the_hundred_of_the_library_s_own_limit() -> None:
    async def run() -> int:
        async with LoopbackServer(completion().after(1.0)) as server:
            client = open_client(Endpoint(name="test", client="openai", url=server.url))
            await asyncio.gather(*(client.ask(QUESTION) for _ in range(150)))
            await client.close()
            return server.max_in_flight

    assert asyncio.run(run()) > 100


def test_calls_one_after_the_other_share_a_connection() -> None:
    async def run() -> int:
        async with LoopbackServer() as server:
            client = open_client(Endpoint(name="test", client="openai", url=server.url))
            for _ in range(5):
                await client.ask(QUESTION)
            await client.close()
            return server.connections

    assert asyncio.run(run()) == 1


def test_a_cookie_of_the_server_is_not_sent_back() -> None:
    answer = completion()
    with_cookie = Served(body=answer.body, headers={**answer.headers, "set-cookie": "a=b; Path=/"})

    async def run(url: str) -> None:
        client = open_client(Endpoint(name="test", client="openai", url=url))
        await client.ask(QUESTION)
        await client.ask(QUESTION)
        await client.close()

    with serving(with_cookie) as server:
        asyncio.run(run(server.url))
    assert all("cookie" not in request.headers for request in server.received)
