"""Which fault a refusal is: by its status first, and by its words where servers put different things in one status.

=======================================  =====================================  =========================  ======
answer                                   fault                                  error class                billed
=======================================  =====================================  =========================  ======
402; any status with a quota code;       QuotaError                             quota                      no
429 that says quota, credit or balance
429 otherwise                            TransientError                         rate_limited               no
401, 403                                 FatalError                             auth                       no
403 that says flagged or moderation      PermanentError                         filtered                   no
4xx that does not know the model         FatalError                             unknown_model              no
4xx or 5xx that says too long; 413       PermanentError                         context_too_long           no
4xx that says filtered                   PermanentError                         filtered                   no
3xx                                      FatalError (never followed)            bad_request                no
408; 409                                 TransientError                         timeout; server            no
503, 529, 5xx that says overloaded       TransientError                         overloaded                 no
500 and other 5xx                        TransientError                         server                     no
502, 504, 520 to 524: a gateway lost     TransientError                         server                     maybe
what a model may have answered
400, 404, 422, any other 4xx             PermanentError                         bad_request                no
200 with an error object                 by the status in its code, else by     overloaded, server, ...    maybe
                                         its words, else TransientError
200 that cannot be read                  TransientError                         malformed                  maybe
a body over the limit                    PermanentError (it would come again)   malformed                  maybe
=======================================  =====================================  =========================  ======
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import attrs

from planloom.clients import FatalError, ModelError, PermanentError, QuotaError, TransientError

from ._origin import Origin

__all__ = [
    "Refusal",
    "fault_in_success",
    "fault_of",
    "malformed",
    "redirect_in",
    "refusal_in",
    "retry_after_s",
    "storable",
]

EXCERPT_CHARACTERS = 200
NO_KEY = "set key_env of endpoint `{origin.name}` to the variable that holds the key"
LOST_BY_GATEWAY = frozenset({502, 504, *range(520, 525)})
OVERLOADED = frozenset({503, 529})

# Words of servers and gateways as of 2026-11: OpenAI, Azure, Anthropic, Gemini, xAI, Mistral, DeepSeek, Groq, Moonshot,
# Qwen, GLM, OpenRouter, Together, vLLM, SGLang, TGI, llama.cpp, LM Studio, Ollama.
QUOTA_CODE = re.compile(r"insufficient_quota|exceeded_current_quota|billing_hard_limit|insufficient_(balance|credits)")
QUOTA_WORDS = re.compile(
    r"\bquota\b|insufficient (balance|credit|funds)|\bbilling\b|spend(ing)? limit|out of credits|credit balance"
    r"|(monthly|daily|weekly) limit|usage limit"
)
RATE_WORDS = re.compile(r"per.?(min|sec)|rate.?limit|\b[tr]p[ms]\b|too many requests")
TOO_LONG = re.compile(
    r"context.?(length|size|window|limit)|maximum (context|model|prompt) length|prompt is too long|input is too long"
    r"|too large for model|reduce the length|input token count|exceeds? (the )?max(imum)? length|exceeded model token"
    r"|inputs?`? (tokens|must have less)|longer than the (model|maximum)|too many (input )?tokens"
    r"|prompt token count|string_above_max_length"
)
FILTERED = re.compile(
    r"content.?(filter|policy|management|moderation)|responsibleai|content exists risk|data.?inspection"
    r"|inappropriate content|flagged|moderation|safety system|usage policy|sensitive content"
)
UNKNOWN_MODEL = re.compile(
    r"model_?not_?(found|exist|available)|invalid_model|model_decommissioned|not a valid model|no such model"
    r"|(unknown|invalid) model\b|model not (found|exist)|unable to access model|no endpoints found"
    r"|model\b.{0,120}?(does not exist|not found|doesn't exist|is not available|has been (deprecated|decommissioned))"
)
BUSY = re.compile(r"overload|capacity|\bbusy\b|unavailable|try again later|loading model")
INVALID = re.compile(r"invalid_request|invalid request|badrequest|bad_request")


@attrs.frozen(kw_only=True)
class Refusal:
    """What a server said of its refusal.

    :ivar message: for people; ``words`` everything it said, in lower case, for the tables above.
    """

    message: str
    code: str
    words: str


def _excerpt(origin: Origin, body: bytes) -> str:
    """Return the first 200 characters of a body on one line, without the key."""
    text = body[: 20 * EXCERPT_CHARACTERS].decode("utf-8", "replace")
    return _short(origin, text) or "(nothing)"


def _short(origin: Origin, text: str) -> str:
    return " ".join(origin.scrub(storable(text)).split())[:EXCERPT_CHARACTERS]


def storable(text: str) -> str:
    """Return a text with U+FFFD for each lone surrogate: no file, terminal or database takes those."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def refusal_in(origin: Origin, value: Any, body: bytes) -> Refusal:
    """Return what an answer says is wrong, in whichever of the known shapes it says so."""
    if isinstance(value, list) and value:
        value = value[0]  # Gemini wraps its errors in a list
    error = value
    if isinstance(value, Mapping):
        error = value.get("error") or value.get("detail") or value
    if not isinstance(error, Mapping):
        text = error if isinstance(error, str) else ""
        return Refusal(message=_short(origin, text) or _excerpt(origin, body), code="", words=text.lower())
    message = error.get("message")
    text = message if isinstance(message, str) else json.dumps(error, ensure_ascii=False)
    code = error.get("code")
    return Refusal(
        message=_short(origin, text),
        code="" if code is None else str(code),
        words=json.dumps(error, ensure_ascii=False).lower()[:4000],
    )


