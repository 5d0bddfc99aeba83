"""What every store does for runs: their records, their events, and who drives them; part of the contract of stores."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import attrs
import pytest

from planloom import RunTaken
from planloom.processes import this_machine
from planloom.stores import Event, Request, RunProgress, Store, ThreadTrace

from .store_samples import (
    JOB,
    LONG_TEXT,
    Opener,
    a_question,
    a_reply,
    a_run,
    a_thread,
    events_of,
    grant,
    with_store,
    with_two,
)

__all__ = ["RunsContract", "SharedRunsContract"]


class RunsContract:
    """What one open store does for runs."""

    # --- records

    @with_store
    async def test_a_run_comes_back_as_it_was_saved(self, store: Store) -> None:
        row = a_run(result={"findings": [1, "zwei", None]}, error="line 3: no\ud800")
        await store.save_run(row)
        stored = store.run(row.id)
        assert stored is not None
        assert stored == attrs.evolve(row, error=stored.error)
        assert store.run("run-0") is None

    @with_store
    async def test_saving_a_run_again_replaces_it_and_keeps_its_place(self, store: Store) -> None:
        for number in (1, 2, 3):
            await store.save_run(a_run(number))
        await store.save_run(a_run(1, status="completed"))
        assert [(run.id, run.status) for run in store.runs(2)] == [("run-3", "running"), ("run-2", "running")]
        assert store.runs()[-1].status == "completed"

    @with_store
    async def test_the_ids_of_runs_are_found_by_how_they_begin(self, store: Store) -> None:
        for run in ("ask-1a", "ask-2b", "Ask-3", "a%-4", "as_-5"):
            await store.save_run(attrs.evolve(a_run(), id=run))
        found = [store.run_ids(beginning, 9) for beginning in ("ask-", "ask-1a", "a%", "as_", "ask-1a2", "A")]
        assert found == [["ask-2b", "ask-1a"], ["ask-1a"], ["a%-4"], ["as_-5"], [], ["Ask-3"]]
        assert store.run_ids("", 2) == ["as_-5", "a%-4"]

    @with_store
    async def test_threads_come_in_the_order_they_started(self, store: Store) -> None:
        waiting = a_thread(1, started=None, ended=None, status="waiting")
        late, early = a_thread(2, started=2.0), a_thread(3, started=1.0, raw=LONG_TEXT, fingerprints=("ab" * 32,))
        for row in (waiting, late, early, a_thread(4, run="run-2")):
            await store.save_threads([row])
        assert store.threads("run-1") == [early, late, waiting]

    @with_store
    async def test_a_thread_that_has_nothing_to_say_is_told_from_one_that_says_nothing(self, store: Store) -> None:
        said = [(None, None, None), ("", "", 0.0), ("0", "0", 0.5), ("NULL", "null", 1.0)]
        rows = [a_thread(n, error=error, raw=raw, started=at, ended=at) for n, (error, raw, at) in enumerate(said)]
        await store.save_threads(rows)
        assert store.threads("run-1") == [*rows[1:], rows[0]]

    @with_store
    async def test_threads_can_be_had_by_status_and_page_by_page(self, store: Store) -> None:
        rows = [a_thread(n, status="done" if n % 3 else "failed", started=n / 2 if n < 8 else None) for n in range(12)]
        await store.save_threads(rows)
        assert store.threads("run-1", status="failed") == [row for row in rows if row.status == "failed"]
        assert store.threads("run-1", limit=5) == rows[:5]
        assert store.threads("run-1", after=rows[4].id, limit=6) == rows[5:11]
        assert store.threads("run-1", after=rows[8].id, status="done") == rows[10:]
        assert store.threads("run-1", after="run-1/t999") == []

    @with_store
    async def test_threads_of_several_runs_may_be_saved_at_once(self, store: Store) -> None:
        rows = [a_thread(1, id=f"{run}/t001", run=run) for run in ("run-1", "run-2", "run-1/t001")]
        await store.save_threads(rows)
        await store.save_threads(rows)
        assert [store.threads(row.run) for row in rows] == [[row] for row in rows]

    @pytest.mark.parametrize("run", ["run-1", 'a "run"', "Läufe", "back\\slash", ""])
    def test_what_events_tell_comes_back_whatever_the_run_is_called(self, open_store: Opener, run: str) -> None:
        texts = (f"{run}/t001", run, f'"{run}/', f'\n"{run}/\n/', f"before {run}/")
        data = {"thread": texts[0], "texts": [*texts, {texts[0]: texts[1]}]}
        events = [Event(seq=1, t=0.5, type="run.log", data=data), Event(seq=2, t=0.5, type="run.log", data={})]

        async def scenario() -> None:
            store = open_store()
            await store.append_events(run, events)
            assert store.events(run) == events
            await store.close()

        asyncio.run(scenario())

    @with_store
    async def test_a_thread_names_the_replies_it_used(self, store: Store) -> None:
        row = a_thread(fingerprints=("ab" * 32, "cd" * 32), versions=(7, 3))
        await store.save_threads([row])
        assert store.threads("run-1") == [row]

    @with_store
    async def test_what_a_later_start_needs_of_threads_comes_in_the_order_they_were_first_saved(
        self, store: Store
    ) -> None:
        asked = a_thread(2, fingerprints=("ab" * 32,), versions=(7,))
        failed = a_thread(1, status="failed", error="empty")
        twice = a_thread(3, fingerprints=("ab" * 32, "cd" * 32), versions=(7, 0))
        await store.save_threads([asked, a_thread(4, run="run-2"), failed, twice])
        await store.save_threads([asked])
        expected = [
            ThreadTrace(t.id, t.place, t.phase, t.label, t.status, t.error, t.fingerprints, t.versions)
            for t in (asked, failed, twice)
        ]
        assert list(store.traces("run-1")) == expected

    @with_store
    async def test_a_threads_number_is_taken_by_its_row_and_by_its_call_alike(self, store: Store) -> None:
        assert store.newest_thread("run-1") == 0
        await store.save_threads([a_thread(2), a_thread(9, run="run-2"), a_thread(1)])
        assert store.newest_thread("run-1") == 2
        await store.reserve(a_question(), budget=JOB, run="run-1", thread="run-1/t1200", worst=1)
        assert store.newest_thread("run-1") == 1200

    @with_store
    async def test_events_come_in_order_and_from_any_point(self, store: Store) -> None:
        events = [Event(seq=n, t=n / 8, type="run.log", data={"message": f"n° {n}"}) for n in range(1, 6)]
        await store.append_events("run-1", events[:3])
        await store.append_events("run-1", events[3:])
        assert store.events("run-1") == events
        assert store.events("run-1", after=3) == events[3:]
        assert store.events("run-1", after=1, limit=2) == events[1:3]
        assert store.events("run-2") == []

    @with_store
    async def test_events_may_be_written_again_after_a_failure(self, store: Store) -> None:
        first, second = (Event(seq=n, t=0.0, type="run.log", data={"n": n}) for n in (1, 2))
        await store.append_events("run-1", [first])
        await store.append_events("run-1", [first, second])
        assert store.events("run-1") == [first, second]

    @with_store
    async def test_a_run_without_events_has_made_no_progress(self, store: Store) -> None:
        assert store.progress("run-1") == RunProgress(threads={}, events={})

    @with_store
    async def test_progress_counts_and_points_at_what_came_last(self, store: Store) -> None:
        events = events_of("run.created", "run.phase_started", "run.dropped", "run.phase_started", "run.budget_paused")
        for row in (a_thread(1), a_thread(2, status="failed"), a_thread(3), a_thread(4, run="run-2")):
            await store.save_threads([row])
        await store.append_events("run-1", events)
        await store.append_events("run-1", events[3:])
        assert store.progress("run-1") == RunProgress(
            threads={"done": 2, "failed": 1},
            events={"run.created": 1, "run.phase_started": 2, "run.dropped": 1, "run.budget_paused": 1},
            seq=5,
            t=5.0,
            phase=events[3],
            pause=events[4],
            holes=2,
            agents=3,
        )

    @with_store
    async def test_workers_that_never_started_are_no_agents(self, store: Store) -> None:
        unstarted = ("waiting", "dropped", "cancelled")
        rows = [a_thread(n, status=status, started=None) for n, status in enumerate(unstarted, 1)]
        await store.save_threads([*rows, a_thread(4, status="cancelled"), a_thread(5, status="running")])
        progress = store.progress("run-1")
        assert (sum(progress.threads.values()), progress.agents) == (5, 2)

    @with_store
    async def test_a_resumed_run_begins_to_count_its_holes_anew(self, store: Store) -> None:
        events = events_of("run.created", "run.dropped", "run.dropped", "run.resumed", "run.dropped")
        await store.append_events("run-1", events)
        progress = store.progress("run-1")
        assert (progress.holes, progress.events["run.dropped"]) == (1, 3)

    @with_store
    async def test_the_journal_gives_back_what_a_word_returned(self, store: Store) -> None:
        values: dict[str, Any] = {"1.0": 98.8, "1.1": None, "2": {"late": [True, 1e-7, 2**70]}, "3": "\ud800"}
        for place, value in values.items():
            await store.write_journal("run-1", place, value)
        assert store.journal("run-1") == values
        assert store.journal("run-2") == {}

    @with_store
    async def test_the_money_of_a_run_adds_up_its_calls(self, store: Store) -> None:
        await store.settle(await grant(store, a_question(1)), a_reply(price=4))
        await store.mark_uncertain(await grant(store, a_question(2), worst=20))
        await store.release(await grant(store, a_question(3)))
        await grant(store, a_question(4), worst=30)
        assert store.money("r") == {"calls": 3, "spent": 4, "uncertain": 20, "reserved": 30}
        assert store.money("s") == {"calls": 0, "spent": 0, "uncertain": 0, "reserved": 0}

    @with_store
    async def test_a_run_knows_the_replies_to_its_own_calls(self, store: Store) -> None:
        cut, other = a_question(1), a_question(2)
        await store.settle(await grant(store, cut), a_reply(finish_reason="length"))
        again = await store.settle(await grant(store, cut, look=False), a_reply("whole"))
        one = await store.settle(await grant(store, other), a_reply("other"))
        await grant(store, a_question(3))
        assert store.own_versions("r") == {cut.fingerprint: again, other.fingerprint: one}
        assert store.own_versions("s") == {}

    # --- who drives a run

    @with_store
    async def test_a_run_has_one_driver(self, store: Store) -> None:
        assert store.driver("run-1") is None
        assert await store.claim_run("run-1") is None
        holder = store.driver("run-1")
        assert holder is not None
        assert (holder.machine, holder.pid, holder.here) == (this_machine(), os.getpid(), True)
        assert await store.claim_run("run-1") == holder

    @with_store
    async def test_of_many_who_claim_a_run_at_once_one_gets_it(self, store: Store) -> None:
        results = await asyncio.gather(*(store.claim_run("run-1") for _ in range(10)))
        assert results.count(None) == 1

    @with_store
    async def test_a_released_run_may_be_claimed_again(self, store: Store) -> None:
        await store.claim_run("run-1")
        await store.release_run("run-1")
        await store.release_run("run-2")
        assert store.driver("run-1") is None
        assert await store.claim_run("run-1") is None

    @with_store
    async def test_requests_to_a_driver_come_in_order_and_from_any_point(self, store: Store) -> None:
        asked: list[tuple[str, Any]] = [("cancel", None), ("raise", {"cap": 12}), ("cancel", "now")]
        numbers = [await store.post_request("run-1", what, data) for what, data in asked]
        await store.post_request("run-2", "cancel")
        expected = [Request(number=n, what=what, data=data) for n, (what, data) in enumerate(asked, 1)]
        assert numbers == [1, 2, 3]
        assert store.requests("run-1") == expected
        assert store.requests("run-1", after=2) == expected[2:]


class SharedRunsContract:
    """What two open stores of one place do about a run."""

    @with_two
    async def test_a_run_that_one_drives_the_other_cannot_claim(self, one: Store, two: Store) -> None:
        results = await asyncio.gather(*(store.claim_run("run-1") for store in (one, two) * 5))
        assert results.count(None) == 1
        here, elsewhere = one.driver("run-1"), two.driver("run-1")
        assert here is not None
        assert elsewhere is not None
        assert here.here != elsewhere.here
        loser = two if here.here else one
        await loser.release_run("run-1")
        assert one.driver("run-1") == here

    @with_two
    async def test_a_run_is_written_by_its_driver_alone(self, one: Store, two: Store) -> None:
        await two.save_run(a_run(1))
        await two.claim_run("run-1")
        await two.append_events("run-1", events_of("run.created"))
        writes = (
            one.save_run(a_run(1, status="completed")),
            one.save_threads([a_thread(1, run="run-2"), a_thread(2)]),
            one.append_events("run-1", events_of("run.created", "run.ended")),
            one.append_events("run-1", []),
            one.write_journal("run-1", "1.0", 2),
        )
        for write in writes:
            with pytest.raises(RunTaken, match=f"run-1 is driven by process {os.getpid()} on "):
                await write
        assert one.run("run-1") == a_run(1)
        assert one.threads("run-1") == one.threads("run-2") == []
        assert [event.type for event in one.events("run-1")] == ["run.created"]
        assert one.journal("run-1") == {}

    @with_two
    async def test_a_run_that_nobody_drives_may_be_written_by_anybody(self, one: Store, two: Store) -> None:
        await one.claim_run("run-1")
        await one.release_run("run-1")
        for store in (one, two):
            await store.save_run(a_run(1))

    @with_two
    async def test_a_request_reaches_the_driver_in_another_store(self, one: Store, two: Store) -> None:
        await one.claim_run("run-1")
        await two.post_request("run-1", "cancel")
        assert one.requests("run-1") == [Request(number=1, what="cancel")]

    def test_a_closed_store_drives_nothing(self, open_store: Opener) -> None:
        async def scenario() -> None:
            one, two = open_store(), open_store()
            await one.claim_run("run-1")
            await one.close()
            assert two.driver("run-1") is None
            assert await two.claim_run("run-1") is None
            await two.close()

        asyncio.run(scenario())
