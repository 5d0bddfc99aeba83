"""The contract that every store keeps, as a pytest suite.

Derive from :class:`StoreContract` and give it a fixture ``open_store`` that returns a function which opens a store;
derive from :class:`SharedStoreContract` as well when several open stores can be on one file or server, with a fixture
``open_store`` whose function opens the same one each time it is called within a test::

    class TestMyStore(StoreContract, SharedStoreContract):
        @pytest.fixture
        def open_store(self, tmp_path):
            return lambda: my_open(tmp_path / "store")
"""

from __future__ import annotations

import asyncio

import pytest

from planloom._errors import StoreError
from planloom.stores import Answered, Granted, OpenElsewhere, OverCap, Store

from .store_books_contract import BooksContract
from .store_cap_contract import CapContract, SharedCapContract
from .store_hedge_contract import HedgeContract, SharedHedgeContract
from .store_ledger_contract import LedgerContract
from .store_runs_contract import RunsContract, SharedRunsContract
from .store_samples import (
    JOB,
    LONG_TEXT,
    Opener,
    a_question,
    a_reply,
    a_run,
    ask_for,
    books,
    grant,
    with_store,
    with_two,
)
from .store_waits_contract import SharedWaitsContract, WaitsContract

__all__ = ["SharedStoreContract", "StoreContract"]


class StoreContract(LedgerContract, BooksContract, RunsContract, CapContract, HedgeContract, WaitsContract):
    """What one open store does; here what happens when a write fails, and at its end."""

    @with_store
    async def test_a_write_that_fails_harms_no_neighbour(self, store: Store) -> None:
        unwritable = a_run(2, facts={"no JSON": object()})
        bad, unknown, *good = await asyncio.gather(
            store.save_run(unwritable),
            store.settle("4711", a_reply()),
            ask_for(store, a_question()),
            store.save_run(a_run(1)),
            return_exceptions=True,
        )
        assert isinstance(bad, TypeError)
        assert isinstance(unknown, StoreError)
        assert isinstance(good[0], Granted)
        assert [run.id for run in store.runs()] == ["run-1"]
        assert store.books(JOB) == books(reserved=10)

    @with_store
    async def test_it_can_be_read_from_any_thread_while_it_is_written(self, store: Store) -> None:
        def left_over_and_over() -> list[int]:
            return [store.books(JOB).left for _ in range(50)]

        reading = asyncio.gather(*(asyncio.to_thread(left_over_and_over) for _ in range(4)))
        for number in range(9):
            await store.settle(await grant(store, a_question(number), 10), a_reply(price=10))
        for seen in await reading:
            assert sorted(seen, reverse=True) == seen

    def test_a_closed_store_says_so_and_closes_twice(self, open_store: Opener) -> None:
        async def scenario() -> None:
            store = open_store()
            await store.close()
            await store.close()
            with pytest.raises(StoreError, match="closed"):
                await store.open_budget(JOB, 1)
            with pytest.raises(StoreError, match="closed"):
                store.books(JOB)

        asyncio.run(scenario())

    def test_closing_commits_what_waits(self, open_store: Opener) -> None:
        async def scenario() -> None:
            store = open_store()
            writes = [asyncio.ensure_future(store.open_budget(str(n), n)) for n in range(50)]
            await asyncio.sleep(0)
            await store.close()
            assert [books.cap for books in await asyncio.gather(*writes)] == list(range(50))

        asyncio.run(scenario())


class SharedStoreContract(SharedRunsContract, SharedCapContract, SharedHedgeContract, SharedWaitsContract):
    """What two open stores of one place do to each other."""

    @with_two
    async def test_what_one_settles_the_other_knows(self, one: Store, two: Store) -> None:
        await one.settle(await grant(one, a_question()), a_reply("from one"))
        assert isinstance(await ask_for(two, a_question()), Answered)
        assert two.books(JOB) == one.books(JOB) == books(spent=4)

    @with_two
    async def test_what_one_answered_the_other_does_not_lack_once_it_has_written(self, one: Store, two: Store) -> None:
        await two.open_budget(JOB, 100)
        await one.settle(await grant(one, a_question()), a_reply())
        await two.open_budget(JOB, 100)
        assert not two.lacks(a_question().fingerprint)

    @with_two
    async def test_a_question_that_one_asks_is_open_elsewhere_for_the_other(self, one: Store, two: Store) -> None:
        call = await grant(one, a_question())
        assert await ask_for(two, a_question()) == OpenElsewhere(call)

    @with_two
    async def test_a_shared_question_is_asked_once(self, one: Store, two: Store) -> None:
        results = await asyncio.gather(*(ask_for(s, a_question(), 1) for s in (one, two) * 10))
        assert sum(isinstance(result, Granted) for result in results) == 1

    @with_two
    async def test_one_cap_holds_for_both(self, one: Store, two: Store) -> None:
        stores = (one, two) * 20
        results = await asyncio.gather(*(ask_for(s, a_question(n), 9) for n, s in enumerate(stores)))
        assert sum(isinstance(result, Granted) for result in results) == 11
        assert one.books(JOB) == two.books(JOB) == books(reserved=99)

    @with_two
    async def test_what_one_frees_the_other_sees_in_its_version(self, one: Store, two: Store) -> None:
        call = await grant(one, a_question(1), worst=100)
        refused = await ask_for(two, a_question(2))
        assert isinstance(refused, OverCap)
        assert two.version() == refused.version
        await one.settle(call, a_reply())
        assert two.version() != refused.version
        assert isinstance(await ask_for(two, a_question(2)), Granted)

    @with_two
    async def test_a_part_that_both_send_is_stored_for_both(self, one: Store, two: Store) -> None:
        await grant(one, a_question(1, LONG_TEXT))
        await grant(two, a_question(2, LONG_TEXT))
        for store, number in ((one, 2), (two, 1)):
            question = store.question(a_question(number, LONG_TEXT).fingerprint)
            assert question is not None
            assert question.messages[1].parts[0].text == LONG_TEXT

    def test_everything_is_there_when_it_is_opened_again(self, open_store: Opener) -> None:
        async def first() -> None:
            store = open_store()
            await store.open_budget(JOB, 100)
            await store.settle(await grant(store, a_question()), a_reply("kept"))
            await store.save_run(a_run())
            await store.close()

        async def second() -> None:
            store = open_store()
            reply = store.reply(a_question().fingerprint)
            assert reply is not None
            assert reply.text == "kept"
            assert store.books(JOB) == books(spent=4)
            assert store.run("run-1") == a_run()
            await store.close()

        asyncio.run(first())
        asyncio.run(second())

    def test_what_a_closed_store_left_open_becomes_uncertain(self, open_store: Opener) -> None:
        async def scenario() -> None:
            one = open_store()
            await one.open_budget(JOB, 100)
            call = await grant(one, a_question())
            await one.close()
            two = open_store()
            assert two.books(JOB) == books(uncertain=10)
            assert [uncertain.call_id for uncertain in two.uncertain_calls(JOB)] == [call]
            await two.close()

        asyncio.run(scenario())
