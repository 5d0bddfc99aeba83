"""A cap for all jobs of a store: runs stop or wait there, say whose cap it is, and go on when it is raised."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.here import FolderHere

from planloom.money import MICRO
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.folders import Folder
from planloom.testing.loopback import LoopbackServer, completion, echo, serving

TEN = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"{args["name"]} {i}") for i in range(10)])\n'


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """Give a folder with a plan of ten questions at 0.2 credits; its argument `name` makes it another job."""
    with ExitStack() as stack:
        made = FolderHere(tmp_path, stack.enter_context(serving(echo)), TEN)
        stack.callback(made.end)
        yield made


def run(folder: Folder, name: str, *options: str) -> tuple[int, str]:
    code, _, remarks = folder.run("run", "job.plan", "--arg", f"name={name}", *options)
    return code, remarks


def test_a_plan_that_the_stores_cap_may_not_pay_for_is_held_and_says_whose_cap_it_is(folder: Folder) -> None:
    assert folder.run("store", "cap", "3")[0] == 0
    assert run(folder, "first", "--yes")[0] == 0
    code, remarks = run(folder, "second")
    assert (code, folder.server.total, folder.newest().status) == (4, 10, "held")
    assert (
        "the plan is held for approval: at most 2.0 credits in 9 of 10 rehearsals, above the 1.0 that are left for it "
        "of the 3.0 credits that all jobs of the store together may spend; `planloom store cap 4.0` or more makes "
        "room, or --yes runs it as far as that goes"
    ) in remarks
    folder.run("store", "cap", "4")
    assert folder.run("resume", folder.newest().id, "--yes")[0] == 0
    assert folder.server.total == 20


def test_a_job_that_a_person_approved_all_the_same_stops_at_the_stores_cap_and_says_so(folder: Folder) -> None:
    assert folder.run("store", "cap", "3")[0] == 0
    assert run(folder, "first", "--yes")[0] == 0
    code, remarks = run(folder, "second", "--yes")
    assert (code, folder.server.total) == (5, 15)
    assert "paused at the budget of the store: 3.0 of 3.0 credits spent" in remarks
    store = folder.path / "store.db"
    assert (
        f"all jobs of the store {store} together have spent 3.0 of the 3.0 credits that it may spend, and the next "
        "call may cost 0.2; `planloom store cap 3.2` or more raises that"
    ) in remarks
    assert "all jobs together may spend 3.0 credits" in folder.run("store", "stats")[1]
    code, remarks = run(folder, "third", "--yes")
    assert (code, folder.server.total) == (5, 15)
    assert (
        f"the job cannot afford its first call, which may cost 0.2: all jobs of the store {store} together have spent "
        "3.0 of the 3.0 credits that it may spend; `planloom store cap 3.2` or more raises that"
    ) in remarks


def test_what_is_answered_is_no_matter_of_the_stores_cap(folder: Folder) -> None:
    folder.run("store", "cap", "6")
    assert run(folder, "first")[0] == 0
    folder.run("store", "cap", "2")
    code, remarks = run(folder, "first")
    assert code == 4
    assert (
        "at most 2.0 credits in 9 of 10 rehearsals, above the 0.67 that pass by themselves; its budget is the 2.0 "
        "credits that `planloom store cap` leaves for it; approve it with --yes, or with --approve-up-to 2"
    ) in remarks
    assert run(folder, "first", "--approve-up-to", "2")[0] == 0
    assert folder.server.total == 10
    assert run(folder, "first", "--refresh")[0] == 4


def test_a_plan_sees_what_the_store_leaves_in_its_rehearsal_and_in_its_run(folder: Folder) -> None:
    (folder.path / "job.plan").write_text(
        "n = 10 if budget() > 1.5 else 4\nbegan = budget()\n"
        'parallel([lambda i=i: agent(f"{args["name"]} {i}") for i in range(n)])\nresult = [began, budget()]\n'
    )
    folder.run("store", "cap", "3")
    assert json.loads(folder.run("run", "job.plan", "--arg", "name=a", "--yes")[1]) == [3.0, 1.0]
    told = json.loads(folder.run("rehearse", "job.plan", "--arg", "name=b", "--json")[1])
    assert (told["agents"], told["credits"]["p90"]) == (4, 0.8)
    assert json.loads(folder.run("run", "job.plan", "--arg", "name=b", "--yes")[1]) == [1.0, 0.2]
    # What it paid before brings answers that are free now: it sees what it saw then.
    assert json.loads(folder.run("run", "job.plan", "--arg", "name=b", "--yes")[1]) == [1.0, 0.2]
    assert folder.server.total == 14


def test_a_rehearsal_makes_no_store_and_sees_the_cap_that_one_would_have(folder: Folder) -> None:
    folder.configure(**{'path = "store.db"': 'path = "store.db"\ncap = 1'})
    (folder.path / "job.plan").write_text('result = agent("a") if budget() > 1 else None\n')
    assert json.loads(folder.run("rehearse", "job.plan", "--json")[1])["agents"] == 0
    assert not (folder.path / "store.db").exists()


def test_a_stopped_job_goes_on_with_a_higher_cap_of_the_store_and_asks_nothing_twice(folder: Folder) -> None:
    folder.run("store", "cap", "1")
    assert run(folder, "first", "--yes")[0] == 5
    shown = folder.run("store", "cap", "10")[1]
    assert "together may spend 10.0 credits: 1.0 are spent, 0.0 reserved, 9.0 free" in shown
    assert folder.run("resume", folder.newest().id)[0] == 0
    assert (folder.server.total, max(folder.server.asked.values())) == (10, 1)


def test_a_run_that_waits_at_the_cap_of_the_store_is_not_helped_by_its_own_and_goes_on_with_the_stores(
    folder: Folder,
) -> None:
    folder.run("store", "cap", "1")
    waiting = folder.start("run", "job.plan", "--arg", "name=first", "--at-cap", "wait", "--yes")
    folder.wait_for(waiting, 5)
    folder.wait_until(lambda: folder.newest().status == "paused")
    run_id = folder.newest().id
    assert "| PAUSED at the budget of the store" in folder.run("show", run_id)[1]
    raised = folder.run("raise", run_id, "--cap", "500")[1]
    assert "it waits for the budget of the store, which `planloom store cap` raises" in raised
    folder.run("store", "cap", "none")
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert folder.server.total == 10
    events = folder.store(lambda store: store.events(run_id))
    told = [event.data["of"] for event in events if event.type in ("run.budget_paused", "run.budget_raised")]
    assert told[0] == "store"
    assert "store" in told


def test_a_configured_cap_holds_until_a_person_sets_another(folder: Folder) -> None:
    folder.configure(**{'path = "store.db"': 'path = "store.db"\ncap = 1'})
    assert run(folder, "first", "--yes")[0] == 5
    folder.run("store", "cap", "2")
    assert run(folder, "first", "--yes")[0] == 0
    assert folder.store(lambda store: store.store_books()) is not None
    folder.configure(**{'path = "store.db"': 'path = "store.db"\ncap = 1.5'})
    code, remarks = run(folder, "second", "--yes")
    assert (code, "of the 1.5 credits that it may spend" in remarks) == (5, True)


def test_a_cap_that_a_person_sets_before_the_first_run_is_not_undone_by_the_configured_one(folder: Folder) -> None:
    folder.configure(**{'path = "store.db"': 'path = "store.db"\ncap = 1'})
    folder.run("store", "cap", "none")
    assert run(folder, "first", "--yes")[0] == 0
    assert "has no cap of its own" in folder.run("store", "cap")[1]


def test_a_cap_that_is_no_amount_is_refused_and_changes_nothing(folder: Folder) -> None:
    folder.run("store", "cap", "3")
    code, _, remarks = folder.run("store", "cap", "much")
    assert (code, "`much` is not an amount of credits" in remarks) == (2, True)
    assert "may spend 3.0 credits" in folder.run("store", "cap")[1]


def test_two_processes_with_caps_of_their_own_keep_that_of_the_store(tmp_path: Path) -> None:
    script = Path(__file__).with_name("budget_process.py")

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.store.cap_store(7 * MICRO)

    at_the_door(tmp_path / "store.db", completion("yes"), scenario, cap=5.0)
    with serving(completion("yes").after(0.02)) as server:
        processes = [
            subprocess.Popen(
                [sys.executable, str(script), str(tmp_path / "store.db"), server.url, str(first), "30", budget],
                stdout=subprocess.PIPE,
                text=True,
            )
            for first, budget in ((0, BUDGET), (100, "another"))
        ]
        counts = [int(process.communicate(timeout=60)[0]) for process in processes]
        assert server.total == sum(counts) == 35
        assert max(counts) <= 25


def test_a_run_at_both_caps_says_first_the_one_and_then_the_other(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.store.cap_store(2 * MICRO)
        asking = asyncio.ensure_future(door.ask_all([f"q{n}" for n in range(20)]))
        while door.pauses != ["the budget"]:
            await asyncio.sleep(0.01)
        await door.store.set_cap(BUDGET, 100 * MICRO)
        while door.pauses[-1] != "the budget of the store":
            await asyncio.sleep(0.01)
        assert [fields["of"] for fields in door.fields("run.budget_paused")] == ["job", "store"]
        await door.store.cap_store(None)
        await asking
        last: str | None = door.pauses[-1]
        assert (last, server.total) == (None, 20)

    at_the_door(tmp_path / "store.db", completion("yes"), scenario, cap=1.0, in_flight=4, on_cap="wait")
