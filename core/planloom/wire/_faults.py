"""Which fault a refusal is: by its status first, and by its words where servers put different things in one status.

=======================================  =====================================  =========================  ======
answer                                   fault                                  error class                billed
=======================================  =====================================  =========================  ======
402; 4xx whose code or words say that    QuotaError                             quota                      no
the account is used up; 429 that says
quota, credit, balance, or a day
429 otherwise                            TransientError                         rate_limited               no
401, 403; 4xx that says so of the key    FatalError                             auth                       no
403 that says flagged or moderation      PermanentError                         filtered                   no
4xx that does not know the model         FatalError                             unknown_model              no
4xx or 5xx that says too long; 413       PermanentError                         context_too_long           no
4xx that says filtered                   PermanentError                         filtered                   no
4xx that says throttled                  TransientError                         rate_limited               no
4xx: the model's words made no JSON      TransientError                         malformed                  maybe
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
from contextlib import suppress
from datetime import datetime
from typing import Any

from planloom.clients import FatalError, ModelError, PermanentError, QuotaError, TransientError
from planloom.data_classes import frozen

from ._bodies import mapping_in, parse_json, storable
from ._events import looks_like_events, values_in
from ._exchange import Answer
from ._mends import mended
from ._origin import Origin
from ._waits import wait_asked_s
from ._words import (
    A_DAY,
    AUTH,
    BUSY,
    FILTERED,
    INVALID,
    MADE_NOTHING,
    NO_SUCH_ADDRESS,
    OTHER_PARAMETERS,
    QUOTA_CODE,
    QUOTA_WORDS,
    RATE_CODE,
    RATE_WORDS,
    TIMED_OUT,
    TOO_LONG,
    UNKNOWN_MODEL,
    said_in,
    title_in,
    words_of,
)

__all__ = ["FaultTable", "Refusal"]

EXCERPT_CHARACTERS = 200
SECRET_CHARACTERS = 16
NO_KEY = "set key_env of endpoint `{origin.name}` to the variable that holds the key"
CODES = ("code", "error_code", "status_code")
LOST_BY_GATEWAY = frozenset({502, 504, *range(520, 525)})
OVERLOADED = frozenset({503, 529})
MODEL_LISTS = ("available_models", "known_models", "supported_models", "models", "data")
MODELS_SHOWN = 20


@frozen(kw_only=True)
class Refusal:
    """What a server said of its refusal.

    :ivar message: for people; ``words`` everything it said, in lower case, for the tables above.
    :ivar models: the models it says it knows. :ivar is_page: it is a page for people, so that something else than a
        model server sent it.
    """

    message: str
    code: str = ""
    words: str = ""
    models: tuple[str, ...] = ()
    is_page: bool = False


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
        refusal = self.refusal_in(_value_in(answer), answer.body)
        wait_s = wait_asked_s(answer.headers, now, refusal.words)
        kind = _kind_of(answer.status, refusal)
        if kind is _AUTH and refusal.is_page:
            kind = _WALL
        return self._fault(kind, answer.status, refusal, wait_s, "", answer.status in LOST_BY_GATEWAY)

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
        error = _error_of(value) if isinstance(value, Mapping) else value
        models = tuple(_models_in(error)) or tuple(_models_in(value))
        if isinstance(error, Mapping):
            code = next((error[key] for key in CODES if error.get(key) is not None), "")
            text = said_in(error) or json.dumps(error, ensure_ascii=False)
            return Refusal(message=self._short(text), code=str(code), words=words_of(error), models=models)
        if isinstance(error, list):
            text = "; ".join(map(_part_of_list, error[:MODELS_SHOWN]))
            return Refusal(message=self._short(text) or self._excerpt(body), words=words_of(error), models=models)
        if isinstance(error, str):
            words = words_of(value) if isinstance(value, Mapping) else error.lower()
            return Refusal(message=self._short(error) or self._excerpt(body), words=words, models=models)
        shown = body[: 20 * EXCERPT_CHARACTERS].decode("utf-8", "replace")
        is_page = shown.lstrip("\ufeff \r\n\t").startswith("<")
        words = title_in(shown) if is_page else shown
        return Refusal(message=self._excerpt(body), words=words.lower(), is_page=is_page)

    def _no_answer(self, answer: Answer) -> ModelError:
        """Return the fault of an answer that is neither an answer nor a refusal: mostly a redirect."""
        location = self._short(answer.headers.get("location", "").partition("?")[0].partition("#")[0])
        if location:
            return self._fault(_REDIRECT, answer.status, Refusal(message=f"a redirect to {location}"), None, "", False)
        refusal = Refusal(message="neither an answer nor a refusal")
        return self._fault(_NO_ANSWER, answer.status, refusal, None, "", False)

    def _fault(
        self, found: _Kind, status: int, refusal: Refusal, wait_s: float | None, aside: str, maybe_billed: bool
    ) -> ModelError:
        kind, error_class, next_step = found
        maybe_billed = maybe_billed or found is _NOTHING
        if found is _AUTH and not self._origin.key:
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
        most = 20 * EXCERPT_CHARACTERS
        shown = body[: most + len(self._origin.key)].decode("utf-8", "replace")
        return self._short(self._origin.scrub(shown)[:most]) or "(nothing)"  # no key is cut in the middle

    def _short(self, text: str) -> str:
        return " ".join(self._origin.scrub(storable(text)).split())[:EXCERPT_CHARACTERS]


def _value_in(answer: Answer) -> Any:
    """Return the value of a refusal's body, ``None`` where it is no JSON; some servers refuse in an event."""
    with suppress(ValueError, RecursionError):
        if looks_like_events(answer.headers.get("content-type", ""), answer.body):
            return next((value for _, value in values_in(answer.body, parse_json) if isinstance(value, Mapping)), None)
        return parse_json(answer.body)
    return None


