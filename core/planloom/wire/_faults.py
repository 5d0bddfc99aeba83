"""Which fault a refusal is: by its status first, and by its words where servers put different things in one status.

=======================================  =====================================  =========================  ======
answer                                   fault                                  error class                billed
=======================================  =====================================  =========================  ======
402; 4xx whose code or words say that    QuotaError                             quota                      no
the account is used up; 429 that says
quota, credit or balance
429 otherwise                            TransientError                         rate_limited               no
401, 403                                 FatalError                             auth                       no
403 that says flagged or moderation      PermanentError                         filtered                   no
4xx that does not know the model         FatalError                             unknown_model              no
4xx or 5xx that says too long; 413       PermanentError                         context_too_long           no
4xx that says filtered                   PermanentError                         filtered                   no
3xx that says where to                   FatalError (never followed)            bad_request                no
below 400 otherwise; 407                 FatalError                             bad_request                no
408; 409, 425                            TransientError                         timeout; server            no
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
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import attrs

from planloom.clients import FatalError, ModelError, PermanentError, QuotaError, TransientError

from ._bodies import parse_json, storable
from ._exchange import Answer
from ._origin import Origin
from ._waits import wait_asked_s

__all__ = ["FaultTable", "Refusal"]

EXCERPT_CHARACTERS = 200
SECRET_CHARACTERS = 16
NO_KEY = "set key_env of endpoint `{origin.name}` to the variable that holds the key"
LOST_BY_GATEWAY = frozenset({502, 504, *range(520, 525)})
OVERLOADED = frozenset({503, 529})
MODEL_LISTS = ("available_models", "known_models", "supported_models", "models", "data")
MODELS_SHOWN = 20

# Words of servers and gateways as of 2026-11: OpenAI, Azure, Anthropic, Gemini, xAI, Mistral, DeepSeek, Groq, Moonshot,
# Qwen, GLM, OpenRouter, Together, vLLM, SGLang, TGI, llama.cpp, LM Studio, Ollama.
QUOTA_CODE = re.compile(
    r"insufficient_quota|exceeded_current_quota|billing_(hard_limit|error|not_active)|insufficient_(balance|credits)"
    r"|credit balance is too low|reached your specified (api )?usage limits?"
)
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
    r'|not_found_error", "message": "model\b|"message": "model: [^"]{1,100}", "type": "not_found_error'
    r"|(unknown|invalid) model\b|model not (found|exist)|unable to access model|no endpoints found"
    r"|model\b.{0,120}?(does not exist|not found|doesn't exist|is not available|has been (deprecated|decommissioned))"
)
BUSY = re.compile(r"overload|capacity|\bbusy\b|unavailable|try again later|loading model")
AUTH = re.compile(r"authentication_error|permission_error|invalid_?api_?key|incorrect api key")
INVALID = re.compile(r"invalid_request|invalid request|badrequest|bad_request")


@attrs.frozen(kw_only=True)
class Refusal:
    """What a server said of its refusal.

    :ivar message: for people; ``words`` everything it said, in lower case, for the tables above.
    :ivar models: the models it says it knows.
    """

    message: str
    code: str = ""
    words: str = ""
    models: tuple[str, ...] = ()


class FaultTable:
    """The faults that answers of one server are.

    :param answer_name: what an answer should have been: "chat completion", "message".
    """

    def __init__(self, origin: Origin, answer_name: str) -> None:
        self._origin = origin
        self._answer_name = answer_name

    def without_key(self, text: str) -> str:
        """Return what a model says without the key, which a server may have put into it; a short one is an ordinary
        word, such as ``none``, and no secret."""
        return self._origin.scrub(text) if len(self._origin.key) >= SECRET_CHARACTERS else text

    def refused(self, answer: Answer, now: datetime) -> ModelError:
        """Return the fault that an answer without status 2xx is."""
        if answer.status < 400:
            return self._no_answer(answer)
        refusal = self.refusal_in(_json_or_none(answer.body), answer.body)
        return self._of(answer.status, refusal, wait_asked_s(answer.headers, now, refusal.words))

    def in_success(self, value: Any, answer: Answer, now: datetime) -> ModelError:
        """Return the fault that an error object under status 2xx is."""
        refusal = self.refusal_in(value, answer.body)
        wait_s = wait_asked_s(answer.headers, now, refusal.words)
        if re.fullmatch(r"[45]\d\d", refusal.code):
            status = int(refusal.code)
            return self._fault(_kind_of(status, refusal), status, refusal, wait_s, "", True)
        return self._fault(_kind_by_words(refusal.words), answer.status, refusal, wait_s, "with an error: ", True)

    def malformed(self, answer: Answer, reason: str) -> ModelError:
        """Return the fault of an answer with status 2xx that is none."""
        host, name = self._origin.host, self._origin.name
        return TransientError(
            f"{host} answered {answer.status} with something that is no {self._answer_name} ({reason}):"
            f" {self._excerpt(answer.body)}; check the url of endpoint `{name}` if it stays so",
            error_class="malformed",
            http_status=answer.status,
            maybe_billed=True,
        )

    def refusal_in(self, value: Any, body: bytes) -> Refusal:
        """Return what an answer says is wrong, in whichever of the known shapes it says so."""
        if isinstance(value, list) and value:
            value = value[0]  # Gemini wraps its errors in a list
        error = value
        if isinstance(value, Mapping):
            error = value.get("error") or value.get("detail") or value
        if not isinstance(error, Mapping):
            text = error if isinstance(error, str) else ""
            models = tuple(_models_in(value))
            return Refusal(message=self._short(text) or self._excerpt(body), words=text.lower(), models=models)
        message = error.get("message")
        text = message if isinstance(message, str) else json.dumps(error, ensure_ascii=False)
        code = error.get("code")
        return Refusal(
            message=self._short(text),
            code="" if code is None else str(code),
            words=json.dumps(error, ensure_ascii=False).lower()[:4000],
            models=tuple(_models_in(error)) or tuple(_models_in(value)),
        )

    def _no_answer(self, answer: Answer) -> ModelError:
        """Return the fault of an answer that is neither an answer nor a refusal: mostly a redirect."""
        location = self._short(answer.headers.get("location", "").partition("?")[0].partition("#")[0])
        if location:
            return self._fault(_REDIRECT, answer.status, Refusal(message=f"a redirect to {location}"), None, "", False)
        refusal = Refusal(message="neither an answer nor a refusal")
        return self._fault(_NO_ANSWER, answer.status, refusal, None, "", False)

    def _of(self, status: int, refusal: Refusal, wait_s: float | None) -> ModelError:
        return self._fault(_kind_of(status, refusal), status, refusal, wait_s, "", status in LOST_BY_GATEWAY)

    def _fault(
        self, found: _Kind, status: int, refusal: Refusal, wait_s: float | None, aside: str, maybe_billed: bool
    ) -> ModelError:
        kind, error_class, next_step = found
        if error_class == "auth" and not self._origin.key:
            next_step = NO_KEY
        known = f", it names: {', '.join(map(self._short, refusal.models))}" if refusal.models else ""
        separator = " " if aside else ": "
        return kind(
            f"{self._origin.host} answered {status}{separator}{aside}{refusal.message};"
            f" {next_step.format(origin=self._origin, known=known)}",
            error_class=error_class,
            http_status=status,
            retry_after_s=wait_s,
            maybe_billed=maybe_billed and kind is TransientError,
        )

    def _excerpt(self, body: bytes) -> str:
        """Return the first 200 characters of a body on one line, without the key."""
        return self._short(body[: 20 * EXCERPT_CHARACTERS].decode("utf-8", "replace")) or "(nothing)"

    def _short(self, text: str) -> str:
        return " ".join(self._origin.scrub(storable(text)).split())[:EXCERPT_CHARACTERS]


def _json_or_none(body: bytes) -> Any:
    try:
        return parse_json(body)
    except (ValueError, RecursionError):
        return None


def _models_in(value: Any) -> Iterator[str]:
    """Yield the names of the first list of models that an object has."""
    lists = (value.get(key) for key in MODEL_LISTS) if isinstance(value, Mapping) else ()
    for models in lists:
        if isinstance(models, list) and models:
            names = (model.get("id") if isinstance(model, Mapping) else model for model in models[:MODELS_SHOWN])
            yield from (name for name in names if isinstance(name, str))
            return


_Kind = tuple[type[ModelError], str, str]

_QUOTA: _Kind = (QuotaError, "quota", "raise the account's limit, or wait until it is reset")
_AUTH: _Kind = (FatalError, "auth", "check the key in {origin.key_env} and what it may use")
_MODEL: _Kind = (FatalError, "unknown_model", "set a model that endpoint `{origin.name}` has{known}")
_LONG: _Kind = (PermanentError, "context_too_long", "send less at once, or lower max_tokens")
_FILTERED: _Kind = (PermanentError, "filtered", "the server refuses this content")
_REDIRECT: _Kind = (
    FatalError,
    "bad_request",
    "redirects are not followed with a key; set the url of endpoint `{origin.name}` to it",
)
_RATE: _Kind = (TransientError, "rate_limited", "try again later")
_TIMEOUT: _Kind = (TransientError, "timeout", "try again later")
_BUSY: _Kind = (TransientError, "overloaded", "try again later")
_SERVER: _Kind = (TransientError, "server", "try again later")
_NO_ANSWER: _Kind = (FatalError, "bad_request", "check the url of endpoint `{origin.name}`, now {origin.url}")
_PROXY: _Kind = (
    FatalError,
    "bad_request",
    "the proxy on the way wants a name and password: put them into proxy of endpoint `{origin.name}`",
)
_NOT_FOUND: _Kind = (PermanentError, "bad_request", "check the url of endpoint `{origin.name}`, now {origin.url}")
_BAD: _Kind = (PermanentError, "bad_request", "check the model's parameters against what the server takes")


_WHATEVER_IT_SAYS = {401: _AUTH, 407: _PROXY, 408: _TIMEOUT, 409: _SERVER, 425: _SERVER}
_WRONG_ADDRESS = frozenset({404, 405, 410, 421, 426})


def _kind_of(status: int, refusal: Refusal) -> _Kind:
    if status == 402 or QUOTA_CODE.search(refusal.words):
        return _QUOTA
    if status == 429:
        says_quota = QUOTA_WORDS.search(refusal.words) and not RATE_WORDS.search(refusal.words)
        return _QUOTA if says_quota else _RATE
    return _client_fault(status, refusal.words) if status < 500 else _server_fault(status, refusal.words)


def _client_fault(status: int, words: str) -> _Kind:
    if status in _WHATEVER_IT_SAYS:
        return _WHATEVER_IT_SAYS[status]
    if UNKNOWN_MODEL.search(words):
        return _MODEL
    if FILTERED.search(words):
        return _FILTERED
    if status == 403:
        return _AUTH
    if status == 413 or TOO_LONG.search(words):
        return _LONG
    return _NOT_FOUND if status in _WRONG_ADDRESS else _mended(words)


def _server_fault(status: int, words: str) -> _Kind:
    if TOO_LONG.search(words):
        return _LONG
    return _BUSY if status in OVERLOADED or BUSY.search(words) else _SERVER


# What servers refuse of what is sent by default, and the setting that mends it.
_MENDED: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"max_completion_tokens"),
        'write rename = {{ max_tokens = "max_completion_tokens" }} under endpoint `{origin.name}`',
    ),
    (re.compile(r"stream_options|include_usage"), "write stream_usage = false under endpoint `{origin.name}`"),
    (
        re.compile(
            r"(temperature|top_p)\b.{0,80}(support|deprecated|unexpected|both|permitted)|both.{0,20}temperature"
        ),
        'write drop = ["temperature", "top_p"] under its role',
    ),
    (
        re.compile(r"response_format|json_schema|json_object|tool_choice|guided"),
        "write another json_mode under endpoint `{origin.name}`; `planloom doctor` finds out which it heeds",
    ),
)


def _mended(words: str) -> _Kind:
    """Return the fault of a request that the server does not take, with the setting that changes it."""
    kind, error_class, standard = _BAD
    return kind, error_class, next((step for pattern, step in _MENDED if pattern.search(words)), standard)


def _kind_by_words(words: str) -> _Kind:
    if QUOTA_CODE.search(words):
        return _QUOTA
    if RATE_WORDS.search(words):
        return _RATE
    if BUSY.search(words):
        return _BUSY
    table = (
        (TOO_LONG, _LONG),
        (UNKNOWN_MODEL, _MODEL),
        (FILTERED, _FILTERED),
        (AUTH, _AUTH),
        (INVALID, _mended(words)),
    )
    return next((kind for pattern, kind in table if pattern.search(words)), _SERVER)
