"""What an answer with status 2xx means. Everything a server can do here has one outcome:

===============================================  ==================================================================
answer                                           outcome
===============================================  ==================================================================
blocks of text                                   their text in order
the tool that the answer was asked as            its input as JSON, and nothing else
other tools                                      the text, then the input of each, a line each
a text in the place of a block, or of all        that text
thinking, redacted thinking, any other block     never in the text
no block of text                                 a reply with an empty text: not whole, the caller decides
stop reason end_turn, stop_sequence              finish reason of that name
tool_use                                         finish reason ``tool_calls``
max_tokens, model_context_window_exceeded        finish reason ``length``: not whole
refusal                                          finish reason ``content_filter``: not whole
pause_turn, or one that is new                   finish reason of that name: not whole
stop reason missing or null                      a reply with finish reason ``None``
input, written to and read from the cache        prompt tokens are their sum, cached ones those that were read
usage missing, a zero prompt, NaN, a fraction,   that count is ``None``: not said
more than a billion
model missing                                    the model that was asked
events, asked for or not                         put together; a stream that stops early is ``malformed``
a stream that breaks off, goes silent, becomes   whole when it had said its stop reason
nonsense or an error
one key twice in an object, different values     ``malformed`` when it is a key that is read; else the last one
a lone surrogate in the text                     U+FFFD in its place, since it cannot be stored
the endpoint's key in the text                   ``[key]`` in its place
an error object, also in mid-stream              a fault by what it says (``planloom.wire``)
HTML, other JSON, no content, not UTF-8, empty   TransientError ``malformed``, its first 200 characters kept
===============================================  ==================================================================
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from planloom import Usage
from planloom.questions import Question, Reply
from planloom.wire import (
    Ambiguous,
    Answer,
    FaultTable,
    Unfinished,
    count_in,
    looks_like_events,
    mapping_in,
    parse_json,
    storable,
    tells_error,
    text_in,
)

from ._events import message_of_events
from ._requests import AnswerTool, answer_tool

__all__ = ["read_reply"]

ENVELOPE_KEYS = ("content", "error", "model", "stop_reason", "usage", "input_tokens", "output_tokens")
BLOCK_KEYS = ("type", "text", "input", "name", "delta", "content_block", "partial_json", "message")
READ_KEYS = frozenset(ENVELOPE_KEYS + BLOCK_KEYS)
FINISH_REASONS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "tool_use": "tool_calls",
}


def read_reply(answer: Answer, question: Question, seconds: float, faults: FaultTable, now: datetime) -> Reply:
    """Return the reply that an answer holds.

    :param now: what moments in it are counted from.
    :raises ModelError: the answer is a refusal or no message.
    """
    if not 200 <= answer.status < 300:
        raise faults.refused(answer, now)
    value = _message(answer, faults)
    content = _content(value)
    if content is None:
        if tells_error(value):
            raise faults.in_success(value, answer, now)
        raise faults.malformed(answer, "no content")
    text = faults.without_key(storable(_text_of(content, question)))
    reason = faults.without_key(text_in(value.get("stop_reason")) or "").lower()
    return Reply(
        text=text,
        finish_reason=FINISH_REASONS.get(reason, reason) or None,
        usage=_usage(mapping_in(value.get("usage")), text),
        seconds=seconds,
        model=faults.without_key(text_in(value.get("model")) or question.model),
    )


def _message(answer: Answer, faults: FaultTable) -> Any:
    try:
        if looks_like_events(answer.headers.get("content-type", ""), answer.body):
            return message_of_events(answer.body, _parse)
        return _parse(answer.body)
    except (ValueError, RecursionError, Unfinished) as error:
        reason = str(error) if isinstance(error, Ambiguous | Unfinished) else "not JSON"
        raise faults.malformed(answer, reason) from None


def _content(value: Any) -> list[Mapping[str, Any]] | None:
    """Return the blocks of a message; of one that has stopped also a text in the place of blocks, or nothing."""
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list) and isinstance(value, dict) and text_in(value.get("stop_reason")):
        content = [content] if isinstance(content, str) else [] if content is None else content
    if not isinstance(content, list):
        return None
    return [{"text": block} if isinstance(block, str) else mapping_in(block) for block in content]


def _parse(body: bytes | str) -> Any:
    return parse_json(body, READ_KEYS)


def _text_of(blocks: list[Mapping[str, Any]], question: Question) -> str:
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type", "text") == "text")
    tool = answer_tool(question)
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    inputs = [_input_text({} if block.get("input") is None else block["input"], tool) for block in calls]
    if not inputs:
        return text
    return "\n".join(inputs if tool else (piece for piece in (text, *inputs) if piece.strip()))


def _input_text(given: Any, tool: AnswerTool | None) -> str:
    """Return a tool's input as JSON; one that was streamed is JSON already, or the beginning of it."""
    if isinstance(given, str):
        if tool is None or not tool.wrapped:
            return given
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return str(given)
    return json.dumps(given if tool is None else tool.answer_in(given), ensure_ascii=False)


def _usage(usage: Mapping[str, Any], text: str) -> Usage:
    read = count_in(usage.get("cache_read_input_tokens"))
    fresh = count_in(usage.get("input_tokens"))
    written = count_in(usage.get("cache_creation_input_tokens"))
    completion = count_in(usage.get("output_tokens"))
    details = mapping_in(usage.get("output_tokens_details"))
    return Usage(
        # Every question has a token and every text took one: a zero there is a server that does not count.
        prompt_tokens=None if fresh is None else (fresh + (written or 0) + (read or 0)) or None,
        cached_prompt_tokens=read,
        completion_tokens=None if completion == 0 and text else completion,
        reasoning_tokens=count_in(details.get("thinking_tokens")),
    )
