"""httpx's transport over aiohttp, for posts to one address.

``aiohttp.ClientSession.request`` prepares each request as if it were the first, and has a task of its own write it,
which was nearly half of a call's time. Here what is the same each time is worked out once: whom to connect to, the
request line, the headers. Connections, their pool, proxies, TLS and the reading of answers stay aiohttp's own.

Of these the connector, its connections and the stream of a body are documented. ``ClientRequest``, and of
``Connection.protocol`` the three names ``should_close``, ``set_response_params`` and ``read``, are what the session
itself stands on; were one of them changed, no question would be answered, and every test of a client would say so.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import Mapping
from typing import Self
from weakref import WeakSet

import aiohttp
import httpx
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from httpx_aiohttp import AiohttpTransport
from httpx_aiohttp.transport import map_aiohttp_exceptions
from yarl import URL

from planloom.clients import mark_unsent

__all__ = ["Post", "PostingTransport"]

KEEP_ALIVE_S = 4.0  # servers on uvicorn close an idle connection after 5 s; a request sent into that is lost


class Post(httpx.Request):
    """A body to post: httpx works a request's headers out anew each time, which are those of its transport here."""

    def __init__(self, url: httpx.URL, body: bytes) -> None:
        self.method, self.url, self.extensions = "POST", url, {}
        self._body = body

    @property
    def content(self) -> bytes:
        """The body."""
        return self._body


class PostingTransport(AiohttpTransport):
    """Posts bodies to one address over kept-alive connections; ``aiohttp`` opens with the first of them.

    :param headers: what every request says, but for the host and the length of its body.
    :param connect_s: seconds for a connection, in which the name is resolved and TLS agreed on.
    """

    def __init__(
        self,
        url: httpx.URL,
        headers: Mapping[str, str],
        context: ssl.SSLContext,
        proxy: httpx.Proxy | None,
        connect_s: float,
    ) -> None:
        super().__init__(verify=context, trust_env=False, proxy=proxy)
        self._url, self._headers = url, headers
        self._timeout = aiohttp.ClientTimeout(connect=connect_s, sock_connect=connect_s)
        self._address: aiohttp.ClientRequest | None = None
        self._used: WeakSet[asyncio.BaseProtocol] = WeakSet()

    def get_client(self) -> aiohttp.ClientSession:
        """Return a session, for its connections; their number is limited by nobody here."""
        connector = aiohttp.TCPConnector(limit=0, ssl=self.ssl_context, keepalive_timeout=KEEP_ALIVE_S)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Post a body and return the answer as soon as its headers are there.

        :raises httpx.HTTPError: as :class:`AiohttpTransport` does.
        """
        try:
            connection = await self._connect()
            try:
                message, content = await self._post(connection, request.content)
            except BaseException:
                connection.close()
                raise
        except Exception:
            with map_aiohttp_exceptions():
                raise
        return httpx.Response(message.code, headers=message.raw_headers, stream=_Content(connection, content))

    def _open(self) -> aiohttp.ClientRequest:
        """Work out once what all requests have in common."""
        address = _address(self._url, self.proxy)
        self._head = _head(address, self._headers)
        self.client = self.get_client()
        assert self.client.connector is not None
        self._connector = self.client.connector
        self._address = address
        return address

    async def _connect(self) -> Connection:
        """Return a new connection, or one that was used before and on which nothing came since.

        What a server sends on an idle connection would be taken for the answer to the next question: a gateway that
        sends one answer twice shifts every later one by a question.

        Nothing of a question is out before this returns, which whatever it raises says.
        """
        address = self._address or self._open()
        while True:
            try:
                connection = await self._connector.connect(address, [], self._timeout)
            except TimeoutError as error:
                raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {self._url}") from error
            except (aiohttp.ClientError, OSError) as error:
                raise _unconnected(error, address) from None
            except asyncio.CancelledError as cancelled:
                mark_unsent(cancelled)
                raise
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None or transport.is_closing():
                connection.close()
                raise _unconnected(aiohttp.ServerDisconnectedError(), address)
            if protocol not in self._used or not (protocol.should_close or _is_waiting(transport)):
                return connection
            connection.close()

    async def _post(self, connection: Connection, body: bytes) -> tuple[RawResponseMessage, aiohttp.StreamReader]:
        protocol, transport = connection.protocol, connection.transport
        assert protocol is not None
        assert transport is not None  # as `_connect` has just seen
        self._used.add(protocol)
        protocol.set_response_params(read_until_eof=True, auto_decompress=False)
        transport.write(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
        try:
            message, content = await protocol.read()
            while 100 <= message.code < 200 and message.code != 101:  # of more to come, but for another protocol
                message, content = await protocol.read()
        except HttpProcessingError as error:
            assert self._address is not None
            raise aiohttp.ClientResponseError(
                self._address.request_info, (), status=error.code, message=error.message
            ) from error
        return message, content


class _Content(httpx.AsyncByteStream):
    """The body of an answer as it arrives, in as few pieces as there are."""

    def __init__(self, connection: Connection, content: aiohttp.StreamReader) -> None:
        self._connection = connection
        self._content = content

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            piece = await self._content.readany()
        except Exception:
            with map_aiohttp_exceptions():
                raise
        if not piece:
            raise StopAsyncIteration
        return piece

    async def aclose(self) -> None:
        """Leave the connection to others; one on which anything is still to be sent or read is closed."""
        transport = self._connection.transport
        if transport is not None and transport.get_write_buffer_size():
            self._connection.close()
        else:
            self._connection.release()


def _unconnected(error: Exception, address: aiohttp.ClientRequest) -> Exception:
    """Return a connection's fault as one of a connection: a proxy that breaks off the request for a tunnel, or answers
    it with what is no HTTP, raises what a server raises that has the question."""
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.InvalidURL)):
        return error
    if not address.proxy:
        reason = error if isinstance(error, OSError) else OSError(0, str(error) or "it hung up at once")
        return aiohttp.ClientConnectorError(address.connection_key, reason)
    is_answered = isinstance(error, aiohttp.ClientResponseError)
    reason = OSError(0, "what it answered is no HTTP" if is_answered else "it hung up before it answered")
    return aiohttp.ClientProxyConnectionError(address.connection_key, reason)


def _is_waiting(transport: asyncio.Transport) -> bool:
    """Whether anything came that is not read yet: a loop that has much to do reads late."""
    look = select.poll()
    look.register(transport.get_extra_info("socket"), select.POLLIN)
    return bool(look.poll(0))


def _address(url: httpx.URL, proxy: httpx.Proxy | None) -> aiohttp.ClientRequest:
    """Return a request that says whom to connect to; none is sent in this form."""
    try:
        where = URL(str(url))
    except ValueError as error:
        raise aiohttp.InvalidUrlClientError(str(url)) from error
    address = aiohttp.ClientRequest("POST", where)
    if proxy is None:
        return address
    # Connections are known by these headers, to which the first one that is made would add the host.
    told = {**proxy.headers, "Host": address.headers["Host"]} if proxy.headers else None
    return aiohttp.ClientRequest("POST", where, proxy=URL(str(proxy.url)), proxy_headers=told)


def _head(address: aiohttp.ClientRequest, headers: Mapping[str, str]) -> bytes:
    """Return a request up to the length of its body."""
    target = str(address.url) if address.proxy and not address.is_ssl() else address.url.raw_path_qs
    said = {"Host": address.headers["Host"], **headers}
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items()), "Content-Length: "]
    if not all(line.isprintable() for line in lines):
        raise ValueError("a header holds a control character")
    return "\r\n".join(lines).encode()
