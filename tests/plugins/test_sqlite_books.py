"""Whatever order calls are reserved, settled, released and lost in: the cap holds and the books balance."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Literal

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.stores import Event, Granted, OverCap
from planloom.testing.store_samples import JOB, a_question, a_reply, ask_for, books, grant
from planloom_sqlite import SqliteStore, check_store, open_store
from planloom_sqlite._writer import Writer

Deed = tuple[Literal["reserve", "settle", "release", "lose", "cap", "tick"], int, int]

_deeds: st.SearchStrategy[list[Deed]] = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "reserve", "settle", "release", "lose", "cap", "tick"]),
        st.integers(0, 7),
        st.integers(0, 60),
    ),
    max_size=30,
)


@attrs.define
class Ledger:
    """What the books must say, kept by hand: the test's own few lines of the same rules."""

    cap: int = 100
    calls: dict[str, tuple[str, int]] = attrs.field(factory=dict)

    def total(self, state: str) -> int:
        return sum(amount for kind, amount in self.calls.values() if kind == state)

    def move(self, call: str, to: str, amount: int) -> None:
        state, worst = self.calls[call]
        if state == "sent" or (state == "uncertain" and to != "uncertain"):
            self.calls[call] = (to, worst if to == "uncertain" else amount)


async def _do(stores: list[SqliteStore], ledger: Ledger, deed: Deed) -> None:
    what, number, amount = deed
    store = stores[(number + amount) % len(stores)]
    calls = list(ledger.calls)
    call = calls[number % len(calls)] if calls else None
    if what == "reserve":
        left = store.books("job").left
        result = await ask_for(store, a_question(number), amount, look=False)
        if isinstance(result, Granted):
            assert amount <= left
            ledger.calls[result.call_id] = ("sent", amount)
    elif what == "cap":
        await store.set_cap("job", amount * 4)
        ledger.cap = amount * 4
    elif call is None:
        pass
    elif what == "settle":
        await store.settle(call, a_reply(price=amount))
        ledger.move(call, "settled", amount)
    elif what == "release":
        await store.release(call)
        ledger.move(call, "released", 0)
    elif what == "lose":
        await store.mark_uncertain(call)
        ledger.move(call, "uncertain", 0)


def _same(store: SqliteStore, ledger: Ledger) -> None:
    books = store.books("job")
    assert (books.cap, books.spent, books.reserved, books.uncertain) == (
        ledger.cap,
        ledger.total("settled"),
        ledger.total("sent"),
        ledger.total("uncertain"),
    )


@settings(max_examples=20)
@given(_deeds)
def test_the_books_are_what_the_calls_went_through(deeds: list[Deed]) -> None:
    async def scenario(path: Path) -> None:
        stores = [open_store(path), open_store(path)]
        ledger = Ledger()
        await stores[0].open_budget("job", 100)
        for deed in deeds:
            await _do(stores, ledger, deed)
            _same(stores[1], ledger)
        for store in stores:
            await store.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "store.db"))
        assert check_store(Path(folder) / "store.db") == []


async def _one_call(store: SqliteStore, number: int, fate: str, peaks: list[int]) -> None:
    """Live one call's life beside others, with the books looked at between its steps."""
    result = await ask_for(store, a_question(number), 9)
    if not isinstance(result, Granted):
        return
    books = store.books("job")
    peaks.append(books.spent + books.reserved + books.uncertain)
    if fate == "settle twice":
        await asyncio.gather(
            store.settle(result.call_id, a_reply(price=5)), store.settle(result.call_id, a_reply(price=7))
        )
    elif fate == "lose, then settle":
        await asyncio.gather(store.mark_uncertain(result.call_id), store.settle(result.call_id, a_reply(price=5)))
    elif fate == "release":
        await store.release(result.call_id)
    elif fate == "cancel":
        again = asyncio.ensure_future(ask_for(store, a_question(number + 1000), 9))
        await asyncio.sleep(0)
        again.cancel()
        await store.release(result.call_id)
    elif fate == "lose":
        await store.mark_uncertain(result.call_id)


_FATES = ["settle twice", "lose, then settle", "release", "cancel", "lose", "leave open"]


@settings(max_examples=15)
@given(st.lists(st.sampled_from(_FATES), max_size=30), st.integers(0, 200))
def test_calls_that_live_side_by_side_never_pass_the_cap(fates: list[str], cap: int) -> None:
    async def scenario(path: Path) -> None:
        one, two = open_store(path), open_store(path)
        await one.open_budget("job", cap)
        peaks: list[int] = [0]
        async with asyncio.TaskGroup() as group:
            for number, fate in enumerate(fates):
                group.create_task(_one_call((one, two)[number % 2], number, fate, peaks))
        assert max(peaks) <= cap
        await one.close()
        await two.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder) / "store.db"))
        assert check_store(Path(folder) / "store.db") == []


def test_what_others_wrote_between_two_commits_is_heeded(tmp_path: Path) -> None:
    async def scenario() -> None:
        mine, other = open_store(tmp_path / "store.db"), open_store(tmp_path / "store.db")
        await mine.open_budget(JOB, 10)
        first = await grant(mine, a_question(1), 4)
        second = await grant(other, a_question(2), 4)
        assert first != second
        assert isinstance(await ask_for(mine, a_question(3), 4), OverCap)
        await other.set_cap(JOB, 12)
        third = await grant(mine, a_question(3), 4)
        await other.settle(second, a_reply(price=1))
        await mine.release(first)
        assert len({first, second, third}) == 3
        assert mine.books(JOB) == other.books(JOB) == books(cap=12, spent=1, reserved=4)
        await mine.close()
        await other.close()

    asyncio.run(scenario())


def test_what_is_asked_for_in_one_turn_of_the_loop_is_one_commit(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 10_000)
        commits: list[str] = []
        assert isinstance(store._writer, Writer)
        store._writer._commits._connection.set_trace_callback(
            lambda sql: commits.append(sql) if sql == "COMMIT" else None
        )
        results = await asyncio.gather(*(ask_for(store, a_question(number)) for number in range(100)))
        assert all(isinstance(result, Granted) for result in results)
        assert len(commits) == 1
        await store.close()

    asyncio.run(scenario())


def _hundred(first: int) -> list[Event]:
    return [Event(seq=seq, t=float(seq), type="run.log", data={}) for seq in range(first, first + 100)]


def test_calls_wait_for_no_more_than_a_few_hundred_rows_of_events(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget(JOB, 1_000)
        lots = [_hundred(first) for first in range(1, 1_001, 100)]
        written = [asyncio.ensure_future(store.append_events("r", lot)) for lot in lots]
        await asyncio.sleep(0)
        await grant(store, a_question(1))
        await asyncio.sleep(0)
        assert 2 <= sum(write.done() for write in written) < 10
        await asyncio.gather(*written)
        assert [event.seq for event in store.events("r")] == list(range(1, 1_001))
        await store.close()

    asyncio.run(scenario())


def test_what_was_held_back_is_written_before_a_store_closes(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "store.db")
        lots = [_hundred(first) for first in range(1, 1_001, 100)]
        written = asyncio.gather(*(store.append_events("r", lot) for lot in lots))
        await asyncio.sleep(0)
        await store.close()
        await written
        again = open_store(tmp_path / "store.db")
        assert len(again.events("r")) == 1_000
        await again.close()

    asyncio.run(scenario())
