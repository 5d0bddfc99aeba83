"""What the tools of every store do, as a pytest suite.

Derive from :class:`StoreToolsContract` and give it the fixture ``open_store`` of
:class:`planloom.testing.store_contract.SharedStoreContract` and a fixture ``open_tools`` that returns a function which
gives the tools of the same place.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest

from planloom._errors import StoreError
from planloom.store_tools import Pruning, Spender, StoreTools
from planloom.stores import Answered, Store

from .store_samples import (
    JOB,
    LONG_TEXT,
    Opener,
    a_question,
    a_reply,
    a_run,
    a_thread,
    ask_for,
    books,
    events_of,
    grant,
)

__all__ = ["StoreToolsContract"]

ToolsOpener = Callable[[], StoreTools]
ALL = Pruning(before=datetime(2100, 1, 1, tzinfo=UTC))


def filled(open_store: Opener, deed: Callable[[Store], Coroutine[Any, Any, None]]) -> None:
    """Open a store with the budget ``job`` of 100, do something with it, and close it."""

    async def scenario() -> None:
        store = open_store()
        try:
            await store.open_budget(JOB, 100)
            await deed(store)
        finally:
            await store.close()

    asyncio.run(scenario())


async def run_that_asked(store: Store, number: int, *, question: int, data: str = "", **changes: Any) -> None:
    """Store a run with one worker that asked a question, with events and a journal."""
    asked = a_question(question, data)
    run = f"run-{number}"
    result = await store.reserve(asked, budget=JOB, run=run, thread=f"{run}/t001", worst=10)
    if not isinstance(result, Answered):
        await store.settle(getattr(result, "call_id", ""), a_reply(f"answer {question}"))
    await store.save_run(a_run(number, **changes))
    row = a_thread(1, id=f"{run}/t001", run=run, fingerprints=(asked.fingerprint,))
    await store.save_threads([row])
    await store.append_events(run, events_of("run.created", "run.ended"))
    await store.write_journal(run, "1.0", 98.5)


class StoreToolsContract:
    """What a store's tools do."""

    @pytest.fixture
    def tools(self, open_tools: ToolsOpener) -> StoreTools:
        return open_tools()

    def test_a_store_that_is_not_there_is_named(self, tools: StoreTools) -> None:
        for use in (lambda: list(tools.check()), tools.stats, lambda: list(tools.export())):
            with pytest.raises(StoreError, match="there is no store at"):
                use()

    def test_a_store_that_was_used_is_whole(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await run_that_asked(store, 1, question=1, data=LONG_TEXT)
            await store.mark_uncertain(await grant(store, a_question(2)))
            await store.release(await grant(store, a_question(3)))

        filled(open_store, deed)
        assert list(tools.check()) == []

    # --- stats

    def test_stats_count_content_and_show_the_money(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await run_that_asked(store, 1, question=1, data=LONG_TEXT)
            await store.mark_uncertain(await grant(store, a_question(2)))

        filled(open_store, deed)
        stats = tools.stats()
        counts = {weight.kind: weight.count for weight in stats.weights}
        assert counts == {
            "parts": 1,
            "questions": 2,
            "replies": 1,
            "calls": 2,
            "events": 2,
            "threads": 1,
            "runs": 1,
        }
        assert all(weight.size_bytes > 0 for weight in stats.weights)
        assert stats.budgets == {JOB: books(spent=4, uncertain=10)}
        assert stats.cap is None
        assert stats.spenders == {JOB: (Spender(run="run-1", title="A run"),)}
        assert stats.uncertain == 1
        assert stats.oldest_at == stats.newest_at == a_reply().created_at

    # --- prune

    def test_a_dry_run_tells_what_would_go_and_changes_nothing(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await run_that_asked(store, 1, question=1, data=LONG_TEXT)

        filled(open_store, deed)
        before = list(tools.export())
        pruned = tools.prune(Pruning(runs=("run-1",), answers=True), apply=False)
        counts = (pruned.threads, pruned.events, pruned.replies, pruned.questions, pruned.parts)
        assert (pruned.runs, counts, pruned.shrunk) == (("run-1",), (1, 2, 1, 1, 1), False)
        assert pruned.size_bytes > 100
        assert list(tools.export()) == before

    def test_a_pruned_run_leaves_its_answers_and_every_line_about_money(
        self, open_store: Opener, tools: StoreTools
    ) -> None:
        async def deed(store: Store) -> None:
            await run_that_asked(store, 1, question=1)
            await run_that_asked(store, 2, question=2)

        filled(open_store, deed)
        money = list(tools.export(("budget", "call", "reply")))
        assert tools.prune(Pruning(runs=("run-1",)), apply=True).runs == ("run-1",)
        assert list(tools.export(("budget", "call", "reply"))) == money
        assert {record["run"] for record in tools.export(("thread", "event"))} == {"run-2"}
        assert [record["id"] for record in tools.export(("run",))] == ["run-2"]
        assert list(tools.check()) == []

    def test_runs_are_chosen_by_everything_that_is_named(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            for number in range(1, 7):
                status = "completed" if number % 2 else "failed"
                await store.save_run(a_run(number, status=status, created_at=f"2026-01-0{number}T00:00:00+00:00"))

        filled(open_store, deed)

        def chosen(pruning: Pruning) -> tuple[str, ...]:
            return tools.prune(pruning, apply=False).runs

        until_fifth = datetime(2026, 1, 5, tzinfo=UTC)
        assert chosen(Pruning(before=until_fifth)) == ("run-1", "run-2", "run-3", "run-4")
        assert chosen(Pruning(before=until_fifth, statuses=("failed",))) == ("run-2", "run-4")
        assert chosen(Pruning(runs=("run-4", "run-5"), statuses=("failed",))) == ("run-4",)

    def test_a_run_that_nobody_alive_drives_counts_as_interrupted(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            for number, status in enumerate(("running", "interrupted", "completed", "paused"), 1):
                await store.save_run(a_run(number, status=status))
            await store.claim_run("run-4")
            pruned = tools.prune(Pruning(statuses=("interrupted",)), apply=True)
            assert (pruned.runs, pruned.driven) == (("run-1", "run-2"), ("run-4",))

        filled(open_store, deed)

    def test_an_answer_that_another_run_used_stays(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await run_that_asked(store, 1, question=1)
            await run_that_asked(store, 1, question=2)
            await run_that_asked(store, 2, question=1)

        filled(open_store, deed)
        assert tools.prune(Pruning(runs=("run-1",), answers=True), apply=True).replies == 1
        pruned = {record["fingerprint"]: record["pruned"] for record in tools.export(("reply",))}
        assert pruned == {a_question(1).fingerprint: False, a_question(2).fingerprint: True}

    def test_age_alone_takes_all_answers_of_that_age(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await store.settle(await grant(store, a_question(1)), a_reply())
            await store.settle(await grant(store, a_question(2)), a_reply(created_at=datetime(2026, 5, 1, tzinfo=UTC)))

        filled(open_store, deed)
        pruning = Pruning(before=datetime(2026, 4, 1, tzinfo=UTC), answers=True)
        assert tools.prune(pruning, apply=True).replies == 1

    def test_a_pruned_answer_keeps_its_price_and_can_be_asked_again(
        self, open_store: Opener, tools: StoreTools
    ) -> None:
        question = a_question(1, LONG_TEXT)
        old: list[int] = []

        async def before(store: Store) -> None:
            old.append(await store.settle(await grant(store, question), a_reply("old")))

        async def after(store: Store) -> None:
            assert store.reply(question.fingerprint) is None
            assert store.reply(question.fingerprint, old[0]) is None
            assert store.question(question.fingerprint) is None
            assert store.books(JOB) == books(spent=4)
            assert await store.settle(await grant(store, question), a_reply("new")) not in old
            stored = store.question(question.fingerprint)
            assert stored is not None
            assert stored.messages[1].parts[0].text == LONG_TEXT

        filled(open_store, before)
        assert tools.prune(Pruning(before=ALL.before, answers=True), apply=True).parts == 1
        assert list(tools.check()) == []
        filled(open_store, after)
        assert list(tools.check()) == []

    def test_an_uncertain_call_keeps_its_question(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await store.settle(await grant(store, a_question()), a_reply())
            await store.mark_uncertain(await grant(store, a_question(), look=False))

        filled(open_store, deed)
        pruned = tools.prune(Pruning(before=ALL.before, answers=True), apply=True)
        assert (pruned.replies, pruned.questions) == (1, 0)

    def test_a_run_that_a_process_drives_stays(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            for number in (1, 2):
                await store.save_run(a_run(number))
            await store.claim_run("run-1")
            pruned = tools.prune(ALL, apply=True)
            assert (pruned.runs, pruned.driven) == (("run-2",), ("run-1",))
            assert [run.id for run in store.runs()] == ["run-1"]

        filled(open_store, deed)

    def test_answers_stay_while_another_process_may_use_them(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await store.settle(await grant(store, a_question()), a_reply())
            with pytest.raises(StoreError, match="another process has the store"):
                tools.prune(Pruning(before=ALL.before, answers=True), apply=True)
            assert isinstance(await ask_for(store, a_question()), Answered)

        filled(open_store, deed)

    # --- export

    def test_an_export_is_json_and_holds_every_text_whole(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await run_that_asked(store, 1, question=1, data=LONG_TEXT)
            await store.settle(await grant(store, a_question(2)), a_reply("half a pair \ud83d"))

        filled(open_store, deed)
        records = [json.loads(json.dumps(record)) for record in tools.export()]
        parts = {record["hash"]: record["text"] for record in records if record["kind"] == "part"}
        asked = next(record for record in records if record["kind"] == "question")
        texts = [{**parts, **asked["inline"]}[part] for message in asked["messages"] for part in message["parts"]]
        assert texts == [part.text for part in a_question(1, LONG_TEXT).parts]
        replies = [record["text"] for record in records if record["kind"] == "reply"]
        assert replies == ["answer 1", "half a pair \ud83d"]

    def test_an_export_can_be_of_some_kinds_and_comes_in_order(self, open_store: Opener, tools: StoreTools) -> None:
        async def deed(store: Store) -> None:
            await store.append_events("run-1", events_of(*["run.log"] * 450))
            await run_that_asked(store, 2, question=1)

        filled(open_store, deed)
        records = list(tools.export(("event", "run")))
        assert [record["kind"] for record in records] == ["run"] + ["event"] * 452
        assert [record["seq"] for record in records[1:]] == [*range(1, 451), 1, 2]
