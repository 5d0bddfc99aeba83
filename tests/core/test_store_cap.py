"""A cap for all jobs of a store: runs stop or wait there, say whose cap it is, and go on when it is raised."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from planloom.money import MICRO
from planloom.testing.doors import BUDGET, Doorway, at_the_door
from planloom.testing.folders import Folder
from planloom.testing.loopback import LoopbackServer, Received, completion, serving

TEN = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"{args["name"]} {i}") for i in range(10)])\n'


def echo(request: Received) -> Any:
    return completion(f"ok: {request.question}")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """Give a folder with a plan of ten questions at 0.2 credits; its argument `name` makes it another job."""
    with ExitStack() as stack:
        made = Folder(tmp_path, stack.enter_context(serving(echo)), TEN)
        stack.callback(made.end)
        yield made


def run(folder: Folder, name: str, *options: str) -> tuple[int, str]:
    code, _, remarks = folder.run("run", "job.plan", "--arg", f"name={name}", *options)
    return code, remarks


def test_a_job_within_its_own_cap_stops_at_that_of_the_store_and_says_so(folder: Folder) -> None:
    assert folder.run("store", "cap", "3")[0] == 0
    assert run(folder, "first")[0] == 0
    code, remarks = run(folder, "second")
    assert (code, folder.server.total) == (5, 15)
    assert "all jobs of the store together have 1.0 of 3.0 credits left, and this one may stop there" in remarks
    assert "paused at the budget of the store: 3 of 3 credits spent" in remarks
    assert (
        f"all jobs of the store {folder.path / 'store.db'} together have spent 3.0 of the 3.0 credits that it may "
        "spend, and the next call may cost 0.2; `planloom store cap 3.2` or more raises that"
    ) in remarks
    assert "all jobs together may spend 3.0 credits" in folder.run("store", "stats")[1]


def test_a_stopped_job_goes_on_with_a_higher_cap_of_the_store_and_asks_nothing_twice(folder: Folder) -> None:
    folder.run("store", "cap", "1")
    assert run(folder, "first")[0] == 5
    shown = folder.run("store", "cap", "10")[1]
    assert "together may spend 10.0 credits: 1.0 are spent, 0.0 reserved, 9.0 free" in shown
    assert folder.run("resume", folder.newest().id)[0] == 0
    assert (folder.server.total, max(folder.server.asked.values())) == (10, 1)


def test_a_run_that_waits_at_the_cap_of_the_store_is_not_helped_by_its_own_and_goes_on_with_the_stores(
    folder: Folder,
) -> None:
    folder.run("store", "cap", "1")
    waiting = folder.start("run", "job.plan", "--arg", "name=first", "--at-cap", "wait")
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
    assert run(folder, "first")[0] == 5
    folder.run("store", "cap", "2")
    assert run(folder, "first")[0] == 0
    assert folder.store(lambda store: store.store_books()) is not None
    folder.configure(**{'path = "store.db"': 'path = "store.db"\ncap = 1.5'})
    code, remarks = run(folder, "second")
    assert (code, "of the 1.5 credits that it may spend" in remarks) == (5, True)


def test_a_cap_that_a_person_sets_before_the_first_run_is_not_undone_by_the_configured_one(folder: Folder) -> None:
    folder.configure(**{'path = "store.db"': 'path = "store.db"\ncap = 1'})
    folder.run("store", "cap", "none")
    assert run(folder, "first")[0] == 0
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
