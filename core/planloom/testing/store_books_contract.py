"""What every store does with a budget's money; part of the contract of stores."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from planloom._errors import StoreError
from planloom.stores import Event, Granted, OverCap, Store

from .store_samples import JOB, a_question, a_reply, ask_for, books, grant, with_store

__all__ = ["BooksContract"]


class BooksContract:
    """What one open store does with reservations, bills and caps of budgets, and how it says that money is free."""

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
            (result,) = await asyncio.gather(task, return_exceptions=True)
            if isinstance(result, Granted):  # before it was cancelled: whoever asked has it
                await store.release(result.call_id)
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
