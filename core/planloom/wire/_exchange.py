"""What is posted to a server and what comes back, without what does it.

The HTTP client takes a third of a second to import, which a run that the ledger answers should not wait for: it is
opened with the first question that is posted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from planloom.data_classes import frozen

from ._origin import Origin

__all__ = ["Answer", "Exchange", "LateExchange", "Listener"]


@frozen
class Answer:
    """What a server sent back.

    :ivar headers: found by lower-case name.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


@frozen(kw_only=True)
class Listener:
    """Who listens while an answer arrives.

    :ivar began: called once, with the first byte of the body, or the first event of a stream, of an answer that is no
        refusal.
    :ivar ended: whether the last bytes of a stream of events so far say that it is over.
    :ivar whole: whether a stream that broke off, or went silent, had said all the same how its answer ended.
    """

    began: Callable[[], None] | None = None
    ended: Callable[[bytes], bool] = lambda tail: False
    whole: Callable[[Answer], bool] = lambda answer: False


class Exchange(Protocol):
    """A way to post a question to one server."""

    async def post(self, body: bytes, listener: Listener) -> Answer:
        """Send the body once and return the whole answer, whatever its status.

        :raises ModelError: there is no whole answer.
        """

    async def close(self) -> None:
        """Close the connections."""


class LateExchange:
    """Posts to one address; connects, and imports what connects, when it first has something to post."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._opened: Exchange | None = None

    async def post(self, body: bytes, listener: Listener) -> Answer:
        """Send the body once; see :meth:`Exchange.post`."""
        if self._opened is None:
            from ._broken import no_certificates
            from ._transport import HttpxExchange

            try:
                self._opened = HttpxExchange(self._origin)
            except OSError as error:  # of which SSLError is one
                raise no_certificates(error, self._origin) from error
        return await self._opened.post(body, listener)

    async def close(self) -> None:
        """Close the connections, if there are any."""
        if self._opened is not None:
            await self._opened.close()
