"""What an answer with status 2xx means. Everything a server can do here has one outcome:

===============================================  ==================================================================
answer                                           outcome
===============================================  ==================================================================
``content`` text                                 the reply's text
``content`` a list of parts                      their text in order; thinking parts and pictures left out
tool calls, with or without content              content, then the arguments of each call, a line each
``refusal`` and nothing else                     its text
``reasoning_content``, ``<think>`` apart         never in the text
``content`` null or empty, finish reason stop    a reply with an empty text: not whole, the caller decides
finish reason length, content_filter, error      a reply with the text so far and that reason: not whole
finish reason missing, null or empty             a reply with finish reason ``None``
eos, eos_token, complete, function_call, and     the reason of the standard that they stand for
any reason in capitals
any other finish reason                          a reply with that reason: not whole
usage missing, a zero prompt, NaN, a fraction,   that count is ``None``: not said
more than a billion
model missing                                    the model that was asked
several choices                                  the first
events, asked for or not                         put together; a stream that stops early is ``malformed``
NaN or an infinity in the envelope               null, since servers write them in fields that nobody reads
one key twice in an object, different values     ``malformed`` when it is a key that is read; else the last one
a lone surrogate in the text                     U+FFFD in its place, since it cannot be stored
the endpoint's key in the text                   ``[key]`` in its place
an error object and no choices                   a fault by what it says (``_faults``)
an error in a stream, behind a finish reason     no fault: the answer is whole
HTML, other JSON, no choices, not UTF-8, empty   TransientError ``malformed``, its first 200 characters kept
===============================================  ==================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from planloom import Usage
from planloom.questions import Reply
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
    text_in,
)

from ._chunks import completion_of_events

__all__ = ["read_reply"]

ENVELOPE_KEYS = ("choices", "error", "model", "usage", "prompt_tokens", "completion_tokens")
MESSAGE_KEYS = ("message", "finish_reason", "content", "text", "refusal", "tool_calls", "function", "arguments")
READ_KEYS = frozenset(ENVELOPE_KEYS + MESSAGE_KEYS)
# What TGI, Together, Cohere, Gemini and the API before tools call the reasons of the standard.
FINISH_REASONS = {
    "eos": "stop",
    "eos_token": "stop",
    "complete": "stop",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "safety": "content_filter",
}


def read_reply(answer: Answer, model: str, seconds: float, faults: FaultTable, now: datetime) -> Reply:
    """Return the reply that an answer holds.

    :param model: the model that was asked. :param now: what moments in it are counted from.
    :raises ModelError: the answer is a refusal or no chat completion.
    """
    if not 200 <= answer.status < 300:
        raise faults.refused(answer, now)
    value = _completion(answer, faults)
    choice = _first_choice(value)
    if choice is None:
        if isinstance(value, Mapping) and (value.get("error") or value.get("object") == "error"):
            raise faults.in_success(value, answer, now)
        raise faults.malformed(answer, "no choices")
    text = faults.without_key(storable(_text_of(choice["message"])))
    return Reply(
        text=text,
        finish_reason=_finish_reason(choice),
        usage=_usage(value.get("usage"), text),
        seconds=seconds,
        model=faults.without_key(text_in(value.get("model")) or model),
    )


def _completion(answer: Answer, faults: FaultTable) -> Any:
    try:
        if looks_like_events(answer.headers.get("content-type", ""), answer.body):
            return completion_of_events(answer.body, _parse)
        return _parse(answer.body)
    except (ValueError, RecursionError, Unfinished) as error:
        reason = str(error) if isinstance(error, Ambiguous | Unfinished) else "not JSON"
        raise faults.malformed(answer, reason) from None


def _parse(body: bytes | str) -> Any:
    return parse_json(body, READ_KEYS)


def _first_choice(value: Any) -> Mapping[str, Any] | None:
    choices = value.get("choices") if isinstance(value, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping):
        return choice
    return None


def _finish_reason(choice: Mapping[str, Any]) -> str | None:
    reason = text_in(choice.get("finish_reason"))
    return FINISH_REASONS.get(reason.lower(), reason.lower()) if reason else None


def _text_of(message: Mapping[str, Any]) -> str:
    content = "".join(_content(message.get("content")))
    texts = [text for text in (content, *_arguments(message)) if text.strip()]
    if texts:
        return texts[0] if len(texts) == 1 else "\n".join(texts)
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) else content


def _content(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text", "refusal"):
            text = part.get("text", part.get("refusal"))
            yield text if isinstance(text, str) else ""


def _arguments(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments of each tool call, and of the older single ``function_call``."""
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    for function in (*functions, message.get("function_call")):
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        if isinstance(arguments, str):
            yield arguments
        elif isinstance(arguments, Mapping):
            yield json.dumps(arguments, ensure_ascii=False)


def _usage(value: Any, text: str) -> Usage:
    usage = value if isinstance(value, Mapping) else {}
    prompt_details = mapping_in(usage.get("prompt_tokens_details"))
    completion_details = mapping_in(usage.get("completion_tokens_details"))
    cached = prompt_details.get("cached_tokens", usage.get("prompt_cache_hit_tokens", usage.get("cached_tokens")))
    completion = count_in(usage.get("completion_tokens"))
    return Usage(
        # Every question has a token and every text took one: a zero there is a server that does not count.
        prompt_tokens=count_in(usage.get("prompt_tokens")) or None,
        cached_prompt_tokens=count_in(cached),
        completion_tokens=None if completion == 0 and text else completion,
        reasoning_tokens=count_in(completion_details.get("reasoning_tokens")),
    )
