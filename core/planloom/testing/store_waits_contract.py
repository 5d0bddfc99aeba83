"""What every store does with a call that waits between two attempts; part of the contract of stores."""

from __future__ import annotations

import asyncio

from planloom.stores import Answered, OpenElsewhere, OverCap, Store

from .store_samples import JOB, Opener, a_question, a_reply, ask_for, books, grant, with_store, with_two

__all__ = ["SharedWaitsContract", "WaitsContract"]


class WaitsContract:
    """What one open store does with a call of which nothing is out."""

    @with_store
    async def test_a_call_that_waits_keeps_its_money_and_its_question(self, store: Store) -> None:
        call = await grant(store, a_question(1), worst=60)
        await store.mark_waiting(call)
        assert store.books(JOB) == books(reserved=60)
        assert await ask_for(store, a_question(1)) == OpenElsewhere(call)
        assert isinstance(await ask_for(store, a_question(2), 41), OverCap)
        assert store.money("r") == {"calls": 1, "spent": 0, "uncertain": 0, "reserved": 60}

    @with_store
    async def test_a_call_that_waited_goes_out_again_and_is_billed_once(self, store: Store) -> None:
        call = await grant(store, a_question(), worst=60)
        for _ in range(3):
            await store.mark_waiting(call)
            assert await store.mark_sent(call)
        await store.settle(call, a_reply(price=7))
        assert store.books(JOB) == books(spent=7)
        assert isinstance(await ask_for(store, a_question()), Answered)

    @with_store
    async def test_a_call_that_waits_may_be_given_up(self, store: Store) -> None:
        call = await grant(store, a_question(), worst=60)
        await store.mark_waiting(call)
        await store.release(call)
        assert store.books(JOB) == books()
        assert not await store.mark_sent(call)

    @with_store
    async def test_a_call_that_is_over_neither_waits_nor_goes_out(self, store: Store) -> None:
        call = await grant(store, a_question(), worst=60)
        await store.settle(call, a_reply(price=7))
        await store.mark_waiting(call)
        assert not await store.mark_sent(call)
        assert store.books(JOB) == books(spent=7)


class SharedWaitsContract:
    """What two open stores of one place do with a call of which nothing is out."""

    @with_two
    async def test_a_call_that_waits_is_open_for_others_like_any(self, one: Store, two: Store) -> None:
        call = await grant(one, a_question())
        await one.mark_waiting(call)
        assert await ask_for(two, a_question()) == OpenElsewhere(call)

    def test_what_waited_when_its_store_ended_is_released_and_what_was_out_is_uncertain(
        self, open_store: Opener
    ) -> None:
        async def scenario() -> None:
            one = open_store()
            await one.open_budget(JOB, 100)
            waits, is_out, out_again = [await grant(one, a_question(n)) for n in range(3)]
            await one.mark_waiting(waits)
            await one.mark_waiting(out_again)
            assert await one.mark_sent(out_again)
            await one.close()
            two = open_store()
            assert two.books(JOB) == books(uncertain=20)
            assert [uncertain.call_id for uncertain in two.uncertain_calls(JOB)] == [is_out, out_again]
            assert await grant(two, a_question(0)) != waits
            await two.close()

        asyncio.run(scenario())
