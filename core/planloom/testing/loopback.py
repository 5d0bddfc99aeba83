"""A real HTTP server on 127.0.0.1 that answers as a script says, well or badly, in the dialects of chat completions
and of Anthropic's messages.

Model clients are tested against sockets, not against stand-ins for their own code: what breaks them is a cut
connection, a page instead of JSON, a body without end. The script is one answer, a list of answers given in turn (the
last one again and again), or a function of the request::

    async with LoopbackServer(completion("yes")) as server:
        client = open_client(Endpoint(name="test", client="openai", url=server.url))

``serving`` runs the same server in a thread, for tests that are not asynchronous or start other processes.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import responses
from typing import Any

import attrs

from ._served import Served, chunk_stream, completion, dropped, event_stream, html, json_answer, tool_call
from ._served_messages import api_error, message, message_events, message_stream, tool_use

__all__ = [
    "LoopbackServer",
    "Received",
    "Script",
    "Served",
    "api_error",
    "chunk_stream",
    "completion",
    "dropped",
    "echo",
    "event_stream",
    "html",
    "json_answer",
    "message",
    "message_events",
    "message_stream",
    "serving",
    "tool_call",
    "tool_use",
]

HEAD_END = b"\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
CHUNK_BYTES = 64 * 1024
BACKLOG = 4096  # five hundred clients connect in one burst
UNASKED_AFTER_S = 0.02
REMEMBERED = 100  # requests kept whole; all are counted


@attrs.frozen(kw_only=True)
class Received:
    """One request as it arrived.

    :ivar target: what stands after the method: a path, or a whole address when the server was used as a proxy.
    :ivar headers: by lower-case name.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def question(self) -> str:
        """The text of the last message, or the whole body when it holds none."""
        try:
            content = self.json["messages"][-1]["content"]
            return content if isinstance(content, str) else "".join(block["text"] for block in content)
        except (ValueError, LookupError, TypeError):
            return self.body.decode("utf-8", "replace")

    @property
    def wants_stream(self) -> bool:
        """Whether the answer is wanted piece by piece."""
        try:
            return self.json["stream"] is True
        except (ValueError, LookupError, TypeError):
            return False


Script = Served | Sequence[Served] | Callable[[Received], Served]


def echo(request: Received) -> Served:
    """Return `ok:` and the question, in the dialect of the request, streamed where it wants that."""
    text = f"ok: {request.question}"
    if request.target.endswith("/messages"):
        return message_stream([text]) if request.wants_stream else message(text)
    return event_stream([text]) if request.wants_stream else completion(text)


def _in_turn(answers: Sequence[Served]) -> Callable[[Received], Served]:
    waiting = deque(answers)
    return lambda _request: waiting.popleft() if len(waiting) > 1 else waiting[0]


def _as_function(script: Script) -> Callable[[Received], Served]:
    if isinstance(script, Served):
        return lambda _request: script
    return script if callable(script) else _in_turn(script)


class LoopbackServer:
    """A server on a free port of 127.0.0.1, open inside ``async with``; it changes on its own event loop only.

    :ivar total: requests that arrived whole.
    :ivar in_flight: requests not yet answered, and ``max_in_flight`` the most there ever were.
    :ivar abandoned: requests whose client left before the answer was sent.
    :ivar asked: how often each question was asked, by the text of its last message.
    :ivar received: the last hundred requests.
    :ivar faults: what the script itself raised; the first is raised again when the server closes.
    """

    def __init__(self, script: Script = echo) -> None:
        self.answer = _as_function(script)
        self.total = self.in_flight = self.max_in_flight = self.abandoned = self.connections = 0
        self.asked: Counter[str] = Counter()
        self.received: deque[Received] = deque(maxlen=REMEMBERED)
        self.faults: list[Exception] = []
        self.port = 0
        self._open: set[_Connection] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The base address of an endpoint, ``/v1`` included."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def open_connections(self) -> int:
        """How many clients are connected."""
        return len(self._open)

    async def __aenter__(self) -> LoopbackServer:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=BACKLOG)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        tasks = [connection.close() for connection in tuple(self._open)]
        await asyncio.gather(*(task for task in tasks if task), return_exceptions=True)
        await self._server.wait_closed()
        if self.faults:
            raise self.faults[0]

    def count(self, request: Received) -> None:
        """Book a request that arrived."""
        self.total += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.asked[request.question] += 1
        self.received.append(request)


