"""The contract of a model client: one attempt at one question, and named faults.

A client does no retries, keeps no books and writes no logs: the front door does. It raises the classes below, so that
the door knows what to do next without reading texts.

    ModelError
    ├── TransientError    worth another attempt: no connection, timeout, 408, 409, 429, 5xx, 529, an unreadable body
    ├── PermanentError    this question will never be answered: 400, 404, 422, too long, refused
    │   └── JsonModeRefused    it might be without its response_format
    ├── FatalError        no question will be answered: 401, 403, unknown model; ends the run
    └── QuotaError        the account is used up: 402, or 429 that says quota
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ._errors import PlanloomError
from .data_classes import frozen
from .questions import Question, Reply

if TYPE_CHECKING:
    from asyncio import CancelledError

__all__ = [
    "TIMEOUTS_S",
    "ClientPlugin",
    "Endpoint",
    "FatalError",
    "JsonModeRefused",
    "ModelClient",
    "ModelError",
    "PermanentError",
    "QuotaError",
    "TransientError",
    "mark_unsent",
    "was_unsent",
]


TIMEOUTS_S = {"connect": 10.0, "first_byte": 300.0, "between_bytes": 120.0, "total": 600.0}
"""How long each phase of a call may take where its endpoint does not say."""

JSON_MODES = ("json_schema", "json_object", "none")


class ModelError(PlanloomError):
    """A call of a model failed.

    :ivar error_class: its short name in events: ``rate_limited``, ``overloaded``, ``server``, ``transport``,
        ``timeout``, ``malformed``, ``bad_request``, ``context_too_long``, ``filtered``, ``auth``, ``unknown_model``,
        ``quota``; ``client`` when the client itself broke.
    :ivar http_status: where there was one.
    :ivar retry_after_s: how long the server asked to wait.
    :ivar maybe_billed: the request may have reached the model, so that the provider may bill it.
    """

    def __init__(
        self,
        message: str,
        *,
        error_class: str,
        http_status: int | None = None,
        retry_after_s: float | None = None,
        maybe_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.error_class = error_class
        self.http_status = http_status
        self.retry_after_s = retry_after_s
        self.maybe_billed = maybe_billed


class TransientError(ModelError):
    """Another attempt may succeed."""


class PermanentError(ModelError):
    """This question will never be answered."""


class JsonModeRefused(PermanentError):
    """The server does not take the ``response_format`` that was sent: asked in words it may answer."""


class FatalError(ModelError):
    """No question will be answered: the key is refused or the model unknown. Ends the run."""


class QuotaError(ModelError):
    """The account is used up until some time."""


_UNSENT = "nothing of the request had left this machine"


def mark_unsent(cancelled: CancelledError) -> None:
    """Say of what ends a call that nothing of its request had left this machine, so that nobody bills it.

    It stays the error that it is: a class of its own would be no cancellation to ``asyncio.timeout``.
    """
    cancelled.add_note(_UNSENT)


def was_unsent(error: BaseException | None) -> bool:
    """Whether :func:`mark_unsent` said so of a cancellation; where it did not, the request may have gone out."""
    return _UNSENT in getattr(error, "__notes__", ())


@frozen(kw_only=True)
class Endpoint:
    """One place that answers questions, as configured.

    :ivar name: its name in the configuration; part of every fingerprint.
    :ivar client: the name of the client plugin that speaks to it.
    :ivar url: base address, empty for a client that needs none.
    :ivar key_env: name of the environment variable that holds the key, empty for none. The key itself is never stored.
    :ivar prefix_cache: whether it keeps the beginnings of questions, which makes them cheaper to share; ``None`` where
        nobody said.
    :ivar hedge_after_s: when a question whose answer did not begin is sent once more, in seconds; ``None`` for never.
        Below what ``timeouts`` give an answer to begin, after which nothing is left to be hedged.
    :ivar parameters: what is sent with every question of its roles, unless a role says otherwise.
    :ivar drop: parameters that are not sent, though a role has them by default.
    :ivar settings: the client's own settings, as configured.
    :ivar timeouts: seconds by phase of a call: ``connect``, ``first_byte``, ``between_bytes``, ``total``.
    :ivar in_flight: calls at once, of all runs on this machine; that of a run when ``None``.
    """

    name: str
    client: str
    url: str = ""
    key_env: str = ""
    json_mode: str = "json_schema"
    prefix_cache: bool | None = None
    hedge_after_s: float | None = None
    parameters: Mapping[str, Any] = attrs.field(factory=dict)
    drop: tuple[str, ...] = ()
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    timeouts: Mapping[str, float] = attrs.field(factory=dict)
    in_flight: int | None = None


class ModelClient(Protocol):
    """A connection to one endpoint. Methods run on one event loop."""

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        """Send one question once and return its reply; price, role and time of the reply are the door's to fill in.

        Where it is cancelled it should say whether anything of the request can have been billed: see
        :func:`mark_unsent`.

        :param began: called once, when the first byte of the answer's body (or the first event of a stream) is there.
        :raises ModelError: one of its four kinds.
        """

    async def close(self) -> None:
        """Release what the client holds."""


@frozen(kw_only=True)
class ClientPlugin:
    """A kind of model client that configuration can name.

    :ivar name: what ``client = "..."`` says.
    :ivar open: makes a client for an endpoint. Quick, without I/O; heavy imports belong in it.
    :ivar settings: names of the endpoint settings it reads, so that a misspelled one is found.
    :ivar json_modes: the values of ``json_mode`` that it can do, the default first.
    :ivar unsent: parameters that roles have by default and its servers refuse: sent only where somebody sets them.
    :ivar streams: answers come as a stream where the setting ``stream`` says nothing.
    :ivar model: for a client with just one model: gives its id, which changes whenever its answers may.
    :ivar free: its calls cost nothing and leave the machine on no account.
    :ivar basis: for a client whose answers depend on what the machine has: says what they rest on here, as a sentence.
    """

    name: str
    summary: str
    open: Callable[[Endpoint], ModelClient]
    settings: tuple[str, ...] = ()
    json_modes: tuple[str, ...] = JSON_MODES
    unsent: tuple[str, ...] = ()
    streams: bool = False
    model: Callable[[], str] | None = None
    free: bool = False
    basis: Callable[[], str] | None = None
