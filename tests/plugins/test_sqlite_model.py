"""Whatever is asked for in whatever order, on the loop or on the thread: calls, books and events are as a few lines of
Python say."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.stores import Answered, Books, Event, Granted, OpenElsewhere
from planloom.testing.store_samples import JOB, a_question, a_reply, a_run, ask_for
from planloom_sqlite import SqliteStore, check_store, open_store
from planloom_sqlite._writer import Writer

CAP, WORST, PRICE = 10**6, 10, 4
TEXTS = {"short": "yes", "long": "".join(f"a finding in line {number}; " for number in range(8_000))}

LENGTHS = st.sampled_from(["short", "short", "short", "long"])
STEPS = st.one_of(
    st.tuples(st.just("ask"), LENGTHS),
    st.tuples(st.just("ask and leave"), LENGTHS),
    st.tuples(st.just("ask again"), st.integers(0, 50)),
    st.tuples(st.just("settle"), LENGTHS),
    st.tuples(st.just("release"), st.none()),
    st.tuples(st.just("lose"), st.none()),
    st.tuples(st.just("events"), st.sampled_from([1, 5, 200, 700])),
    st.tuples(st.just("turn"), st.sampled_from([0.0, 0.0, 0.0, 0.001, 0.005])),
    st.tuples(st.just("pause"), st.none()),
    st.tuples(st.just("resume"), st.none()),
    st.tuples(st.just("lock"), st.sampled_from([0.0, 0.003])),
)


@attrs.define
class Play:
    """One play of steps on a store, and what must come of it; each step changes it."""

    store: SqliteStore
    other: sqlite3.Connection
    open: dict[int, str] = attrs.Factory(dict)
    settled: set[int] = attrs.Factory(set)
    uncertain: int = 0
    asked: int = 0
    events: int = 0
    waiting: list[asyncio.Task[Any]] = attrs.Factory(list)

    async def step(self, kind: str, value: Any) -> None:
        """Do one step, most of them without waiting for what comes of it."""
        match kind:
            case "ask":
                self.asked += 1
                self._begin(self._ask(self.asked, TEXTS[value]))
            case "ask and leave":
                self.asked += 1
                asking = asyncio.ensure_future(ask_for(self.store, a_question(self.asked, TEXTS[value]), WORST))
                await asyncio.sleep(0)
                asking.cancel()
            case "ask again" if value in self.open:
                self._begin(self._ask_again(value, OpenElsewhere))
            case "ask again" if value in self.settled:
                self._begin(self._ask_again(value, Answered))
            case "settle" | "release" | "lose" if self.open:
                number, call = self.open.popitem()
                self._begin(self._end(number, call, kind, TEXTS.get(value, "")))
            case "events":
                lot = [Event(seq=self.events + at, t=0.0, type="run.log", data={}) for at in range(1, value + 1)]
                self.events += value
                self._begin(self.store.append_events("run-1", lot))
            case _:
                await self._surroundings(kind, value)

    async def _surroundings(self, kind: str, value: Any) -> None:
        writer = self.store._writer
        assert isinstance(writer, Writer)
        if kind == "turn":
            await asyncio.sleep(value)
        elif kind == "pause":
            writer._pace.pause()
        elif kind == "resume":
            writer._pace._until = float("-inf")
        elif kind == "lock":
            self.other.execute("BEGIN IMMEDIATE")
            await asyncio.sleep(value)
            self.other.execute("COMMIT")

    def _begin(self, step: Coroutine[Any, Any, None]) -> None:
        self.waiting.append(asyncio.ensure_future(step))

    async def _ask(self, number: int, text: str) -> None:
        result = await ask_for(self.store, a_question(number, text), WORST)
        assert isinstance(result, Granted)
        self.open[number] = result.call_id

    async def _ask_again(self, number: int, then: type) -> None:
        # Of a long text or a short one; the call may end meanwhile, in the order of asking.
        for text in TEXTS.values():
            result = await ask_for(self.store, a_question(number, text), WORST)
            if isinstance(result, Granted):  # it was asked with the other text, or was over
                await self.store.release(result.call_id)
            else:
                assert isinstance(result, (then, Answered))

    async def _end(self, number: int, call: str, kind: str, text: str) -> None:
        if kind == "settle":
            await self.store.settle(call, a_reply(text, price=PRICE))
            self.settled.add(number)
        elif kind == "release":
            await self.store.release(call)
        else:
            self.uncertain += 1
            await self.store.mark_uncertain(call)

    @property
    def books(self) -> Books:
        """What the books must say once the store was closed, and nobody knows what came of the calls that were open."""
        uncertain = WORST * (self.uncertain + len(self.open))
        return Books(cap=CAP, spent=PRICE * len(self.settled), reserved=0, uncertain=uncertain)


@settings(deadline=None, max_examples=40)
@given(st.lists(STEPS, max_size=60))
def test_calls_books_and_events_come_out_as_the_steps_say(steps: list[tuple[str, Any]]) -> None:
    async def scenario(path: Path) -> None:
        store = open_store(path)
        await store.open_budget(JOB, CAP)
        await store.save_run(a_run())
        other = sqlite3.connect(path, isolation_level=None, timeout=10)
        play = Play(store, other)
        for kind, value in steps:
            await play.step(kind, value)
        await asyncio.wait_for(asyncio.gather(*play.waiting), 15)
        other.close()
        await store.close()
        again = open_store(path)
        assert again.books(JOB) == play.books
        assert [event.seq for event in again.events("run-1")] == list(range(1, play.events + 1))
        await again.close()
        assert check_store(path) == []

    with TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "store.db"))
