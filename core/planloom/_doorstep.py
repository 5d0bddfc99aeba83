"""How many may begin to ask in one turn of the event loop.

Where thousands begin at once, nothing is sent and nobody is heard before the last of them has worked out its question.
So some begin, and what they ask is on its way while the next ones do.
"""

from __future__ import annotations

import asyncio
from collections import deque

__all__ = ["Doorstep"]

_A_TURN = 128


class Doorstep:
    """Lets in who comes, in order, so many a turn."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._left = _A_TURN
        self._is_counting = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    def is_free(self) -> bool:
        """Let one in, if so many have not come in this turn; return whether it was, and need not :meth:`wait`."""
        if not self._left:
            return False
        self._left -= 1
        if not self._is_counting:
            self._is_counting = True
            self._loop.call_soon(self._next_turn)
        return True

    async def wait(self) -> None:
        """Wait to be let in; who is cancelled meanwhile is passed over."""
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(waiter)
        await waiter

    def _next_turn(self) -> None:
        let_in = 0
        while self._waiting and let_in < _A_TURN:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                let_in += 1
        # Who comes in this turn stands behind those who waited.
        self._left = 0 if let_in else _A_TURN
        self._is_counting = let_in > 0
        if self._is_counting:
            self._loop.call_soon(self._next_turn)
