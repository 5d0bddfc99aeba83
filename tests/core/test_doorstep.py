"""Thousands that begin to ask at once: the first are on their way before the last have begun, and none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from planloom._doorstep import Doorstep
from planloom.testing.doors import Doorway, at_the_door
from planloom.testing.loopback import LoopbackServer, Received, Served, completion

MANY = 2_000


async def let_in(doorstep: Doorstep, number: int, order: list[int]) -> None:
    if not doorstep.is_free():
        await doorstep.wait()
    order.append(number)


# As many as begin in a turn, which Python 3.12 and later end in that same turn.
@example([128], set())
@given(st.lists(st.integers(0, 300), min_size=1, max_size=5), st.sets(st.integers(0, 900)))
def test_all_are_let_in_in_order_but_those_that_left(crowds: list[int], leaving: set[int]) -> None:
    async def scenario() -> None:
        doorstep, order, tasks = Doorstep(asyncio.get_running_loop()), list[int](), list[asyncio.Task[None]]()
        numbers: Iterator[int] = iter(range(sum(crowds)))
        for crowd in crowds:
            tasks += [asyncio.ensure_future(let_in(doorstep, next(numbers), order)) for _ in range(crowd)]
            await asyncio.sleep(0)
        cut = {number for number in leaving if number < len(tasks) and tasks[number].cancel()}
        await asyncio.gather(*tasks, return_exceptions=True)
        assert order == [number for number in range(len(tasks)) if number not in cut]
        await asyncio.sleep(0)
        assert doorstep.is_free()

    asyncio.run(scenario())


def test_the_first_answers_are_there_before_the_last_questions_are_made(tmp_path: Path) -> None:
    def answers(_: Received) -> Served:
        return completion("yes")

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        begun = 0
        counted = door.door.at_hand

        def at_hand(*given: object) -> object:
            nonlocal begun
            begun += 1
            return counted(*given)  # type: ignore[arg-type]

        door.door.at_hand = at_hand  # type: ignore[method-assign,assignment]
        asked = [asyncio.ensure_future(door.ask(f"question {number}")) for number in range(MANY)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert begun < MANY / 4
        await asyncio.gather(*asked)
        assert (begun, server.total) == (MANY, MANY)

    at_the_door(tmp_path / "store.db", answers, scenario, cap=10_000)
