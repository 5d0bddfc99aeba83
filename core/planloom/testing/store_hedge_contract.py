"""What every store does with a second request for a question in flight; part of the contract of stores."""

from __future__ import annotations

import asyncio

from planloom.stores import Answered, Granted, OpenElsewhere, Store

from .store_samples import JOB, a_question, a_reply, ask_for, books, grant, with_store, with_two

__all__ = ["HedgeContract", "SharedHedgeContract"]


async def _hedged(store: Store, call: str) -> str:
    second = await store.hedge(call)
    assert second is not None
    return second


class HedgeContract:
    """What one open store does with a second request."""

    @with_store
    async def test_a_second_request_is_charged_at_its_worst_price_from_the_start(self, store: Store) -> None:
        first = await grant(store, a_question(), worst=40)
        second = await _hedged(store, first)
        assert second != first
        assert store.books(JOB) == books(reserved=40, uncertain=40)
        assert store.money("r") == {"calls": 2, "spent": 0, "uncertain": 40, "reserved": 40}
        (unsure,) = store.uncertain_calls(JOB)
        assert (unsure.call_id, unsure.run, unsure.thread, unsure.worst) == (second, "r", "r/t001", 40)

    @with_store
    async def test_there_is_no_second_request_that_would_pass_a_cap(self, store: Store) -> None:
        first = await grant(store, a_question(1), worst=51)
        assert await store.hedge(first) is None
        other = await grant(store, a_question(2), worst=24)
        await store.cap_store(98)
        assert await store.hedge(other) is None
        await store.cap_store(99)
        assert await store.hedge(other) is not None
        assert store.books(JOB) == books(reserved=75, uncertain=24)

    @with_store
    async def test_of_second_requests_at_once_as_many_go_out_as_fit(self, store: Store) -> None:
        firsts = [await grant(store, a_question(n), worst=10) for n in range(6)]
        seconds = await asyncio.gather(*(store.hedge(first) for first in firsts))
        assert sum(second is not None for second in seconds) == 4
        assert store.books(JOB).left == 0

    @with_store
    async def test_the_second_answers_and_the_first_stays_charged(self, store: Store) -> None:
        first = await grant(store, a_question(), worst=40)
        second = await _hedged(store, first)
        version = await store.settle(second, a_reply("late but first", price=7))
        await store.mark_uncertain(first)
        assert store.books(JOB) == books(spent=7, uncertain=40)
        answer = store.reply(a_question().fingerprint)
        assert answer is not None
        assert (answer.text, answer.version) == ("late but first", version)
        assert isinstance(await ask_for(store, a_question()), Answered)

    @with_store
    async def test_the_first_answers_and_the_second_stays_charged_until_a_person_frees_it(self, store: Store) -> None:
        first = await grant(store, a_question(), worst=40)
        second = await _hedged(store, first)
        await store.settle(first, a_reply(price=7))
        assert store.books(JOB) == books(spent=7, uncertain=40)
        await store.release(second)
        assert store.books(JOB) == books(spent=7)

    @with_store
    async def test_both_answers_are_billed_and_the_answer_stays_one(self, store: Store) -> None:
        first = await grant(store, a_question(), worst=40)
        second = await _hedged(store, first)
        await store.settle(second, a_reply("second", price=7))
        await store.settle(first, a_reply("first", price=8))
        assert store.books(JOB) == books(spent=15)
        answer = store.reply(a_question().fingerprint)
        assert answer is not None
        assert answer.text == "second"

    @with_store
    async def test_a_call_that_is_over_has_no_second_request(self, store: Store) -> None:
        settled, released = await grant(store, a_question(1)), await grant(store, a_question(2))
        await store.settle(settled, a_reply())
        await store.release(released)
        assert [await store.hedge(call) for call in (settled, released)] == [None, None]

    @with_store
    async def test_a_second_request_whose_asker_is_cancelled_leaves_no_charge(self, store: Store) -> None:
        first = await grant(store, a_question(), worst=40)
        hedging = asyncio.ensure_future(store.hedge(first))
        await asyncio.sleep(0)
        hedging.cancel()
        (second,) = await asyncio.gather(hedging, return_exceptions=True)
        if isinstance(second, str):  # before it was cancelled: whoever asked has it
            await store.release(second)
        await store.release(first)
        while store.books(JOB).left != 100:  # a wait of its own gives up what was granted in the same moment
            await asyncio.sleep(0.001)
        assert store.books(JOB) == books()


class SharedHedgeContract:
    """What two open stores of one place do with a second request."""

    @with_two
    async def test_a_question_with_two_requests_is_open_for_others_like_any(self, one: Store, two: Store) -> None:
        first = await grant(one, a_question(), worst=40)
        second = await _hedged(one, first)
        assert isinstance(await ask_for(two, a_question()), OpenElsewhere)
        await one.settle(second, a_reply("yes"))
        assert not isinstance(await ask_for(two, a_question()), Granted)
        await one.mark_uncertain(first)
        known = await ask_for(two, a_question())
        assert isinstance(known, Answered)
        assert known.reply.text == "yes"