def _error_of(value: Mapping[str, Any]) -> Any:
    """Return the part of an object that says what is wrong."""
    errors = value.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    return value.get("error") or first or value.get("detail") or mapping_in(value.get("base_resp")) or value


def _part_of_list(error: Any) -> str:
    """Return one of several errors in words, with the place in the request that it is about."""
    if not isinstance(error, Mapping):
        return str(error)
    place = error.get("loc")
    said = said_in(error) or words_of(error)
    return f"{'.'.join(map(str, place))}: {said}" if isinstance(place, list) else said


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
_WALL: _Kind = (
    FatalError,
    "auth",
    "a page and not a model server refused this: look at what stands between (a firewall, a sign-in), and at the url"
    " of endpoint `{origin.name}`",
)
_MODEL: _Kind = (FatalError, "unknown_model", "set a model that endpoint `{origin.name}` has{known}")
_LONG: _Kind = (PermanentError, "context_too_long", "send less at once, or lower max_tokens")
_FILTERED: _Kind = (PermanentError, "filtered", "the server refuses this content")
_REDIRECT: _Kind = (
    FatalError,
    "bad_request",
    "redirects are not followed with a key; set the url of endpoint `{origin.name}` to it",
)
_RATE: _Kind = (TransientError, "rate_limited", "try again later")
_NOTHING: _Kind = (TransientError, "malformed", "write another json_mode under endpoint `{origin.name}` if it stays so")
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
    words = refusal.words
    if status == 402 or QUOTA_CODE.search(words):
        return _QUOTA
    if status == 429:
        return _QUOTA if _says_quota(words) else _RATE
    return _client_fault(status, words) if status < 500 else _server_fault(status, words)


def _says_quota(words: str) -> bool:
    """Whether a limit is one of the account, and not of the moment."""
    return bool(A_DAY.search(words) or (QUOTA_WORDS.search(words) and not RATE_WORDS.search(words)))


def _client_fault(status: int, words: str) -> _Kind:
    if status in _WHATEVER_IT_SAYS:
        return _WHATEVER_IT_SAYS[status]
    if OTHER_PARAMETERS.search(words):
        return mended(_BAD, words)
    table = ((UNKNOWN_MODEL, _MODEL), (FILTERED, _FILTERED), (AUTH, _AUTH))
    if kind := next((kind for pattern, kind in table if pattern.search(words)), None):
        return kind
    if status == 403:
        return _AUTH
    if status == 413 or TOO_LONG.search(words):
        return _LONG
    if RATE_CODE.search(words):
        return _RATE
    if MADE_NOTHING.search(words):
        return _NOTHING
    return _NOT_FOUND if status in _WRONG_ADDRESS else mended(_BAD, words)


def _server_fault(status: int, words: str) -> _Kind:
    if TOO_LONG.search(words):
        return _LONG
    return _BUSY if status in OVERLOADED or BUSY.search(words) else _SERVER


def _kind_by_words(words: str) -> _Kind:
    if QUOTA_CODE.search(words) or _says_quota(words):
        return _QUOTA
    table = (
        (RATE_WORDS, _RATE),
        (BUSY, _BUSY),
        (TIMED_OUT, _TIMEOUT),
        (TOO_LONG, _LONG),
        (UNKNOWN_MODEL, _MODEL),
        (FILTERED, _FILTERED),
        (AUTH, _AUTH),
        (NO_SUCH_ADDRESS, _NOT_FOUND),
        (INVALID, mended(_BAD, words)),
    )
    return next((kind for pattern, kind in table if pattern.search(words)), _SERVER)
