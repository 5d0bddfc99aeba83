"""Small questions, replies, runs and threads for tests of stores, and tests that are coroutines over open stores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import attrs

from planloom.money import Usage
from planloom.questions import Question, Reply, message_of
from planloom.stores import Books, Event, Granted, ReserveResult, RunRow, Store, ThreadRow

__all__ = [
    "JOB",
    "LONG_TEXT",
    "Opener",
    "a_question",
    "a_reply",
    "a_run",
    "a_thread",
    "ask_for",
    "books",
    "events_of",
    "grant",
    "with_store",
    "with_two",
]

Opener = Callable[[], Store]

JOB = "job"
LONG_TEXT = "def largest(values):\n    return max(values)\n" * 100


def with_store(test: Callable[[Any, Store], Coroutine[Any, Any, None]]) -> Callable[[Any, Opener], None]:
    """Turn a coroutine that takes a store into a test that opens one with the budget ``job`` of 100 and closes it."""

    def run(self: Any, open_store: Opener) -> None:
        async def scenario() -> None:
            store = open_store()
            try:
                await store.open_budget(JOB, 100)
                await test(self, store)
            finally:
                await store.close()

        asyncio.run(scenario())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def with_two(test: Callable[[Any, Store, Store], Coroutine[Any, Any, None]]) -> Callable[[Any, Opener], None]:
    """Turn a coroutine that takes two open stores of one place into a test; see :func:`with_store`."""

    def run(self: Any, open_store: Opener) -> None:
        async def scenario() -> None:
            one, two = open_store(), open_store()
            try:
                await one.open_budget(JOB, 100)
                await test(self, one, two)
            finally:
                await one.close()
                await two.close()

        asyncio.run(scenario())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def a_question(number: int = 0, data: str = "") -> Question:
    """Return a question that differs by its number."""
    return Question(
        endpoint="local",
        model="small",
        messages=(message_of("system", "Read closely."), message_of("user", data, f"What does {number} say?")),
        parameters={"temperature": 0.6, "max_tokens": 100},
        sample=(0, 1),
    )


def a_reply(text: str = "nothing", price: int = 4, **changes: Any) -> Reply:
    """Return a reply at this price."""
    reply = Reply(
        text=text,
        finish_reason="stop",
        usage=Usage(prompt_tokens=10, completion_tokens=3),
        seconds=0.25,
        model="small-2026",
        price=price,
        role="worker",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, UTC),
    )
    return attrs.evolve(reply, **changes)


async def ask_for(
    store: Store, question: Question, worst: int = 10, *, look: bool = True, budget: str = JOB
) -> ReserveResult:
    """Reserve a call of the run ``r`` for a question."""
    return await store.reserve(question, budget=budget, run="r", thread="r/t001", worst=worst, look=look)


async def grant(store: Store, question: Question, worst: int = 10, *, look: bool = True) -> str:
    """Reserve a call that must be granted; return its id."""
    result = await ask_for(store, question, worst, look=look)
    assert isinstance(result, Granted)
    return result.call_id


def books(cap: int = 100, spent: int = 0, reserved: int = 0, uncertain: int = 0) -> Books:
    """Return the books of a budget."""
    return Books(cap=cap, spent=spent, reserved=reserved, uncertain=uncertain)


def a_run(number: int = 1, **changes: Any) -> RunRow:
    """Return a run that differs by its number."""
    row = RunRow(
        id=f"run-{number}",
        title="A run",
        status="running",
        plan='phase("scan")\n',
        plan_hash="00ff",
        budget=JOB,
        created_at="2026-01-02T03:04:05+00:00",
        facts={"kits": {"audit": "0.1"}, "arguments": {"level": 2, "deep": [1, None, 2.5]}},
    )
    return attrs.evolve(row, **changes)


def a_thread(number: int = 1, **changes: Any) -> ThreadRow:
    """Return a thread of ``run-1`` that differs by its number."""
    row = ThreadRow(
        id=f"run-1/t{number:03}",
        run="run-1",
        place=f"2.0.{number}",
        phase="scan",
        label="worker",
        model="small",
        role="worker",
        status="done",
        started=float(number),
        ended=number + 0.5,
    )
    return attrs.evolve(row, **changes)


def events_of(*types: str) -> list[Event]:
    """Return events of these types, a second apart and numbered from 1."""
    return [Event(seq=n, t=float(n), type=kind, data={"n": n}) for n, kind in enumerate(types, 1)]
