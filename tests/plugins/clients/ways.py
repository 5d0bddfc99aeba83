"""The dialects of model servers, streamed and not, and how a client of each is asked."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from planloom.clients import Endpoint, ModelClient, ModelError
from planloom.questions import Question, Reply, message_of
from planloom.testing.loopback import (
    Script,
    Served,
    api_error,
    completion,
    event_stream,
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


def packed_blanks(megabytes: int) -> bytes:
    """Return as many million blanks, packed; the sum at its end is missing, since nobody is to read so far."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    million = packer.compress(b" " * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(b"")[:10] + million * megabytes + zlib.compressobj(wbits=-zlib.MAX_WBITS).flush()


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


def packed(served: Served) -> Served:
    return Served(body=gzip.compress(served.body), headers={**served.headers, "content-encoding": "gzip"})


def length_said(way: Way, more_bytes: int) -> Served:
    answer = Way(way.client, stream=False).answer("x" * 200)
    length = str(len(answer.body) + more_bytes)
    return attrs.evolve(answer, headers={**answer.headers, "content-length": length}, hang_up=True)
