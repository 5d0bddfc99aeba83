"""How many calls an endpoint gets at once, and until when it asked to be left alone."""

from __future__ import annotations

import asyncio

__all__ = ["Slots"]


class Slots:
    """The slots of one endpoint, shared by all runs of a process.

    A server that says when to come back (``Retry-After``) holds every worker of its endpoint, not only the one refused.
    """

    def __init__(self, in_flight: int) -> None:
        self._free = asyncio.Semaphore(in_flight)
        self._held_until = 0.0

    async def acquire(self) -> None:
        """Wait for a slot, and for the endpoint to be free of a hold."""
        await self._free.acquire()
        try:
            while (wait := self._held_until - asyncio.get_running_loop().time()) > 0:
                await asyncio.sleep(wait)
        except BaseException:
            self._free.release()
            raise

    def release(self) -> None:
        """Give a slot back."""
        self._free.release()

    def hold(self, seconds: float) -> None:
        """Start no new call for that long."""
        self._held_until = max(self._held_until, asyncio.get_running_loop().time() + seconds)
