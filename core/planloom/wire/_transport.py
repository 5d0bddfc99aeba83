"""One request, one answer, and what it means that there is none.

The seam is ``Exchange.post``; which HTTP library stands behind it is known here, in ``_posting`` and in ``_broken``.
It is httpx over its aiohttp transport, since httpx's own pool searches all its connections on each request (58 calls a
second at 500 connections against 2,253, measured 2026-11-29). The transport is called without an ``httpx.AsyncClient``
around it: what that adds (redirects, cookies, sign-in, proxies from the environment) is what must not happen here, and
takes time. Nothing retries, follows a redirect (the key would go along), keeps cookies or limits connections: the
caller's slots do.

One timer watches a call. Its deadline moves with the phases, and never beyond the total. A stream that said its end is
waited for a moment more, so that its connection can be used again, and is whole whatever happens then.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes, urlsplit

import aiohttp
import httpx

from planloom._deadline import Deadline
from planloom.clients import ModelError, PermanentError, TransientError, was_unsent

from ._broken import fault_of, no_http
from ._events import looks_like_events
from ._exchange import Answer, Listener
from ._origin import Origin, Timeouts
from ._posting import Post, PostingTransport
from ._unpacking import TooLarge, Unpackable, Unpacker

__all__ = ["BODY_LIMIT_BYTES", "HttpxExchange"]

BODY_LIMIT_BYTES = 64 * 1024 * 1024
AFTER_END_S = 0.5
TAIL_BYTES = 1024


class HttpxExchange:
    """Posts to one address over kept-alive connections."""

    def __init__(self, origin: Origin, body_limit_bytes: int = BODY_LIMIT_BYTES) -> None:
        self._origin = origin
        self._body_limit_bytes = body_limit_bytes
        self._url = httpx.URL(origin.url)
        self._transport = _transport(origin, self._url)

    async def post(self, body: bytes, listener: Listener) -> Answer:
        """Send the body once; see ``Exchange.post``."""
        clock = asyncio.get_running_loop().time
        watch = _Watch(self._origin.timeouts, clock())
        arriving = _Arriving(listener, self._body_limit_bytes)
        try:
            with Deadline(watch.deadline) as timer:
                await self._post(body, arriving, watch, timer)
        except TimeoutError as late:
            fault = self._unconnected(watch) if was_unsent(late.__cause__) else self._too_slow(watch)
        except Unpackable as error:
            fault = self._undecodable(error)
        except TooLarge:
            fault = self._too_large()
        except aiohttp.ClientResponseError as error:
            fault = no_http(error, self._origin)
        except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError) as error:
            fault = fault_of(error, self._origin)
        else:
            return arriving.answer()
        if arriving.ended or arriving.is_whole:
            return arriving.answer()
        # Raised out here without its cause: the libraries' errors hold the request, and with it the key.
        raise fault

    async def _post(self, body: bytes, arriving: _Arriving, watch: _Watch, timer: Deadline) -> None:
        clock = asyncio.get_running_loop().time
        response = await self._transport.handle_async_request(Post(self._url, body))
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)  # an answer to who asks asynchronously
        try:
            headers = _by_name(response.headers)
            arriving.begin(response.status_code, headers)
            timer.move(watch.answer_began(clock()))
            # The stream itself: httpx's three generators around it cost a tenth of a call.
            packing = headers.get("content-encoding")
            unpacker = None if packing is None else Unpacker(packing, self._body_limit_bytes)
            async for piece in stream:
                if unpacker is None:
                    arriving.add(piece)
                else:
                    for part in unpacker.unpack(piece):
                        arriving.add(part)
                timer.move(clock() + AFTER_END_S if arriving.ended else watch.bytes_came(clock()))
        finally:
            await stream.aclose()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

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

    def _unconnected(self, watch: _Watch) -> ModelError:
        return TransientError(
            f"cannot connect to {self._origin.host}: no connection within {watch.limit_s:g} s; raise the timeout"
            f" `{watch.phase}` of endpoint `{self._origin.name}` if it is only slow",
            error_class="timeout",
        )

    def _undecodable(self, error: Exception) -> ModelError:
        return TransientError(
            f"{self._origin.host} sent an answer that cannot be unpacked: {error}; look at what stands between"
            f" here and the model server of endpoint `{self._origin.name}` if it stays so",
            error_class="malformed",
            maybe_billed=True,
        )


def _by_name(headers: httpx.Headers) -> Mapping[str, str]:
    """Return headers as a plain dictionary: httpx searches a list each time it is asked for one."""
    found: dict[str, str] = {}
    for raw_name, raw_value in headers.raw:
        name = raw_name.decode("latin-1").lower()
        try:
            value = raw_value.decode()
        except UnicodeDecodeError:
            value = raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


class _Arriving:
    """The answer so far. Changed by the one call that it belongs to.

    :ivar ended: the stream said that it is over, so that nothing is missing any more.
    """

    def __init__(self, listener: Listener, limit_bytes: int) -> None:
        self.ended = self._events = False
        self._listener = listener
        self._limit_bytes = limit_bytes
        self._pieces: list[bytes] = []
        self._size_bytes = 0
        self._tail = b""

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        self._status = status
        self._headers = headers
        self._events = looks_like_events(headers.get("content-type", ""), b"")
        self._unheard = self._listener.began if 200 <= status < 300 else None

    def add(self, piece: bytes) -> None:
        self._size_bytes += len(piece)
        if self._size_bytes > self._limit_bytes:
            raise TooLarge
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

    @property
    def is_whole(self) -> bool:
        """Whether a stream that broke off had said how its answer ended."""
        return self._events and self._size_bytes <= self._limit_bytes and self._listener.whole(self.answer())

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
    def limit_s(self) -> float:
        """What the phase has."""
        return float(getattr(self._timeouts, self.phase))

    @property
    def silence(self) -> str:
        """What was waited for in vain."""
        if self.phase == "total":
            return f"did not finish its answer within {self.limit_s:g} s"
        return f"sent nothing for {self.limit_s:g} s" + (" in the middle of its answer" if self._began else "")


def _headers(origin: Origin) -> dict[str, str]:
    headers = {
        **origin.headers,
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "content-type": "application/json",
        "user-agent": "planloom",
    }
    if not origin.url.startswith("https:"):
        headers |= _to_proxy(origin)
    if origin.key:
        headers[origin.key_header] = origin.key_form.format(key=origin.key)
    return headers


def _transport(origin: Origin, url: httpx.URL) -> PostingTransport:
    encrypted = origin.url.startswith("https:") or origin.proxy.startswith("https:")
    # An empty context trusts no one: what is not asked over TLS never uses it, and reading the roots takes a while.
    context = httpx.create_ssl_context() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return PostingTransport(url, _headers(origin), context, _proxy(origin), origin.timeouts.connect)


def _proxy(origin: Origin) -> httpx.Proxy | None:
    """Return the proxy; its name and password go into a header of ours, since the library warns of its own way."""
    if not origin.proxy:
        return None
    parts = urlsplit(origin.proxy)
    place = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    # The request for a tunnel has headers of its own; a plain request is the proxy's to read whole.
    return httpx.Proxy(place.geturl(), headers=_to_proxy(origin) if origin.url.startswith("https:") else None)


def _to_proxy(origin: Origin) -> dict[str, str]:
    user, at, _place = urlsplit(origin.proxy).netloc.rpartition("@")
    return {"proxy-authorization": f"Basic {b64encode(unquote_to_bytes(user)).decode()}"} if at else {}
