"""The ways to the endpoints: what the runs of a process share of each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from ._machine_slots import MachineSlots, SlotFile, open_slot_file
from ._slots import Share, Slots
from ._warmup import LONGEST_WAIT_S, Lead, Warmup
from .clients import Endpoint

__all__ = ["Lane", "Lanes", "Turn"]

_log = logging.getLogger("planloom")


class Lane:
    """The way to one endpoint.

    :ivar warms: whether questions that share a beginning wait for the first of them; ``None`` leaves it to the price.
    :ivar hedge_after_s: when a question whose answer did not begin is sent once more, ``None`` for never.
    :ivar unclosed: by call, how to close those whose end could not be written down when they ended: of any run, since
        to this process's store they are in flight as long as it lives.
    """

    def __init__(self, slots: Slots, *, warms: bool | None = None, hedge_after_s: float | None = None) -> None:
        self.slots = slots
        self.warmup = Warmup()
        self.warms = warms
        self.hedge_after_s = hedge_after_s
        self.unclosed: dict[str, Callable[[], Awaitable[None]]] = {}

    async def close_earlier(self) -> None:
        """Write down what those calls came to: else who asks the same waits for them.

        :raises StoreError: nothing can be written still.
        """
        for call_id, close in tuple(self.unclosed.items()):
            await close()
            self.unclosed.pop(call_id, None)

    def turn(self, share: Share, keys: tuple[bytes, ...] = ()) -> Turn:
        """Return a place for one question, which holds no slot yet.

        :param keys: of the beginnings that a provider may have cached.
        """
        return Turn(self, share, keys)


class Turn:
    """One question's place on a lane: with a slot, or without.

    :ivar asked: whether a request was sent since it has its slot, which who sends one says.
    """

    __slots__ = ("_keys", "_lane", "_lead", "_share", "asked", "has_slot", "number")

    def __init__(self, lane: Lane, share: Share, keys: tuple[bytes, ...]) -> None:
        self._lane = lane
        self._share = share
        self._keys = keys
        self._lead: Lead | None = None
        self.number = 0
        self.has_slot = self.asked = False

    async def take(self, *, again: bool = False) -> None:
        """Wait for a slot, and for the endpoint to have read what this question has in common with another."""
        if not self._keys:
            self.number = await self._lane.slots.acquire(self._share, again=again)
            self.has_slot = True
            return
        clock = asyncio.get_running_loop().time
        until = clock() + LONGEST_WAIT_S
        while True:
            await self._beginning_is_read(until)
            self.number = await self._lane.slots.acquire(self._share, again=again)
            self.has_slot = True
            if self._lane.warmup.leader(self._keys) is None or clock() >= until:
                break
            self.give()
        self._lead = self._lane.warmup.lead(self._keys)

    async def _beginning_is_read(self, until: float) -> None:
        clock = asyncio.get_running_loop().time
        while (leader := self._lane.warmup.leader(self._keys)) is not None and clock() < until:
            try:
                async with asyncio.timeout_at(until):
                    await leader.over.wait()
            except TimeoutError:
                return

    def take_at_once(self) -> bool:
        """Take a slot as :meth:`take` does, where there is nothing to wait for; return whether there was not."""
        return not self._keys and self.take_free()

    def take_free(self) -> bool:
        """Take a slot if one is free that nobody waits for; return whether there was."""
        number = self._lane.slots.take_free(self._share)
        if number is not None:
            self.number, self.has_slot = number, True
        return self.has_slot

    def began(self) -> None:
        """Say that the answer begins."""
        if self._lead is not None:
            self._lead.began()

    def give(self) -> None:
        """Give the slot back, if there is one."""
        if self._lead is not None:
            self._lead.end()
            self._lead = None
        if self.has_slot:
            asked, self.has_slot, self.asked = self.asked, False, False
            self._lane.slots.release(self._share, self.number, asked=asked)


class Lanes:
    """The lanes of one process, made when they are first used.

    :param in_flight: calls at once at an endpoint that sets no number of its own.
    """

    def __init__(self, endpoints: Mapping[str, Endpoint], in_flight: int) -> None:
        self._endpoints = endpoints
        self._in_flight = in_flight
        self._lanes: dict[str, Lane] = {}
        self._file: SlotFile | str | None = None

    def of(self, endpoint_name: str) -> Lane:
        """Return the lane to an endpoint."""
        if endpoint_name not in self._lanes:
            endpoint = self._endpoints[endpoint_name]
            limit = endpoint.in_flight or self._in_flight
            slots = Slots(limit, name=endpoint_name, machine=self._shared(endpoint, limit))
            self._lanes[endpoint_name] = Lane(slots, warms=endpoint.prefix_cache, hedge_after_s=endpoint.hedge_after_s)
        return self._lanes[endpoint_name]

    def _shared(self, endpoint: Endpoint, limit: int) -> MachineSlots | None:
        if not endpoint.url:
            return None
        if self._file is None:
            self._file = open_slot_file()
            if isinstance(self._file, str):
                _log.info(self._file)
        return None if isinstance(self._file, str) else MachineSlots(self._file, endpoint.url, limit)

    def close(self) -> None:
        """Give back what other processes may want."""
        if isinstance(self._file, SlotFile):
            self._file.close()
            self._file = None
            self._lanes.clear()
