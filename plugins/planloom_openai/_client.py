"""The client: writes a question as a request, posts it, reads the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime

from planloom.clients import Endpoint, PermanentError
from planloom.questions import Question, Reply

from ._exchange import Exchange, LateExchange
from ._origin import Origin, read_origin
from ._replies import read_reply

__all__ = ["OpenAIClient", "request_body"]

RESERVED = frozenset({"messages", "model", "n", "stream"})
LONG_BYTES = 1024 * 1024  # a longer answer is parsed in a thread: it would hold up every other call for 10 ms and more


def _now() -> datetime:
    return datetime.now(UTC)


def request_body(question: Question) -> bytes:
    """Return a question as the JSON that is posted.

    :raises PermanentError: a parameter that the client sets itself, or one that JSON cannot hold.
    """
    if taken := RESERVED & question.parameters.keys():
        raise PermanentError(
            f"the parameter `{min(taken)}` cannot be set, since the client decides it; remove it from the parameters",
            error_class="bad_request",
        )
    messages = [{"role": message.role, "content": message.text} for message in question.messages]
    request = {"model": question.model, "messages": messages, **question.parameters}
    try:
        return json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise PermanentError(
            f"the question cannot be written as JSON: {error}; look at its parameters and at the text of its messages",
            error_class="bad_request",
        ) from error


class OpenAIClient:
    """Asks one server, one attempt a call. Lives on one event loop.

    :param now: the clock that dates in ``Retry-After`` are counted from.
    """

    def __init__(self, origin: Origin, exchange: Exchange, now: Callable[[], datetime] = _now) -> None:
        self._origin = origin
        self._exchange = exchange
        self._now = now

    @classmethod
    def open(cls, endpoint: Endpoint) -> OpenAIClient:
        """Return a client for an endpoint."""
        origin = read_origin(endpoint)
        return cls(origin, LateExchange(origin))

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        """Send one question once and return its reply.

        :param began: called once, when the answer begins to arrive; not for a refusal.

        :raises ModelError: one of its four kinds; see ``_replies`` and ``_faults`` for which.
        """
        body = request_body(question)
        clock = asyncio.get_running_loop().time
        began_s = clock()
        answer = await self._exchange.post(body, began)
        arguments = (answer, question.model, clock() - began_s, self._origin, self._now)
        if len(answer.body) > LONG_BYTES:
            return await asyncio.to_thread(read_reply, *arguments)
        return read_reply(*arguments)

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()
