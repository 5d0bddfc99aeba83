"""Calls that are ended at any turn of the event loop: what is charged was sent, what was sent is charged, once."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from planloom import PlanloomError, RunCancelled
from planloom.questions import Reply
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, json_answer
from planloom_sqlite import check_store

PRICE = 200_000
TURNS = range(1, 26, 2)
ANSWERS = {
    "answer": completion("yes"),
    "late": completion("yes").after(0.02),
    "never": completion("no").hanging(),
    "busy": json_answer({"error": {"message": "no"}}, 429, {"retry-after": "0"}),
    "used up": json_answer({"error": {"message": "no"}}, 402, {"retry-after": "0"}),
    "half": completion("yes" * 50).cut(40),
}
BILLED = ("answer", "late", "never", "half")
SCRIPTS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "answered": (("answer",), {}),
    "answered late": (("late",), {}),
    "refused first": (("busy", "late"), {}),
    "used up first": (("used up", "late"), {}),
    "asked again": (("late",), {"mode": "refresh"}),
    "hedged": (("never", "late"), {"hedge_after_s": 0.004}),
    "at its cap": (("late",), {"cap": 0.2, "on_cap": "wait"}),
}


def leaves(door: Doorway, workers: list[asyncio.Task[Any]]) -> None:
    workers[0].cancel()


def is_cut(door: Doorway, workers: list[asyncio.Task[Any]]) -> None:
    door.abort.set(RunCancelled("stopped"))
    workers.append(asyncio.ensure_future(door.door.cut()))


def is_cut_twice(door: Doorway, workers: list[asyncio.Task[Any]]) -> None:
    is_cut(door, workers)
    asyncio.get_running_loop().call_soon(is_cut, door, workers)


async def end(door: Doorway, how: Callable[..., None], turn: int) -> list[Any]:
    """Ask three questions, one of them twice, and end that so after some turns; return what came of it."""
    workers: list[asyncio.Task[Any]] = [asyncio.ensure_future(door.ask(text)) for text in ("a", "a", "b", "c")]
    for _ in range(turn):
        await asyncio.sleep(0)
    how(door, workers)
    await asyncio.wait(workers, timeout=0.2)
    is_cut(door, workers)  # what waits for money, or for an answer that never comes
    return await asyncio.gather(*workers, return_exceptions=True)


def play(store: Path, script: str, how: Callable[..., None], turn: int) -> None:
    answers, options = SCRIPTS[script]
    sent: list[str] = []
    to_come = chain(answers, repeat(answers[-1]))

    def answer(request: Received) -> Served:
        sent.append(next(to_come))
        return ANSWERS[sent[-1]]

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await end(door, how, turn)
        assert all(isinstance(each, Reply | int | PlanloomError | asyncio.CancelledError) for each in outcomes)
        async with asyncio.timeout(5):  # what was granted to who had left is released behind its back
            while door.store.books(BUDGET).reserved:
                await asyncio.sleep(0.005)
        assert (door.lane.slots.in_flight, door.door.in_flight) == (0, 0)
        charged = door.store.books(BUDGET).spent + door.store.books(BUDGET).uncertain
        async with asyncio.timeout(5):  # what is on its way to the server arrives
            while charged > len(sent) * PRICE:
                await asyncio.sleep(0.005)
        assert charged >= sum(name in BILLED for name in sent) * PRICE
        with closing(sqlite3.connect(store)) as connection:
            settled = connection.execute("SELECT count(*) FROM call WHERE state = 'settled' GROUP BY question")
            assert all(count == 1 for (count,) in settled)

    at_the_door(store, answer, scenario, in_flight=2, **options)
    assert check_store(store) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [leaves, is_cut, is_cut_twice], ids=lambda how: str(how.__name__))
@pytest.mark.parametrize("script", SCRIPTS)
def test_what_is_charged_was_sent_and_what_was_sent_is_charged_once(
    tmp_path: Path, script: str, how: Callable[..., None]
) -> None:
    for turn in TURNS:
        play(tmp_path / f"{turn}.db", script, how, turn)
