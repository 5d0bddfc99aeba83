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
from datetime import UTC, datetime, timedelta

import attrs
import pytest

from planloom._errors import StoreError
from planloom.money import Usage
from planloom.stores import Answered, Event, Granted, OpenElsewhere, OverCap, Store

from .store_cap_contract import CapContract, SharedCapContract
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

__all__ = ["SharedStoreContract", "StoreContract"]


class StoreContract(RunsContract, CapContract):
    """What one open store does."""

    # --- the ledger

    @with_store
    async def test_an_unknown_question_has_no_answer(self, store: Store) -> None:
        assert store.reply(a_question().fingerprint) is None
        assert store.reply("no fingerprint at all") is None

    @with_store
    async def test_a_settled_reply_is_the_answer_word_for_word(self, store: Store) -> None:
        reply = a_reply(LONG_TEXT, finish_reason=None, estimated=True, usage=Usage(reasoning_tokens=7))
        version = await store.settle(await grant(store, a_question()), reply)
        assert store.reply(a_question().fingerprint) == attrs.evolve(reply, cached=True, version=version)

    @with_store
    async def test_a_reply_keeps_text_that_no_encoding_allows(self, store: Store) -> None:
        text = "half a pair \ud83d, a NUL \0, \r\n and é𝄞"
        await store.settle(await grant(store, a_question()), a_reply(text))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.text == text

    @with_store
    async def test_absurd_figures_of_a_server_do_not_lose_a_reply(self, store: Store) -> None:
        reply = a_reply(usage=Usage(prompt_tokens=10**30), model="m\ud800", finish_reason="\udfff")
        await store.settle(await grant(store, a_question()), reply)
        assert store.reply(a_question().fingerprint) is not None

    @with_store
    async def test_a_reply_without_an_instant_gets_one(self, store: Store) -> None:
        await store.settle(await grant(store, a_question()), a_reply(created_at=None))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.created_at is not None
        assert stored.created_at.tzinfo is not None

    @with_store
    async def test_a_question_comes_back_as_it_was_asked(self, store: Store) -> None:
        question = a_question(7, LONG_TEXT)
        await grant(store, question)
        stored = store.question(question.fingerprint)
        assert stored is not None
        assert [m.text for m in stored.messages] == [m.text for m in question.messages]
        assert stored.fingerprint == question.fingerprint

    @with_store
    async def test_a_question_that_was_never_sent_is_not_kept(self, store: Store) -> None:
        await ask_for(store, a_question(), worst=101)
        assert store.question(a_question().fingerprint) is None

    @with_store
    async def test_asking_an_answered_question_gives_the_answer(self, store: Store) -> None:
        await store.settle(await grant(store, a_question()), a_reply("known"))
        result = await ask_for(store, a_question())
        assert isinstance(result, Answered)
        assert (result.reply.text, result.reply.cached) == ("known", True)
        assert store.books(JOB) == books(spent=4)

    @with_store
    async def test_asking_again_on_purpose_replaces_the_answer(self, store: Store) -> None:
        await store.settle(await grant(store, a_question()), a_reply("old"))
        await store.settle(await grant(store, a_question(), look=False), a_reply("new"))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.text == "new"
        assert store.books(JOB) == books(spent=8)

    @with_store
    async def test_a_question_in_flight_cannot_be_asked_again(self, store: Store) -> None:
        call = await grant(store, a_question())
        assert await ask_for(store, a_question()) == OpenElsewhere(call)
        assert await ask_for(store, a_question(), look=False) == OpenElsewhere(call)
        assert store.books(JOB) == books(reserved=10)

    @with_store
    async def test_of_many_who_ask_one_question_at_once_one_may(self, store: Store) -> None:
        results = await asyncio.gather(*(ask_for(store, a_question(), 1) for _ in range(20)))
        assert sum(isinstance(result, Granted) for result in results) == 1
        assert sum(isinstance(result, OpenElsewhere) for result in results) == 19

    @with_store
    async def test_a_released_question_may_be_asked_again(self, store: Store) -> None:
        await store.release(await grant(store, a_question()))
        await grant(store, a_question())

    @with_store
    async def test_a_question_of_unknown_outcome_may_be_asked_again(self, store: Store) -> None:
        await store.mark_uncertain(await grant(store, a_question()))
        await grant(store, a_question())
        assert store.books(JOB) == books(reserved=10, uncertain=10)

    @with_store
    async def test_a_late_reply_to_an_older_call_does_not_replace_the_answer(self, store: Store) -> None:
        late = await grant(store, a_question())
        await store.mark_uncertain(late)
        await store.settle(await grant(store, a_question()), a_reply("told to the run"))
        await store.settle(late, a_reply("late"))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.text == "told to the run"

    @with_store
    async def test_every_reply_to_a_question_can_be_had_by_its_version(self, store: Store) -> None:
        old = await store.settle(await grant(store, a_question()), a_reply("old"))
        new = await store.settle(await grant(store, a_question(), look=False), a_reply("new"))
        fingerprint = a_question().fingerprint
        replies = [store.reply(fingerprint, version) for version in (old, new, None)]
        assert [(reply.text, reply.version) for reply in replies if reply] == [("old", old), ("new", new), ("new", new)]

    @with_store
    async def test_a_version_belongs_to_its_question_alone(self, store: Store) -> None:
        version = await store.settle(await grant(store, a_question()), a_reply())
        await store.settle(await grant(store, a_question(2)), a_reply())
        assert store.reply(a_question(2).fingerprint, version) is None
        assert store.reply(a_question().fingerprint, version + 1000) is None

    @with_store
    async def test_many_replies_come_at_once_those_alone_that_are_there(self, store: Store) -> None:
        one, two = [await store.settle(await grant(store, a_question(n)), a_reply(f"answer {n}")) for n in (1, 2)]
        first, second, third = (a_question(n).fingerprint for n in (1, 2, 3))
        known = store.replies({first: one, second: two, third: 10_000})
        assert known == {first: store.reply(first, one), second: store.reply(second, two)}
        assert store.replies({first: two, "no fingerprint": one}) == {}
        assert store.replies({}) == {}

    @with_store
    async def test_who_is_given_an_answer_hears_its_version(self, store: Store) -> None:
        version = await store.settle(await grant(store, a_question()), a_reply())
        result = await ask_for(store, a_question())
        assert isinstance(result, Answered)
        assert result.reply.version == version

    # --- the books

    @with_store
    async def test_a_reservation_holds_the_worst_price_until_it_is_settled(self, store: Store) -> None:
        call = await grant(store, a_question(), worst=10)
        assert store.books(JOB) == books(reserved=10)
        await store.settle(call, a_reply(price=4))
        assert store.books(JOB) == books(spent=4)

    @with_store
    async def test_a_reply_dearer_than_its_worst_price_is_booked_in_full(self, store: Store) -> None:
        await store.settle(await grant(store, a_question(), worst=90), a_reply(price=130))
        assert store.books(JOB) == books(spent=130)
        assert store.books(JOB).left == 0

    @with_store
    async def test_the_cap_can_be_used_up_and_not_passed(self, store: Store) -> None:
        await grant(store, a_question(1), worst=60)
        refused = await ask_for(store, a_question(2), worst=41)
        assert isinstance(refused, OverCap)
        assert refused.books == books(reserved=60)
        await grant(store, a_question(3), worst=40)
        assert store.books(JOB).left == 0

    @with_store
    async def test_many_at_once_get_exactly_what_fits(self, store: Store) -> None:
        results = await asyncio.gather(*(ask_for(store, a_question(n), 9) for n in range(40)))
        assert sum(isinstance(result, Granted) for result in results) == 11
        assert store.books(JOB) == books(reserved=99)

    @with_store
    async def test_releasing_frees_and_bills_nothing(self, store: Store) -> None:
        await store.release(await grant(store, a_question()))
        assert store.books(JOB) == books()

    @with_store
    async def test_uncertain_money_counts_until_a_person_releases_it(self, store: Store) -> None:
        call = await grant(store, a_question(), worst=70)
        await store.mark_uncertain(call)
        assert store.books(JOB) == books(uncertain=70)
        assert isinstance(await ask_for(store, a_question(2), worst=31), OverCap)
        assert [uncertain.call_id for uncertain in store.uncertain_calls(JOB)] == [call]
        await store.release(call)
        assert store.books(JOB) == books()
        assert store.uncertain_calls(JOB) == ()

    @with_store
    async def test_an_uncertain_call_tells_what_a_person_needs_to_judge_it(self, store: Store) -> None:
        before = datetime.now(UTC)
        await store.mark_uncertain(await grant(store, a_question(), worst=70))
        (call,) = store.uncertain_calls(JOB)
        assert (call.run, call.thread, call.worst) == ("r", "r/t001", 70)
        assert call.sent_at is not None
        assert timedelta(seconds=-1) <= call.sent_at - before <= timedelta(minutes=1)

    @with_store
    async def test_a_late_reply_settles_an_uncertain_call(self, store: Store) -> None:
        call = await grant(store, a_question())
        await store.mark_uncertain(call)
        await store.settle(call, a_reply(price=4))
        assert store.books(JOB) == books(spent=4)

    @with_store
    async def test_a_second_settle_changes_no_money(self, store: Store) -> None:
        call = await grant(store, a_question())
        await asyncio.gather(*(store.settle(call, a_reply(str(n), price=4 + n)) for n in range(3)))
        assert store.books(JOB) == books(spent=4)

    @with_store
    async def test_what_is_settled_cannot_be_released_or_made_uncertain(self, store: Store) -> None:
        call = await grant(store, a_question())
        await store.settle(call, a_reply(price=4))
        await store.release(call)
        await store.mark_uncertain(call)
        assert store.books(JOB) == books(spent=4)

    @with_store
    async def test_a_reply_to_a_released_call_is_kept_and_not_billed(self, store: Store) -> None:
        call = await grant(store, a_question())
        await store.release(call)
        await store.settle(call, a_reply("after all"))
        assert store.books(JOB) == books()
        assert store.reply(a_question().fingerprint) is not None

    @with_store
    async def test_an_unknown_call_is_refused_by_name(self, store: Store) -> None:
        for unknown in ("987654", "no-such-call"):
            with pytest.raises(StoreError, match=unknown):
                await store.settle(unknown, a_reply())

    @with_store
    async def test_an_unknown_budget_is_refused_by_name(self, store: Store) -> None:
        with pytest.raises(StoreError, match="other"):
            await ask_for(store, a_question(), budget="other")
        with pytest.raises(StoreError, match="other"):
            await store.set_cap("other", 5)
        assert store.books("other") == books(cap=0)

    @with_store
    async def test_an_amount_below_zero_is_refused(self, store: Store) -> None:
        with pytest.raises(ValueError, match="-1"):
            await ask_for(store, a_question(), worst=-1)
        call = await grant(store, a_question())
        with pytest.raises(ValueError, match="-1"):
            await store.settle(call, a_reply(price=-1))
        assert store.books(JOB) == books(reserved=10)

    @with_store
    async def test_opening_a_budget_again_only_raises_its_cap(self, store: Store) -> None:
        await grant(store, a_question())
        assert await store.open_budget(JOB, 50) == books(reserved=10)
        assert await store.open_budget(JOB, 150) == books(cap=150, reserved=10)

    @with_store
    async def test_a_cap_can_be_lowered_below_what_is_spent(self, store: Store) -> None:
        await store.settle(await grant(store, a_question()), a_reply(price=8))
        assert await store.set_cap(JOB, 5) == books(cap=5, spent=8)
        assert store.books(JOB).left == 0

    @with_store
    async def test_budgets_do_not_share_money(self, store: Store) -> None:
        await store.open_budget("second", 10)
        await grant(store, a_question(1), worst=100)
        assert isinstance(await ask_for(store, a_question(2), worst=10, budget="second"), Granted)
        assert store.books("second") == books(cap=10, reserved=10)

    # --- waking up

    @with_store
    async def test_the_version_changes_when_money_may_be_free(self, store: Store) -> None:
        await grant(store, a_question(1), worst=40)
        settled = await grant(store, a_question(2), worst=30)
        released = await grant(store, a_question(3), worst=30)
        for free in (
            lambda: store.settle(settled, a_reply()),
            lambda: store.release(released),
            lambda: store.set_cap(JOB, 200),
        ):
            refused = await ask_for(store, a_question(4), worst=200)
            assert isinstance(refused, OverCap)
            assert store.version() == refused.version
            await free()
            assert store.version() != refused.version

    @with_store
    async def test_the_version_rests_while_only_events_are_written(self, store: Store) -> None:
        before = store.version()
        await store.append_events("run-1", [Event(seq=1, t=0.0, type="run.log", data={})])
        assert store.version() == before

    @with_store
    async def test_a_cancelled_reservation_leaves_nothing_reserved(self, store: Store) -> None:
        for steps in range(4):
            task = asyncio.ensure_future(ask_for(store, a_question(steps)))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        while store.books(JOB).reserved:
            await asyncio.sleep(0.001)
        assert store.books(JOB) == books()

    @with_store
    async def test_a_settlement_outlives_whoever_asked_for_it(self, store: Store) -> None:
        settling = asyncio.ensure_future(store.settle(await grant(store, a_question()), a_reply()))
        await asyncio.sleep(0)
        settling.cancel()
        while store.reply(a_question().fingerprint) is None:
            await asyncio.sleep(0.001)
        assert store.books(JOB) == books(spent=4)

    # --- faults and the end

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


class SharedStoreContract(SharedRunsContract, SharedCapContract):
    """What two open stores of one place do to each other."""

    @with_two
    async def test_what_one_settles_the_other_knows(self, one: Store, two: Store) -> None:
        await one.settle(await grant(one, a_question()), a_reply("from one"))
        assert isinstance(await ask_for(two, a_question()), Answered)
        assert two.books(JOB) == one.books(JOB) == books(spent=4)

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
