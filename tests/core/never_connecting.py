"""A server that lets clients connect and never agrees on TLS with them, so that no question ever leaves."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from planloom.clients import Endpoint, ModelClient
from planloom.testing.doors import ENDPOINT, Doorway, doorway
from planloom_openai import open_client
from planloom_sqlite import open_store

__all__ = ["SilentServer", "client_at", "door_to", "never_connecting"]


class SilentServer:
    """Hears what clients say first, and says nothing.

    :ivar greetings: how many clients have greeted it. :ivar said: all that they said.
    """

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._clients: list[socket.socket] = []
        self.greetings = 0
        self.said = b""

    @property
    def url(self) -> str:
        """The base address of an endpoint."""
        return f"https://127.0.0.1:{self._listening.getsockname()[1]}/v1"

    def serve(self) -> None:
        """Hear clients until :meth:`close`."""
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._clients.append(client)
                self.said += client.recv(2**16)
                self.greetings += 1

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        for each in (self._listening, *self._clients):
            each.close()


@contextmanager
def never_connecting() -> Iterator[SilentServer]:
    """Give such a server, which runs in a thread of its own."""
    server = SilentServer()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def client_at(url: str, **timeouts: float) -> ModelClient:
    """Return an open client of an address."""
    return open_client(Endpoint(name=ENDPOINT, client="openai", url=url, timeouts={"connect": 60.0, **timeouts}))


@asynccontextmanager
async def door_to(store: Path, *clients: ModelClient, **options: Any) -> AsyncIterator[Doorway]:
    """Give a door to the first of these clients, and close them all behind it; ``options`` are :func:`doorway`'s."""
    opened = open_store(store)
    at: Mapping[str, ModelClient] = {ENDPOINT: clients[0]}
    try:
        async with doorway(opened, at, **options) as door:
            yield door
    finally:
        await asyncio.gather(*(client.close() for client in clients))
        await opened.close()
