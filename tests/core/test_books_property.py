"""Whatever a server does and whoever leaves when: the books cover every answer that may have been billed."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom import PlanloomError, RunCancelled
from planloom.clients import Endpoint, ModelError
from planloom.money import micro_of
from planloom.questions import Reply
from planloom.stores import Books, Store
from planloom.testing.doors import BUDGET, ENDPOINT, doorway
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, dropped, html, json_answer
from planloom_openai import open_client
from planloom_sqlite import check_store, open_store

PRICE = micro_of(0.2)
QUICK_SEED = 8916  # its first three waits add up to 0.13 s


def refused(status: int) -> Served:
    return json_answer({"error": {"message": "no"}}, status=status)


BILLED = {
    "answer": completion("yes"),
    "late answer": completion("yes").after(0.02),
    "half an answer": completion("yes" * 50).cut(40),
    "a cut reply": completion("ye", finish_reason="length"),
}
NOT_BILLED = {"400": refused(400), "500": refused(500), "dropped": dropped(), "page": html(status=502)}
ANSWERS = {**BILLED, **NOT_BILLED}

steps = st.lists(st.sampled_from(sorted(ANSWERS)), min_size=1, max_size=12)
leavings = st.lists(st.integers(0, 30), max_size=6)


async def books_at_rest(store: Store) -> Books:
    """Return the books once nothing is reserved: what was granted to a worker that left is released behind its back."""
    async with asyncio.timeout(2):
        while (books := store.books(BUDGET)).reserved:
            await asyncio.sleep(0.005)
    return books


async def play(folder: Path, answers: list[str], leave_ms: list[int], cap: float, cut: bool) -> None:
    billed = 0

    def script(request: Received) -> Served:
        nonlocal billed
        name = answers[server.total % len(answers)]
        billed += name in BILLED
        return ANSWERS[name]

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(LoopbackServer(script))
        client = open_client(Endpoint(name=ENDPOINT, client="openai", url=server.url))
        stack.push_async_callback(client.close)
        store = open_store(folder / "store.db")
        stack.push_async_callback(store.close)
        options: dict[str, Any] = {"cap": cap, "in_flight": 3, "seed": QUICK_SEED}
        async with doorway(store, {ENDPOINT: client}, **options) as door:
            workers = [asyncio.ensure_future(door.ask(f"q{n % 6}")) for n in range(9)]
            for worker, wait in zip(workers, leave_ms, strict=False):
                await asyncio.sleep(wait / 1000)
                worker.cancel()
            if cut:
                door.abort.set(RunCancelled("stopped"))
                await door.door.cut()
            outcomes = await asyncio.gather(*workers, return_exceptions=True)
        books = await books_at_rest(store)
        assert billed * PRICE <= books.spent + books.uncertain <= books.cap
        assert all(isinstance(o, Reply | ModelError | PlanloomError | asyncio.CancelledError) for o in outcomes)
    assert check_store(folder / "store.db") == []


@pytest.mark.slow
@settings(max_examples=40)
@given(answers=steps, leave_ms=leavings, cap=st.sampled_from([0.5, 1.0, 100.0]), cut=st.booleans())
def test_what_may_have_been_billed_is_always_charged_and_never_above_the_cap(
    answers: list[str], leave_ms: list[int], cap: float, cut: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder), answers, leave_ms, cap, cut))