def _status_in(refusal: Refusal) -> int | None:
    """Return the HTTP status that an error object names as its code."""
    return int(refusal.code) if re.fullmatch(r"[45]\d\d", refusal.code) else None


def fault_of(origin: Origin, status: int, refusal: Refusal, wait_s: float | None = None) -> ModelError:
    """Return the fault that a refusal with this status is."""
    kind, error_class, next_step = _kind_of(status, refusal)
    if error_class == "auth" and not origin.key:
        next_step = NO_KEY
    billed = status in LOST_BY_GATEWAY
    return kind(
        f"{origin.host} answered {status}: {refusal.message}; {next_step.format(origin=origin)}",
        error_class=error_class,
        http_status=status,
        retry_after_s=wait_s,
        maybe_billed=billed and kind is TransientError,
    )


_Kind = tuple[type[ModelError], str, str]

_QUOTA: _Kind = (QuotaError, "quota", "raise the account's limit, or wait until it is reset")
_AUTH: _Kind = (FatalError, "auth", "check the key in {origin.key_env} and what it may use")
_MODEL: _Kind = (FatalError, "unknown_model", "set a model that endpoint `{origin.name}` has")
_LONG: _Kind = (PermanentError, "context_too_long", "send less at once, or lower max_tokens")
_FILTERED: _Kind = (PermanentError, "filtered", "the server refuses this content")
_REDIRECT: _Kind = (
    FatalError,
    "bad_request",
    "redirects are not followed with a key; set the url of endpoint `{origin.name}` to it",
)
_RATE: _Kind = (TransientError, "rate_limited", "try again later")
_TIMEOUT: _Kind = (TransientError, "timeout", "it will be asked again")
_BUSY: _Kind = (TransientError, "overloaded", "try again later")
_SERVER: _Kind = (TransientError, "server", "it will be asked again")
_NOT_FOUND: _Kind = (PermanentError, "bad_request", "check the url of endpoint `{origin.name}`, now {origin.url}")
_BAD: _Kind = (PermanentError, "bad_request", "check the model's parameters against what the server takes")


def _kind_of(status: int, refusal: Refusal) -> _Kind:
    if status == 402 or QUOTA_CODE.search(refusal.words):
        return _QUOTA
    if status == 429:
        says_quota = QUOTA_WORDS.search(refusal.words) and not RATE_WORDS.search(refusal.words)
        return _QUOTA if says_quota else _RATE
    if status < 400:
        return _REDIRECT
    return _client_fault(status, refusal.words) if status < 500 else _server_fault(status, refusal.words)


def _client_fault(status: int, words: str) -> _Kind:
    by_status = {401: _AUTH, 404: _NOT_FOUND, 408: _TIMEOUT, 409: _SERVER}
    if status in (401, 408, 409):
        return by_status[status]
    if UNKNOWN_MODEL.search(words):
        return _MODEL
    if FILTERED.search(words):
        return _FILTERED
    if status == 403:
        return _AUTH
    if status == 413 or TOO_LONG.search(words):
        return _LONG
    return by_status.get(status, _BAD)


def _server_fault(status: int, words: str) -> _Kind:
    if TOO_LONG.search(words):
        return _LONG
    return _BUSY if status in OVERLOADED or BUSY.search(words) else _SERVER


def fault_in_success(origin: Origin, refusal: Refusal) -> ModelError:
    """Return the fault that an error object under status 200 is."""
    named = _status_in(refusal)
    if named is not None:
        return fault_of(origin, named, refusal)
    kind, error_class, next_step = _kind_by_words(refusal.words)
    return kind(
        f"{origin.host} answered 200 with an error: {refusal.message}; {next_step.format(origin=origin)}",
        error_class=error_class,
        http_status=200,
        maybe_billed=kind is TransientError,
    )


def _kind_by_words(words: str) -> _Kind:
    if QUOTA_CODE.search(words):
        return _QUOTA
    if RATE_WORDS.search(words):
        return _RATE
    if BUSY.search(words):
        return _BUSY
    for pattern, kind in ((TOO_LONG, _LONG), (UNKNOWN_MODEL, _MODEL), (FILTERED, _FILTERED), (INVALID, _BAD)):
        if pattern.search(words):
            return kind
    return _SERVER


def malformed(origin: Origin, status: int, body: bytes, reason: str) -> ModelError:
    """Return the fault of an answer with status 200 that is no chat completion."""
    return TransientError(
        f"{origin.host} answered {status} with something that is no chat completion ({reason}):"
        f" {_excerpt(origin, body)}; it will be asked again, check the url of endpoint `{origin.name}` if it stays so",
        error_class="malformed",
        http_status=status,
        maybe_billed=True,
    )


def redirect_in(origin: Origin, headers: Mapping[str, str]) -> Refusal:
    """Return what a redirect says: where it points, without the query."""
    location = headers.get("location", "").partition("?")[0].partition("#")[0]
    return Refusal(message=f"a redirect to {_short(origin, location) or '(nowhere)'}", code="", words="")


def retry_after_s(headers: Mapping[str, str], now: Callable[[], datetime]) -> float | None:
    """Return how long the server asks to wait: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "").strip()
    if not said:
        return None
    seconds = _number(said)
    return _until(said, now()) if seconds is None else seconds


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _until(date: str, now: datetime) -> float | None:
    try:
        at = parsedate_to_datetime(date)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