class _Connection(asyncio.Protocol):
    """One client's connection: requests one after the other, each answered by a task that ends with the client."""

    def __init__(self, server: LoopbackServer) -> None:
        self._server = server
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server._open.add(self)
        self._server.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._open.discard(self)
        if self._task:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._buffer[:1].isalpha():  # no HTTP: the first byte of a TLS greeting, say
            self._transport.abort()
        elif self._task is None:
            self._begin()

    def close(self) -> asyncio.Task[None] | None:
        self._transport.abort()
        if self._task:
            self._task.cancel()
        return self._task

    def _begin(self) -> None:
        request = self._take_request()
        if request is None:
            return
        self._server.count(request)
        self._task = asyncio.get_running_loop().create_task(self._serve(request))

    def _take_request(self) -> Received | None:
        """Return the request at the front of the buffer once all of it is there."""
        end = self._buffer.find(HEAD_END)
        if end < 0:
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
        whole = end + len(HEAD_END) + int(headers.get("content-length", "0"))
        if len(self._buffer) < whole:
            return None
        body = bytes(self._buffer[end + len(HEAD_END) : whole])
        del self._buffer[:whole]
        method, target, _version = first.split(" ", 2)
        return Received(method=method, target=target, headers=headers, body=body)

    async def _serve(self, request: Received) -> None:
        try:
            await self._send(self._server.answer(request))
        except asyncio.CancelledError:
            self._server.abandoned += 1
            raise
        except Exception as fault:
            self._server.faults.append(fault)
            self._transport.abort()
        finally:
            self._server.in_flight -= 1
        self._task = None
        if not self._transport.is_closing():
            self._begin()

    async def _send(self, answer: Served) -> None:
        await _silence(answer.delay_s)
        if answer.drop:
            self._transport.abort()
            return
        if answer.wire is not None:
            self._transport.write(answer.wire)
        else:
            await self._send_whole(answer)
        if answer.unasked:
            await asyncio.sleep(UNASKED_AFTER_S)
            self._transport.write(answer.unasked)
        if answer.hang_up:
            self._transport.close()

    async def _send_whole(self, answer: Served) -> None:
        """Send a head and a body, as far as it goes."""
        self._transport.write(_head(answer))
        stops = [at for at in (answer.cut_after_bytes, answer.hang_after_bytes) if at is not None]
        sent = 0
        for piece in _pieces(answer):
            if stops and sent + len(piece) >= stops[0]:
                self._transport.write(_framed(piece[: stops[0] - sent], answer))
                await _silence(0.0 if answer.hang_after_bytes is None else math.inf)
                self._transport.close()
                return
            self._transport.write(_framed(piece, answer))
            sent += len(piece)
            await self._writable.wait()
            if self._transport.is_closing():
                await asyncio.sleep(0)  # the loss of the connection is told, which ends this
            if answer.trickle_bytes:
                await asyncio.sleep(answer.trickle_pause_s)
        if answer.chunked:
            self._transport.write(LAST_CHUNK)


async def _silence(delay_s: float) -> None:
    if math.isinf(delay_s):
        await asyncio.get_running_loop().create_future()
    elif delay_s:
        await asyncio.sleep(delay_s)


def _framed(piece: bytes, answer: Served) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece) if answer.chunked and piece else piece


def _head(answer: Served) -> bytes:
    length = {"content-length": str(len(answer.body) + answer.padding_bytes)}
    headers = {**({"transfer-encoding": "chunked"} if answer.chunked else length), **answer.headers}
    lines = [
        f"HTTP/1.1 {answer.status} {responses.get(answer.status, 'Odd')}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode("latin-1") + HEAD_END


def _pieces(answer: Served) -> Iterator[bytes]:
    size = answer.trickle_bytes or CHUNK_BYTES
    for start in range(0, len(answer.body), size):
        yield answer.body[start : start + size]
    for start in range(0, answer.padding_bytes, size):
        yield b" " * min(size, answer.padding_bytes - start)


@contextmanager
def serving(script: Script = echo) -> Iterator[LoopbackServer]:
    """Run a loopback server in a thread of its own."""
    server, ready, stop = LoopbackServer(script), threading.Event(), asyncio.Event()
    faults: list[BaseException] = []
    loops: list[asyncio.AbstractEventLoop] = []

    async def run() -> None:
        async with server:
            loops.append(asyncio.get_running_loop())
            ready.set()
            await stop.wait()

    def thread_body() -> None:
        try:
            asyncio.run(run())
        except BaseException as fault:  # handed to the thread that waits
            faults.append(fault)
        finally:
            ready.set()

    thread = threading.Thread(target=thread_body, name="loopback server", daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        for loop in loops:
            if not loop.is_closed():
                loop.call_soon_threadsafe(stop.set)
        thread.join()
    if faults:
        raise faults[0]
