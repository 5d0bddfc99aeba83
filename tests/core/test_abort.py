"""One flag wakes everything that waits, and nothing that was granted is lost on the way."""

from __future__ import annotations

import asyncio
import traceback

import pytest

from planloom import RunCancelled, RunStopped
from planloom._abort import Abort
from planloom._slots import Share, Slots

REASON = RunCancelled("stopped")


def test_a_wait_ends_with_the_reason_of_the_abort() -> None:
    async def play() -> None:
        abort = Abort()
        waiting = asyncio.ensure_future(abort.until(asyncio.sleep(60)))
        await asyncio.sleep(0)
        abort.set(REASON)
        with pytest.raises(RunCancelled) as caught:
            await waiting
        assert caught.value is REASON

    asyncio.run(play())


def test_the_first_reason_stays() -> None:
    abort = Abort()
    abort.set(REASON)
    abort.set(RunStopped("later"))
    with pytest.raises(RunCancelled):
        abort.check()


def test_a_wait_that_begins_after_the_abort_ends_at_once() -> None:
    async def play() -> None:
        abort = Abort()
        abort.set(REASON)
        with pytest.raises(RunCancelled):
            await abort.until(asyncio.sleep(60))

    asyncio.run(play())


def test_a_wait_that_ends_by_itself_gives_its_value() -> None:
    async def play() -> None:
        assert await Abort().until(asyncio.sleep(0, "value")) == "value"

    asyncio.run(play())


def test_a_task_cancelled_from_outside_stays_cancelled_even_when_the_run_ends_too() -> None:
    async def play() -> None:
        abort = Abort()
        waiting = asyncio.ensure_future(abort.until(asyncio.sleep(60)))
        await asyncio.sleep(0)
        waiting.cancel()
        abort.set(REASON)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(play())


def test_after_the_reason_a_task_can_wait_again() -> None:
    async def play() -> str:
        abort = Abort()

        async def worker() -> str:
            with pytest.raises(RunCancelled):
                await abort.until(asyncio.sleep(60))
            return await asyncio.sleep(0, "cleaned up")

        working = asyncio.ensure_future(worker())
        await asyncio.sleep(0)
        abort.set(REASON)
        return await working

    assert asyncio.run(play()) == "cleaned up"


@pytest.mark.parametrize("turns", range(6))
def test_a_slot_granted_in_the_turn_of_a_cancel_is_given_back(turns: int) -> None:
    async def play() -> None:
        abort, slots, share = Abort(), Slots(1), Share(1)
        first = await slots.acquire(share)
        waiting = asyncio.ensure_future(abort.until(slots.acquire(share)))
        await asyncio.sleep(0.01)
        slots.release(share, first)
        for _ in range(turns):
            await asyncio.sleep(0)
        if not waiting.cancel():
            slots.release(share, waiting.result())
        await asyncio.wait([waiting])
        await asyncio.wait_for(slots.acquire(share), 1.0)

    asyncio.run(play())


def test_a_hold_keeps_every_slot_of_the_endpoint_waiting() -> None:
    async def play() -> None:
        slots, share = Slots(2), Share(2)
        slots.hold(0.1)
        clock = asyncio.get_running_loop().time
        began = clock()
        await asyncio.gather(slots.acquire(share), slots.acquire(share))
        assert clock() - began >= 0.095

    asyncio.run(play())


def test_a_reason_that_ends_a_thousand_workers_does_not_remember_where_each_was() -> None:
    abort = Abort()
    abort.set(REASON)
    for _ in range(1_000):
        with pytest.raises(RunCancelled):
            abort.check()
    assert sum(1 for _ in traceback.walk_tb(REASON.__traceback__)) < 10
