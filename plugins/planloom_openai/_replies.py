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
usage missing, a zero prompt, NaN, a fraction    that count is ``None``: not said
model missing                                    the model that was asked
several choices                                  the first
events though not asked for                      put together; a stream that stops early is ``malformed``
NaN or an infinity in the envelope               null, since servers write them in fields that nobody reads
one key twice in an object, different values     ``malformed`` when it is a key that is read; else the last one
a lone surrogate in the text                     U+FFFD in its place, since it cannot be stored
an error object and no choices                   a fault by what it says (``_faults``)
HTML, other JSON, no choices, not UTF-8, empty   TransientError ``malformed``, its first 200 characters kept
===============================================  ==================================================================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from planloom import Usage
from planloom.questions import Reply

from ._exchange import Answer
from ._faults import (
    fault_in_success,
    fault_of,
    malformed,
    redirect_in,
    refusal_in,
    retry_after_s,
    storable,
)
from ._origin import Origin
from ._streams import Unfinished, completion_of_events, looks_like_events

__all__ = ["read_reply"]

ENVELOPE_KEYS = ("choices", "error", "model", "usage", "prompt_tokens", "completion_tokens")
MESSAGE_KEYS = ("message", "finish_reason", "content", "text", "refusal", "tool_calls", "function", "arguments")
READ_KEYS = frozenset(ENVELOPE_KEYS + MESSAGE_KEYS)


def read_reply(answer: Answer, model: str, seconds: float, origin: Origin, now: Callable[[], datetime]) -> Reply:
    """Return the reply that an answer holds.

    :param model: the model that was asked.
    :raises ModelError: the answer is a refusal or no chat completion.
    """
    if not 200 <= answer.status < 300:
        raise _refused(answer, origin, now)
    value = _completion(answer, origin)
    choice = _first_choice(value)
    if choice is None:
        if isinstance(value, Mapping) and (value.get("error") or value.get("object") == "error"):
            raise fault_in_success(origin, refusal_in(origin, value, answer.body))
        raise malformed(origin, answer.status, answer.body, "no choices")
    text = storable(_text_of(choice["message"]))
    return Reply(
        text=text,
        finish_reason=_said(choice.get("finish_reason")),
        usage=_usage(value.get("usage"), text),
        seconds=seconds,
        model=_said(value.get("model")) or model,
    )


def _refused(answer: Answer, origin: Origin, now: Callable[[], datetime]) -> Exception:
    if answer.status < 400:
        refusal = redirect_in(origin, answer.headers)
    else:
        refusal = refusal_in(origin, _json_or_none(answer.body), answer.body)
    return fault_of(origin, answer.status, refusal, retry_after_s(answer.headers, now))


def _completion(answer: Answer, origin: Origin) -> Any:
    try:
        if looks_like_events(answer.headers.get("content-type", ""), answer.body):
            return completion_of_events(answer.body, _parse)
        return _parse(answer.body)
    except (ValueError, RecursionError, Unfinished) as error:
        reason = str(error) if isinstance(error, _Ambiguous | Unfinished) else "not JSON"
        raise malformed(origin, answer.status, answer.body, reason) from None


def _json_or_none(body: bytes) -> Any:
    try:
        return _parse(body)
    except (ValueError, RecursionError):
        return None


class _Ambiguous(ValueError):
    """A key that is read stands twice in one object, with different values."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        for key, one in pairs:
            if key in READ_KEYS and one != value[key]:
                raise _Ambiguous(f"`{key}` stands twice in one object")
    return value


def _parse(body: bytes | str) -> Any:
    return json.loads(body, object_pairs_hook=_object, parse_constant=lambda _name: None)


def _first_choice(value: Any) -> Mapping[str, Any] | None:
    choices = value.get("choices") if isinstance(value, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping):
        return choice
    return None


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


def _said(value: Any) -> str | None:
    return storable(value) if isinstance(value, str) and value else None


def _usage(value: Any, text: str) -> Usage:
    usage = value if isinstance(value, Mapping) else {}
    prompt_details = _mapping(usage.get("prompt_tokens_details"))
    completion_details = _mapping(usage.get("completion_tokens_details"))
    cached = prompt_details.get("cached_tokens", usage.get("prompt_cache_hit_tokens", usage.get("cached_tokens")))
    completion = _count(usage.get("completion_tokens"))
    return Usage(
        # Every question has a token and every text took one: a zero there is a server that does not count.
        prompt_tokens=_count(usage.get("prompt_tokens")) or None,
        cached_prompt_tokens=_count(cached),
        completion_tokens=None if completion == 0 and text else completion,
        reasoning_tokens=_count(completion_details.get("reasoning_tokens")),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
