"""A model client of one dialect: writes a question as a request, posts it, reads the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any, Protocol

from planloom.clients import ModelError, PermanentError
from planloom.questions import Parameters, Question, Reply

from ._exchange import Answer, Exchange, Listener

__all__ = ["Dialect", "WireClient", "check_unreserved"]

LONG_BYTES = 1024 * 1024  # a longer answer is parsed in a thread: it would hold up every other call for 10 ms and more

MOST_FRAMES = 100  # one for each role and schema of a run, and now and then one for a question of its own

_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class Dialect(Protocol):
    """How one kind of server is asked and answers."""

    def frame(self, question: Question) -> dict[str, Any]:
        """Return what is posted around the conversation, as JSON data: the same for all questions that go to one model
        with the same parameters, so that it is written once for them.

        :raises PermanentError: a parameter that the client sets itself; see :func:`check_unreserved`.
        """

    def conversation(self, question: Question) -> dict[str, Any]:
        """Return the rest of what is posted, which is what a question's messages are."""

    def ended(self, tail: bytes) -> bool:
        """Return whether these last bytes of a stream of events end it."""

    def read(self, answer: Answer, question: Question, seconds: float, now: datetime) -> Reply:
        """Return the reply that an answer holds.

        A stream that breaks off is read too: its reply counts where it has a finish reason, so that one may only have
        what the server said.

        :param now: what a moment in the answer is counted from.
        :raises ModelError: the answer is a refusal, or none at all.
        """


def check_unreserved(parameters: Collection[str], reserved: frozenset[str]) -> None:
    """Return when none of a question's parameters is one that the client sets itself.

    :param parameters: their names, as they are sent.
    :raises PermanentError: one is.
    """
    if taken := reserved.intersection(parameters):
        raise PermanentError(
            f"the parameter `{min(taken)}` cannot be set, since the client decides it; remove it from the parameters",
            error_class="bad_request",
        )


def _now() -> datetime:
    return datetime.now(UTC)


class WireClient:
    """Asks one server, one attempt a call. Lives on one event loop.

    :param now: the clock that moments in answers are counted from.
    """

    def __init__(self, exchange: Exchange, dialect: Dialect, now: Callable[[], datetime] = _now) -> None:
        self._exchange = exchange
        self._dialect = dialect
        self._now = now
        self._frames: dict[tuple[str, int], tuple[Parameters, bytes]] = {}

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        """Send one question once and return its reply.

        :param began: called once, when the answer begins to arrive; not for a refusal.
        :raises ModelError: one of its four kinds; the dialect and the exchange say which.
        """
        body = self._body(question)
        clock = asyncio.get_running_loop().time
        began_s = clock()

        def whole(answer: Answer) -> bool:
            try:
                return self._dialect.read(answer, question, 0.0, self._now()).finish_reason is not None
            except ModelError:
                return False

        listener = Listener(began=began, ended=self._dialect.ended, whole=whole)
        answer = await self._exchange.post(body, listener)
        arguments = (answer, question, clock() - began_s, self._now())
        if len(answer.body) > LONG_BYTES:
            return await asyncio.to_thread(self._dialect.read, *arguments)
        return self._dialect.read(*arguments)

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    def _body(self, question: Question) -> bytes:
        parameters = question.parameters
        kind = (question.model, id(parameters))
        known = self._frames.get(kind)
        if known is None:
            if len(self._frames) == MOST_FRAMES:
                self._frames.clear()
            # Kept with its parameters, so that no others can have their id.
            known = self._frames[kind] = (parameters, _written(self._dialect.frame(question)))
        return b"%b, %b" % (known[1][:-1], _written(self._dialect.conversation(question))[1:])


def _written(request: dict[str, Any]) -> bytes:
    try:
        return _WRITER.encode(request).encode()
    except (TypeError, ValueError) as error:
        raise PermanentError(
            f"the question cannot be written as JSON: {error}; look at its parameters and at the text of its messages",
            error_class="bad_request",
        ) from error
