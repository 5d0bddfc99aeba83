"""One request, one answer: the only module that knows which HTTP library is used.

The seam is ``Exchange.post``. Behind it stands aiohttp, which keeps up with 500 connections, bare: what a client around
it would add (redirects, cookies, sign-in, proxies from the environment) is what must not happen here. Nothing retries,
follows a redirect (the key would go along), keeps cookies or limits connections: the caller's slots do.

One timer watches a call. Its deadline moves with the phases, and never beyond the total. A stream that said its end is
waited for a moment more, so that its connection can be used again, and is whole whatever happens then.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from typing import Any

import aiohttp
import certifi
from multidict import CIMultiDict
from yarl import URL

from planloom._deadline import Deadline
from planloom.clients import ModelError, PermanentError, TransientError

from ._events import looks_like_events
from ._exchange import Answer, Listener
from ._origin import Origin, Timeouts
from ._unpacking import Unpackable, Unpacker

__all__ = ["BODY_LIMIT_BYTES", "HttpExchange"]

BODY_LIMIT_BYTES = 64 * 1024 * 1024
AFTER_END_S = 0.5
TAIL_BYTES = 1024
KEEP_ALIVE_S = 4.0  # servers on uvicorn close an idle connection after 5 s; a request sent into that is lost
NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
)


class HttpExchange:
    """Posts to one address over kept-alive connections."""

    def __init__(self, origin: Origin, body_limit_bytes: int = BODY_LIMIT_BYTES) -> None:
        self._origin = origin
        self._body_limit_bytes = body_limit_bytes
        self._session = _session(origin)
        self._url = URL(origin.url)
        self._headers = _headers(origin)
        self._options = _options(origin)

    async def post(self, body: bytes, listener: Listener) -> Answer:
        """Send the body once; see ``Exchange.post``."""
        watch = _Watch(self._origin.timeouts, asyncio.get_running_loop().time())
        arriving = _Arriving(listener, self._body_limit_bytes)
        try:
            async with Deadline(watch.deadline) as timer:
                await self._post(body, arriving, watch, timer)
        except Unpackable as error:
            fault = self._unpackable(error)
        except _TooLarge:
            fault = self._too_large()
        except (aiohttp.ClientError, OSError) as error:
            fault = self._too_slow(watch) if timer.expired else self._no_answer(error)
        else:
            return arriving.answer()
        if arriving.ended:
            return arriving.answer()
        # Raised out here without its cause: the library's errors hold the request, and with it the key.
        raise fault

    async def _post(self, body: bytes, arriving: _Arriving, watch: _Watch, timer: Deadline) -> None:
        clock = asyncio.get_running_loop().time
        response = await self._session.post(self._url, data=body, headers=self._headers, **self._options)
        try:
            arriving.begin(response)
            timer.move(watch.answer_began(clock()))
            while piece := await response.content.readany():
                arriving.add(piece)
                timer.move(clock() + AFTER_END_S if arriving.ended else watch.bytes_came(clock()))
        finally:
            response.close()  # one that was read to its end has given its connection back before

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    def _too_large(self) -> ModelError:
        return PermanentError(
            f"{self._origin.host} sent an answer of more than {self._body_limit_bytes:,} bytes, which was not read"
            " further; lower max_tokens, or look at what the server sends",
            error_class="malformed",
            maybe_billed=True,
        )

    def _too_slow(self, watch: _Watch) -> ModelError:
        return TransientError(
            f"{self._origin.host} {watch.silence}; raise the timeout `{watch.phase}` of endpoint"
            f" `{self._origin.name}` if it is only slow",
            error_class="timeout",
            maybe_billed=True,
        )

    def _unpackable(self, error: Exception) -> ModelError:
        return TransientError(
            f"{self._origin.host} sent an answer that cannot be unpacked: {error}; it will be asked again",
            error_class="malformed",
            maybe_billed=True,
        )

    def _no_answer(self, error: Exception) -> ModelError:
        unsent = isinstance(error, NEVER_SENT)
        said = self._origin.scrub(str(error) or type(error).__name__)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            said = f"no connection within {self._origin.timeouts.connect:g} s"
        what, next_step = (
            (
                f"cannot connect to {self._origin.host}",
                f"check that it runs and that the url of endpoint `{self._origin.name}` is right",
            )
            if unsent
            else (
                f"the connection to {self._origin.host} broke before the answer was whole",
                "the provider may bill the call",
            )
        )
        return TransientError(f"{what}: {said}; {next_step}", error_class="transport", maybe_billed=not unsent)


class _TooLarge(Exception):
    """The body is larger than any answer."""


class _Arriving:
    """The answer so far. Changed by the one call that it belongs to.

    :ivar ended: the stream said that it is over, so that nothing is missing any more.
    """

    def __init__(self, listener: Listener, limit_bytes: int) -> None:
        self.ended = False
        self._listener = listener
        self._limit_bytes = limit_bytes
        self._unpacker: Unpacker | None = None
        self._pieces: list[bytes] = []
        self._size_bytes = 0
        self._tail = b""

    def begin(self, response: aiohttp.ClientResponse) -> None:
        self._status, self._headers = response.status, response.headers
        self._events = looks_like_events(self._headers.get("content-type", ""), b"")
        self._unheard = self._listener.began if 200 <= self._status < 300 else None
        packed_as = self._headers.get("content-encoding")
        if packed_as is not None:
            self._unpacker = Unpacker(packed_as)

    def add(self, piece: bytes) -> None:
        if self._unpacker is not None:
            piece = self._unpacker.unpack(piece, self._limit_bytes - self._size_bytes + 1)
        self._size_bytes += len(piece)
        if self._size_bytes > self._limit_bytes:
            raise _TooLarge
        if not self._pieces:
            self._events = self._events or looks_like_events("", piece)
        self._pieces.append(piece)
        if self._events or self._unheard:
            self._look(piece)

    def _look(self, piece: bytes) -> None:
        self._tail = (self._tail + piece)[-max(TAIL_BYTES, len(piece) + 5) :]
        # Gateways send comments while the model has not begun.
        if self._unheard and (not self._events or b"data:" in self._tail):
            self._unheard()
            self._unheard = None
        self.ended = self._events and self._listener.ended(self._tail[-TAIL_BYTES:])

    def answer(self) -> Answer:
        return Answer(self._status, self._headers, b"".join(self._pieces))


class _Watch:
    """The deadline of one call, moved by its phases."""

    def __init__(self, timeouts: Timeouts, now_s: float) -> None:
        self._timeouts = timeouts
        self._end_s = now_s + timeouts.total
        self._began = False
        self.deadline = self._until(now_s, timeouts.first_byte, "first_byte")

    def _until(self, now_s: float, limit_s: float, phase: str) -> float:
        self.phase = phase if now_s + limit_s < self._end_s else "total"
        return min(now_s + limit_s, self._end_s)

    def answer_began(self, now_s: float) -> float:
        self._began = True
        return self.bytes_came(now_s)

    def bytes_came(self, now_s: float) -> float:
        return self._until(now_s, self._timeouts.between_bytes, "between_bytes")

    @property
    def silence(self) -> str:
        """What was waited for in vain."""
        limit_s = getattr(self._timeouts, self.phase)
        if self.phase == "total":
            return f"did not finish its answer within {limit_s:g} s"
        return f"sent nothing for {limit_s:g} s" + (" in the middle of its answer" if self._began else "")


def _headers(origin: Origin) -> CIMultiDict[str]:
    headers = CIMultiDict(
        {
            **origin.headers,
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "content-type": "application/json",
            "user-agent": "planloom",
        }
    )
    if origin.key:
        headers[origin.key_header] = origin.key_form.format(key=origin.key)
    return headers


def _options(origin: Origin) -> dict[str, Any]:
    # The wait for a connection includes resolving the name and the TLS handshake.
    connect_s = origin.timeouts.connect
    options: dict[str, Any] = {
        "allow_redirects": False,
        "timeout": aiohttp.ClientTimeout(sock_connect=connect_s, connect=connect_s),
    }
    if origin.proxy:
        options["proxy"] = URL(origin.proxy)
    return options


def _session(origin: Origin) -> aiohttp.ClientSession:
    encrypted = origin.url.startswith("https:") or origin.proxy.startswith("https:")
    # An empty context trusts no one: what is not asked over TLS never uses it, and reading the roots takes a while.
    context = _trusting() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=context, keepalive_timeout=KEEP_ALIVE_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    )


def _trusting() -> ssl.SSLContext:
    """Return a context that trusts the roots the environment names, else the ones that browsers trust."""
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=file or (None if folder else certifi.where()), capath=folder)
