"""A run proposed from Python before it begins: seen, approved, kept, left to another process, or dropped."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import attrs
import pytest

import planloom
from planloom import JournalDiverged, Misuse, Plan, PlanHeld, Planloom, PlanRefused
from planloom._in_thread import in_thread
from planloom.control import RunControl
from planloom.listeners import Listener
from planloom.testing.loopback import LoopbackServer, Script, completion, echo

from .asking import opened, refused

Scenario = Callable[[Planloom, LoopbackServer], Coroutine[Any, Any, None]]
Play = Callable[[Script, Scenario], None]

FORTY = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(40)])\n'
HELD = FORTY.replace("40", "400")
MORE_THAN_FORESEEN = """
many = 19 if agent("how many") == "ok: how many" else 2
result = parallel([lambda i=i: agent(f"question {i}") for i in range(many)])
"""


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play a scenario there."""

    def play_one(script: Script, scenario: Scenario) -> None:
        async def main() -> None:
            async with opened(tmp_path, script) as (loom, server):
                await scenario(loom, server)

        asyncio.run(main())

    return play_one


def test_a_proposal_says_what_a_run_would_need_and_leaves_nothing_behind(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        proposal = await loom.propose(HELD)
        assert proposal.priced is not None
        assert proposal.decision is not None
        assert (proposal.priced.rehearsal.agents, proposal.decision.verdict) == (400, "held")
        assert (loom.runs(), server.total) == ([], 0)

    play(echo, scenario)


def test_a_proposal_is_begun_by_any_planloom_on_the_same_store(play: Play, tmp_path: Path) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        proposal = await loom.propose(FORTY)
        async with planloom.open(tmp_path) as other:
            run = await other.begin(proposal)
            assert (await run).status == "completed"
        assert loom.run(run.id).status == "completed"

    play(echo, scenario)


def test_what_a_person_does_not_approve_is_kept_with_the_reason_and_goes_on_once_it_is_approved(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        kept = await loom.keep(await loom.propose(HELD), "too much for today")
        assert (kept.status, kept.record.error) == ("held", "too much for today")
        again = await loom.reopen(kept.id)
        assert again is not None
        with pytest.raises(PlanHeld, match="approve it with `approve`"):
            await loom.begin(again)
        run = await loom.begin(again.approved())
        assert ((await run).status, run.id, run.record.facts["decision"]["who"]) == ("completed", kept.id, "person")

    play(echo, scenario)


def test_a_run_that_is_left_is_driven_by_another_process(play: Play, tmp_path: Path) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        left = await loom.leave(await loom.propose(FORTY))
        assert (left.status, left.driven, server.total) == ("created", False, 0)
        command = [sys.executable, "-m", "planloom", "resume", left.id]
        done = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, capture_output=True, timeout=60)
        assert (done.returncode, left.status, server.total) == (0, "completed", 40)

    play(echo, scenario)


def test_a_plan_with_a_name_of_its_own_is_taken_as_text_and_told_of_by_that_name(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        with pytest.raises(PlanRefused, match=r"from/a/mail\.plan:1:1: PL"):
            await loom.start(Plan("ask", "from/a/mail.plan"))
        run = await loom.start(Plan("result = 1\n", "from/a/mail.plan"))
        assert run.title == "mail"

    play(echo, scenario)


def test_a_rehearsal_says_what_a_plan_would_need_whatever_the_gate_says(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        found = await loom.rehearse(HELD, takes=2)
        assert (found.agents, found.takes, loom.runs(), server.total) == (400, 2, [], 0)
        assert "budget" in (await loom.rehearse(HELD, cap=1)).problems[0]
        with pytest.raises(PlanRefused, match="PL031"):
            await loom.rehearse("while True:\n    agent('x')\n")

    play(echo, scenario)


def test_the_same_job_begun_again_has_the_books_and_the_journal_of_the_run_that_did_not_end(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        first = await loom.start("left = budget()\n" + MORE_THAN_FORESEEN, cap=2)
        assert (await first).status == "paused"
        before = server.total
        again = await loom.start("left = budget()\n" + MORE_THAN_FORESEEN, cap=2)
        assert (await again).status == "paused"
        assert (again.id == first.id, again.record.budget == first.record.budget) == (False, True)
        assert server.total == before, "the cap holds for the job, however often it is begun"

    play(echo, scenario)


def test_a_plan_that_was_rehearsed_under_the_same_conditions_is_not_rehearsed_again(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(FORTY)
        await run
        facts = json.loads(json.dumps(run.record.facts))
        facts["worked_out"]["estimate"]["value"]["estimate"]["agents"] = 41
        await loom.store.save_run(attrs.evolve(run.record, facts=facts))
        again = await loom.propose(FORTY)
        assert again.priced is not None
        assert again.priced.rehearsal.agents == 41, "what the earlier run kept was read"

    play(echo, scenario)


def test_a_listener_hears_each_event_of_its_run_as_it_happens(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        heard: list[str] = []
        listener = Listener(name="mine", on_event=lambda run, event: heard.append(event.type))
        run = await loom.start(FORTY, listeners=[listener])
        await run
        assert heard == [event.type for event in run.events_so_far()]

    play(echo, scenario)


def test_a_hand_on_a_run_cancels_it_and_the_second_time_cuts_its_calls_off(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        control = RunControl()
        run = await loom.start(FORTY, control=control)
        while server.total < 8:
            await asyncio.sleep(0.005)
        control.cancel()
        await asyncio.sleep(0.1)
        assert run.driven
        control.cancel()
        outcome = await run
        assert (outcome.status, outcome.exit_code, outcome.uncertain) == ("cancelled", 130, 8 * 200_000)
        assert len(run.uncertain) == 8

    play(completion("late").hanging(), scenario)


def test_nothing_is_missing_of_a_run_that_is_whole(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(FORTY)
        await run
        assert await loom.reopen(run.id) is None
        with pytest.raises(Misuse, match="is whole and nothing is missing"):
            await loom.resume(run.id)

    play(echo, scenario)


def test_calls_of_unknown_outcome_are_released_as_a_run_goes_on(play: Play) -> None:
    hanging = True

    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        nonlocal hanging
        control = RunControl()
        run = await loom.start(FORTY, control=control)
        while server.total < 8:
            await asyncio.sleep(0.005)
        control.cancel()
        control.cancel()
        await run
        hanging = False
        going_on = await loom.resume(run.id, release_uncertain=True)
        assert ((await going_on).status, run.uncertain, run.paid) == ("completed", (), 40 * 200_000)

    play(lambda request: completion("late").hanging() if hanging else echo(request), scenario)


def test_a_new_run_of_an_earlier_job_takes_its_budget_and_pays_for_no_answer_that_still_fits(play: Play) -> None:
    refuse = {"question 3"}

    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(FORTY, cap=30)
        await run
        refuse.clear()
        mended = FORTY.replace("range(40)", "range(41)")
        with pytest.raises(JournalDiverged):
            await loom.reopen(run.id, plan=mended)
        renewed = await loom.renew(run.id, plan=mended)
        assert (renewed.job.cap, renewed.former) == (30_000_000, None)
        outcome = await (await loom.begin(renewed))
        assert (outcome.status, outcome.asked) == ("completed", 2)

    play(lambda request: refused() if request.question in refuse else echo(request), scenario)


def test_what_is_known_of_a_run_is_read_from_it(play: Play, tmp_path: Path) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(FORTY)
        await run
        (failed,) = run.workers("failed")
        assert (failed.id, len(run.workers()), run.progress.agents) == (f"{run.id}/t008", 40, 40)
        assert (run.driver, run.target, run.paid) == (None, "", 39 * 200_000)
        run.export(tmp_path / "out")
        assert sorted(path.name for path in (tmp_path / "out").iterdir())[0] == "events.jsonl"
        assert run.as_json()["status"] == "completed"

    play(lambda request: refused() if request.question == "question 7" else echo(request), scenario)


def test_who_is_cancelled_does_not_wait_for_what_goes_on_in_a_thread() -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def work() -> None:
        may_end.wait(30)
        has_ended.set()

    async def main() -> None:
        waiting = asyncio.ensure_future(in_thread(work))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert not has_ended.is_set()
    may_end.set()
    assert has_ended.wait(30)


def test_whatever_ends_work_in_a_thread_is_told_to_who_waits() -> None:
    def work() -> object:
        return next(iter(()))

    async def main() -> None:
        async with asyncio.timeout(10):
            await in_thread(work)

    with pytest.raises(RuntimeError, match="work raised StopIteration") as raised:
        asyncio.run(main())
    assert isinstance(raised.value.__cause__, StopIteration)
