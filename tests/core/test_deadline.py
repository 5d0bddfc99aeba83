"""A time limit whose end moves, in virtual time."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref

import pytest

from planloom._deadline import Deadline
from planloom._virtual_time import run_in_virtual_time


async def _lasts(limit_s: float, *, moved_s: float | None = None) -> float:
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        with Deadline(began + limit_s) as deadline:
            if moved_s is not None:
                deadline.move(began + moved_s)
            await asyncio.sleep(1_000)
    except TimeoutError:
        return clock() - began
    return float("inf")


@pytest.mark.parametrize(("moved_s", "lasts_s"), [(None, 10), (30, 30), (5, 5)])
def test_what_takes_longer_ends_where_the_limit_was_moved_last(moved_s: float | None, lasts_s: float) -> None:
    assert run_in_virtual_time(_lasts(10, moved_s=moved_s)) == pytest.approx(lasts_s)


def test_what_is_done_in_time_is_left_alone() -> None:
    async def quick() -> str:
        with Deadline(asyncio.get_running_loop().time() + 10):
            await asyncio.sleep(1)
        await asyncio.sleep(100)
        return "done"

    assert run_in_virtual_time(quick()) == "done"


def test_a_cancel_from_outside_stays_a_cancel() -> None:
    async def long() -> None:
        with Deadline(asyncio.get_running_loop().time() + 10):
            await asyncio.sleep(1_000)

    async def cancelled() -> bool:
        task = asyncio.ensure_future(long())
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert run_in_virtual_time(cancelled())


def test_an_inner_limit_does_not_end_the_outer_one() -> None:
    async def nested() -> str:
        now = asyncio.get_running_loop().time()
        with Deadline(now + 100):
            assert await _lasts(10) == pytest.approx(10)
            await asyncio.sleep(1)
        return "done"

    assert run_in_virtual_time(nested()) == "done"


def test_of_two_limits_each_ends_its_own_task_at_its_own_time() -> None:
    async def both() -> list[float]:
        return list(await asyncio.gather(_lasts(20), _lasts(10, moved_s=30), _lasts(25, moved_s=5)))

    assert run_in_virtual_time(both()) == pytest.approx([20, 30, 5])


def test_what_came_while_nothing_ran_is_no_later_each_time_that_nothing_runs() -> None:
    async def read_after_a_stop() -> None:
        with Deadline(asyncio.get_running_loop().time() + 0.01):
            time.sleep(0.2)
            for _ in range(5):
                await asyncio.sleep(0)

    async def twice() -> None:
        await read_after_a_stop()
        await read_after_a_stop()

    asyncio.run(twice())


def test_a_limit_keeps_no_event_loop() -> None:
    async def limited() -> weakref.ref[asyncio.AbstractEventLoop]:
        with Deadline(asyncio.get_running_loop().time() + 10):
            await asyncio.sleep(0)
        return weakref.ref(asyncio.get_running_loop())

    loop = asyncio.run(limited())
    gc.collect()
    assert loop() is None
