"""What every store does with a cap of its own, beside those of its budgets; part of the contract of stores."""

from __future__ import annotations

import asyncio

from planloom.stores import Granted, OverCap, Store

from .store_samples import JOB, Opener, a_question, a_reply, a_run, ask_for, books, grant, with_store, with_two

__all__ = ["CapContract", "SharedCapContract"]

SECOND = "second"


class CapContract:
    """What one open store does with a cap."""

    @with_store
    async def test_a_store_has_no_cap_until_somebody_gives_it_one(self, store: Store) -> None:
        await store.open_budget(SECOND, 100)
        assert store.store_books() is None
        await grant(store, a_question(1), worst=100)
        assert isinstance(await ask_for(store, a_question(2), worst=100, budget=SECOND), Granted)

    @with_store
    async def test_the_cap_of_a_store_holds_for_all_budgets_together(self, store: Store) -> None:
        await store.open_budget(SECOND, 100)
        await store.cap_store(120)
        await store.settle(await grant(store, a_question(1), worst=60), a_reply(price=50))
        await store.mark_uncertain(await grant(store, a_question(2), worst=10))
        assert isinstance(await ask_for(store, a_question(3), worst=30, budget=SECOND), Granted)
        whole = books(cap=120, spent=50, reserved=30, uncertain=10)
        assert store.store_books() == whole
        refused = await ask_for(store, a_question(4), worst=31, budget=SECOND)
        assert refused == OverCap(whole, store.version(), of_store=True)
        assert store.books(SECOND) == books(reserved=30)
        assert isinstance(await ask_for(store, a_question(4), worst=30, budget=SECOND), Granted)

    @with_store
    async def test_what_passes_both_caps_is_told_to_pass_the_jobs(self, store: Store) -> None:
        await store.cap_store(10)
        refused = await ask_for(store, a_question(), worst=101)
        assert isinstance(refused, OverCap)
        assert (refused.books, refused.of_store) == (books(), False)

    @with_store
    async def test_of_many_at_once_as_many_go_out_as_the_store_may_pay(self, store: Store) -> None:
        await store.open_budget(SECOND, 100)
        await store.cap_store(95)
        asked = (ask_for(store, a_question(n), 10, budget=(JOB, SECOND)[n % 2]) for n in range(20))
        results = await asyncio.gather(*asked)
        assert sum(isinstance(result, Granted) for result in results) == 9
        assert store.store_books() == books(cap=95, reserved=90)

    @with_store
    async def test_what_is_settled_and_asked_at_once_is_counted_once(self, store: Store) -> None:
        await store.open_budget(SECOND, 100)
        await store.cap_store(50)
        call = await grant(store, a_question(1), worst=50)
        _, *results = await asyncio.gather(
            store.settle(call, a_reply(price=20)),
            *(ask_for(store, a_question(n), 10, budget=SECOND) for n in range(2, 7)),
        )
        assert sum(isinstance(result, Granted) for result in results) == 3
        assert store.store_books() == books(cap=50, spent=20, reserved=30)

    @with_store
    async def test_a_cap_that_is_set_or_taken_away_wakes_who_waits(self, store: Store) -> None:
        changes: tuple[int | None, ...] = (5, 8, None)
        for cap in changes:
            before = store.version()
            await store.cap_store(cap)
            assert store.version() != before
        assert isinstance(await ask_for(store, a_question(), worst=100), Granted)

    @with_store
    async def test_a_cap_holds_for_what_is_asked_in_the_same_moment(self, store: Store) -> None:
        call = await grant(store, a_question(1))
        _, _, refused = await asyncio.gather(
            store.release(call), store.cap_store(5), ask_for(store, a_question(2), worst=10)
        )
        assert isinstance(refused, OverCap)
        assert refused.of_store

    @with_store
    async def test_a_configured_cap_counts_when_it_is_news_and_leaves_what_a_person_set_since(
        self, store: Store
    ) -> None:
        caps: list[int | None] = []
        for change in (store.configure_cap(50), store.cap_store(80), store.configure_cap(50), store.configure_cap(60)):
            await change
            whole = store.store_books()
            caps.append(None if whole is None else whole.cap)
        assert caps == [50, 80, 80, 60]

    @with_store
    async def test_who_writes_nothing_sees_the_cap_that_a_configuration_is_about_to_give(self, store: Store) -> None:
        def seen(configured: int | None) -> int | None:
            whole = store.store_books(configured)
            return None if whole is None else whole.cap

        assert [seen(None), seen(50)] == [None, 50]
        await store.configure_cap(50)
        await store.cap_store(80)
        assert [seen(None), seen(50), seen(60)] == [80, 80, 60]
        await store.cap_store(None)
        assert [seen(None), seen(50), seen(60)] == [None, None, 60]

    @with_store
    async def test_what_a_job_paid_is_known_whatever_budgets_its_runs_had(self, store: Store) -> None:
        for budget in (SECOND, "other job's"):
            await store.open_budget(budget, 100)
        await store.save_run(a_run(1, job="key", budget=JOB))
        await store.save_run(a_run(2, job="key", budget=JOB))
        await store.save_run(a_run(3, job="other", budget="other job's"))
        for number, budget in enumerate((JOB, SECOND, "other job's")):
            granted = await ask_for(store, a_question(number), worst=60, budget=budget)
            assert isinstance(granted, Granted)
            await store.settle(granted.call_id, a_reply(price=7 + number))
        await store.mark_uncertain(await grant(store, a_question(3), worst=10))
        assert [store.paid("key", JOB), store.paid("key", SECOND), store.paid("key", "")] == [7, 15, 7]
        assert store.paid("no such job", "no such budget") == 0


class SharedCapContract:
    """What two open stores of one place do with a cap."""

    @with_two
    async def test_a_cap_that_one_sets_holds_for_the_other(self, one: Store, two: Store) -> None:
        await two.open_budget(SECOND, 100)
        await one.cap_store(95)
        asked = (ask_for((one, two)[n % 2], a_question(n), 10, budget=(JOB, SECOND)[n % 2]) for n in range(20))
        results = await asyncio.gather(*asked)
        assert sum(isinstance(result, Granted) for result in results) == 9
        assert one.store_books() == two.store_books() == books(cap=95, reserved=90)

    def test_a_cap_stays_when_a_store_is_closed(self, open_store: Opener) -> None:
        async def scenario() -> None:
            one = open_store()
            await one.cap_store(30)
            await one.close()
            two = open_store()
            assert two.store_books() == books(cap=30)
            await two.close()

        asyncio.run(scenario())
