"""A full disk: what is in hand is kept and tried again, nothing new is asked, and the run is paused meanwhile.

What is in hand is a reply, the outcome of a call, an event, the run's own record. While any of it waits no question is
sent, even where that small write would still fit. Once the run must end, what is in hand is given a few seconds more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from ._abort import Abort
from ._errors import RunStopped, StoreError, StoreFull, StoreGone, StoreLocked
from ._lanes import Turn
from ._pauses import Pauses

__all__ = ["AT_THE_DISK", "PATIENCE_S", "Disk", "stopped_by"]

AT_THE_DISK = "the disk"
PATIENCE_S = 5.0
_POLL_S = 0.5

T = TypeVar("T")


def stopped_by(error: StoreError) -> RunStopped:
    """Return how a run ends whose store cannot be written."""
    if isinstance(error, StoreGone):
        return RunStopped(str(error))  # its answers went with it
    return RunStopped(f"{error}; then run it again: what is answered is not asked again")


class Disk:
    """The room that one run's writes need.

    :param pauses: where the run is said to be paused. :param emit: takes the event ``run.disk_full``.
    :param waits: whether the run waits for room; else it ends when there is none.
    """

    def __init__(
        self, abort: Abort, pauses: Pauses, emit: Callable[[str, Mapping[str, Any]], None], *, waits: bool = True
    ) -> None:
        self._abort = abort
        self._pauses = pauses
        self._emit = emit
        self._waits = waits
        self._in_hand = 0
        self._waiting = 0
        self._again_at = 0.0
        self._ends_at: float | None = None

    async def keep(self, write: Callable[[], Awaitable[T]], *, locked_too: bool = False) -> T:
        """Return what a write of something in hand returns, tried again while the disk is full.

        :param locked_too: try again too while another process keeps the store locked, though the run then ends.
        :raises StoreError: it cannot be written: for another reason, or the run ended some seconds ago.
        """
        waits = False
        try:
            while True:
                try:
                    return await write()
                except StoreError as error:
                    if not self._is_tried_again(error, locked_too=locked_too):
                        raise
                    if not waits:
                        waits = True
                        self._in_hand += 1
                        self._enter(error)
                await asyncio.sleep(_POLL_S)
        finally:
            if waits:
                self._in_hand -= 1
                self._leave()

    def _is_tried_again(self, error: StoreError, *, locked_too: bool) -> bool:
        if isinstance(error, StoreFull):
            if not self._waits:
                self._abort.set(stopped_by(error))
        elif locked_too and isinstance(error, StoreLocked):
            self._abort.set(stopped_by(error))
        else:
            return False
        if self._abort.reason is None:
            return True
        now = asyncio.get_running_loop().time()
        if self._ends_at is None:
            self._ends_at = now + PATIENCE_S
        return now < self._ends_at

    async def when_there_is_room(self, attempt: Callable[[], Awaitable[T]], turn: Turn) -> T:
        """Return what an attempt to send a question returns, made when nothing in hand waits for room.

        :param turn: holds a slot; given back while it waits, and held again when this returns.
        :raises RunAborted: the run ended while it waited.
        """
        waits = False
        try:
            while True:
                if self._in_hand or (self._again_at and self._is_full()):
                    turn.give()
                    await self._abort.until(self._room())
                    await self._abort.until(turn.take(again=True))
                try:
                    return await attempt()
                except StoreFull as error:
                    if not self._waits:
                        raise
                    self._again_at = asyncio.get_running_loop().time() + _POLL_S
                    if not waits:
                        waits = True
                        self._enter(error)
        finally:
            if waits:
                self._leave()

    def _is_full(self) -> bool:
        return self._in_hand > 0 or asyncio.get_running_loop().time() < self._again_at

    async def _room(self) -> None:
        while self._is_full():
            await asyncio.sleep(_POLL_S)

    def _enter(self, error: StoreError) -> None:
        self._waiting += 1
        if self._waiting == 1 and isinstance(error, StoreFull):
            self._pauses.enter(AT_THE_DISK)
            self._emit("run.disk_full", {"full": True, "reason": str(error)})

    def _leave(self) -> None:
        self._waiting -= 1
        if self._waiting == 0 and self._pauses.leave(AT_THE_DISK) and self._abort.reason is None:
            self._emit("run.disk_full", {"full": False, "reason": "there is room on the disk again"})
