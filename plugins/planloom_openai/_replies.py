"""What an answer with status 2xx means. Everything a server can do here has one outcome:

===============================================  ==================================================================
answer                                           outcome
===============================================  ==================================================================
``content`` text                                 the reply's text
``content`` a list of parts, or one of them      their text in order; thinking parts and pictures left out
``content`` any other object                     its JSON
tool calls, with or without content              content, then the arguments of each call, a line each
``refusal`` and nothing else                     its text, finish reason ``content_filter``: not whole
``reasoning_content``, ``<think>`` apart         never in the text
``content`` null or empty, finish reason stop    a reply with an empty text: not whole, the caller decides
finish reason length, content_filter, error      a reply with the text so far and that reason: not whole
nothing but a finish reason that is not stop     a reply with an empty text and that reason
finish reason missing, null, "null" or empty     a reply with finish reason ``None``
eos, complete, model_length, recitation, ...,    the reason of the standard that they stand for
and any reason in capitals
any other finish reason                          a reply with that reason: not whole
usage missing, a zero prompt, NaN, a fraction,   that count is ``None``: not said
more than a billion, more cached than there is
counts as texts, or as 20.0                      read all the same
a total above the sum, or more thinking than     the rest is thinking that is billed: counted with the
answer                                           answer's tokens
model missing                                    the model that was asked
several choices                                  the first
events, asked for or not                         put together; a stream that stops early is ``malformed``
a stream that breaks off, goes silent or         whole when it had said its finish reason
becomes nonsense
NaN or an infinity in the envelope               null, since servers write them in fields that nobody reads
one key twice in an object, different values     ``malformed`` when it is a key that is read; else the last one
a lone surrogate in the text                     U+FFFD in its place, since it cannot be stored
the endpoint's key in the text                   ``[key]`` in its place
an error object and no choices, or in a choice   a fault by what it says (``_faults``)
without a text
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
    tells_error,
    text_in,
)

from ._chunks import completion_of_events, reason_in

__all__ = ["read_reply"]

ENVELOPE_KEYS = ("choices", "error", "model", "usage", "prompt_tokens", "completion_tokens")
MESSAGE_KEYS = ("message", "finish_reason", "content", "text", "refusal", "tool_calls", "function", "arguments")
READ_KEYS = frozenset(ENVELOPE_KEYS + MESSAGE_KEYS)
# What TGI, Together, Cohere, Gemini, Mistral, GLM, SGLang and the API before tools call the reasons of the standard.
FINISH_REASONS = {
    **dict.fromkeys(("eos", "eos_token", "complete"), "stop"),
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length", "limit"), "length"),
    **dict.fromkeys(("safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive"), "content_filter"),
    "function_call": "tool_calls",
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
        if tells_error(value):
            raise faults.in_success(value, answer, now)
        raise faults.malformed(answer, "no choices")
    message = mapping_in(choice.get("message") or choice.get("delta"))
    text = faults.without_key(storable(_text_of(message)))
    if choice.get("error") and not text:
        raise faults.in_success(choice, answer, now)
    return Reply(
        text=text,
        finish_reason=_finish_reason(faults.without_key(text_in(reason_in(choice)) or ""), message),
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
    choices = value.get("choices") if isinstance(value, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return None
    held = choice.get("message") or choice.get("delta") or choice.get("error")
    # Nothing but a reason is what some filters leave of an answer.
    left = not held and text_in(reason_in(choice)) not in (None, "stop")
    return choice if left or isinstance(held, dict) else None


def _finish_reason(said: str, message: Mapping[str, Any]) -> str | None:
    reason = said.lower().partition(":")[0]  # Gemini: `content_filter: RECITATION`
    if reason in ("", "stop") and _is_refusal(message):
        return "content_filter"
    return FINISH_REASONS.get(reason, reason) or None


def _is_refusal(message: Mapping[str, Any]) -> bool:
    return bool(message.get("refusal")) and not _said(message)


def _text_of(message: Mapping[str, Any]) -> str:
    texts = _said(message)
    if texts:
        return texts[0] if len(texts) == 1 else "\n".join(texts)
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) else _content(message.get("content"))


def _said(message: Mapping[str, Any]) -> list[str]:
    """Return what a message says and what it calls tools with, but for what is blank."""
    return [text for text in (_content(message.get("content")), *_arguments(message)) if text.strip()]


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _part(content) if "text" in content else json.dumps(content, ensure_ascii=False)
    parts = content if isinstance(content, list) else ()
    return "".join([part if isinstance(part, str) else _part(mapping_in(part)) for part in parts])


def _part(part: Mapping[str, Any]) -> str:
    """Return the text of one part of a content; thinking and pictures have none."""
    if part.get("type", "text") not in ("text", "output_text", "refusal"):
        return ""
    text = part.get("text", part.get("refusal"))
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else ""


def _arguments(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments of each tool call, and of the older single ``function_call``."""
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    for function in (*functions, message.get("function_call")):
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, str):
            yield arguments
        elif isinstance(arguments, dict):
            yield json.dumps(arguments, ensure_ascii=False)


def _usage(value: Any, text: str) -> Usage:
    usage = value if isinstance(value, dict) else {}
    prompt_details = mapping_in(usage.get("prompt_tokens_details"))
    completion_details = mapping_in(usage.get("completion_tokens_details"))
    cached = count_in(
        prompt_details.get("cached_tokens", usage.get("prompt_cache_hit_tokens", usage.get("cached_tokens")))
    )
    prompt = count_in(usage.get("prompt_tokens", usage.get("input_tokens")))
    completion = count_in(usage.get("completion_tokens", usage.get("output_tokens")))
    reasoning = count_in(completion_details.get("reasoning_tokens"))
    if prompt is not None and completion is not None:
        completion += _apart(prompt, completion, reasoning or 0, count_in(usage.get("total_tokens")))
    return Usage(
        # Every question has a token and every text took one: a zero there is a server that does not count.
        prompt_tokens=prompt or None,
        cached_prompt_tokens=None if cached is not None and prompt is not None and cached > prompt else cached,
        completion_tokens=None if completion == 0 and text else completion,
        reasoning_tokens=reasoning,
    )


def _apart(prompt: int, completion: int, reasoning: int, total: int | None) -> int:
    """Return the tokens of thinking that a server bills and does not count among those of its answer: xAI says them
    apart, Gemini's interface in the total alone."""
    if total is not None and total >= prompt + completion:
        return total - prompt - completion
    return reasoning if reasoning > completion else 0
