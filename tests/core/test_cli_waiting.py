"""Workers that wait are told apart from those that are asked: for money, for a slot, or as they were at the end."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from planloom._way_on import way_on_now
from planloom.cli._runs import _phases
from planloom.exporting import run_as_json
from planloom.former import read_former
from planloom.loom import Loom, RunControl
from planloom.money import micro_of
from planloom.status import holes_now, status_line
from planloom.stores import RunRow
from planloom.terminal import Progress, outcome_line
from planloom.testing.folders import Folder
from planloom.testing.looms import loom_at, run_plan
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, echo, json_answer

TWENTY = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"question {i}") for i in range(20)])\n'
STRICT = '{"type": "object", "required": ["n"]}'


def with_loom(path: Path, script: Script, scene: Callable[[Loom], Coroutine[Any, Any, None]], **settings: Any) -> None:
    async def play() -> None:
        async with LoopbackServer(script) as server, loom_at(server.url, path / "store.db", **settings) as loom:
            await scene(loom)

    asyncio.run(play())


async def paused(loom: Loom) -> RunRow:
    """Wait until the only run is paused and said so, and return its row."""
    while not ((rows := loom.store.runs()) and rows[0].status == "paused" and loom.store.progress(rows[0].id).pause):
        await asyncio.sleep(0.01)
    return rows[0]


async def waiting(loom: Loom, run: str, number: int) -> None:
    while loom.store.progress(run).threads.get("waiting", 0) < number:
        await asyncio.sleep(0.02)


def test_workers_that_wait_for_money_are_not_said_to_run_and_what_frees_them_is_named(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        control = RunControl()
        running = asyncio.ensure_future(run_plan(loom, TWENTY, cap=1.0, on_cap="wait", control=control))
        row = await paused(loom)
        await waiting(loom, row.id, 15)
        line = status_line(loom.store, row)
        assert "| paused | phase 1: Ask | 0 running, 5 done, 0 failed, 0 dropped | 1.0 credits | " in line
        assert line.endswith("| 15 waiting for money | PAUSED at the budget")
        now = run_as_json(loom.store, row)["workers"]
        assert now == {"running": 0, "done": 5, "failed": 0, "dropped": 0, "waiting": 15}
        assert way_on_now(loom.store, row)[0] == (
            "15 workers wait for money: 1.0 of 1.0 credits are spent, and the next call may cost 0.2; "
            f"`planloom raise {row.id} --cap 1.2` or more lets the next go on, 4.0 all of them at that price"
        )
        await loom.store.set_cap(row.budget, micro_of(4.0))
        outcome = await running
        assert (outcome.status, outcome.agents) == ("completed", 20)
        begun = [event for event in loom.store.events(row.id) if event.type == "run.agent_started"]
        assert len(begun) == 20

    with_loom(tmp_path, echo, scene, in_flight=4)


def test_a_worker_that_waits_for_the_money_of_its_second_turn_is_not_said_to_run(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        source = f'result = agent("q", schema={STRICT})\n'
        running = asyncio.ensure_future(run_plan(loom, source, cap=0.2, on_cap="wait"))
        row = await paused(loom)
        while loom.store.progress(row.id).threads.get("running") != 1:
            await asyncio.sleep(0.01)
        assert "| 0 running, 0 done, " in status_line(loom.store, row)
        assert "| 1 waiting for money | " in status_line(loom.store, row)
        assert way_on_now(loom.store, row)[0].startswith("1 worker waits for money: ")
        await loom.store.set_cap(row.budget, micro_of(1.0))
        await running

    with_loom(tmp_path, [completion("no"), completion('{"n": 1}')], scene)


def test_workers_that_wait_for_the_money_of_the_store_are_told_what_raises_that(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        await loom.store.cap_store(micro_of(1.0))
        control = RunControl()
        running = asyncio.ensure_future(run_plan(loom, TWENTY, cap=9.0, on_cap="wait", control=control))
        row = await paused(loom)
        await waiting(loom, row.id, 15)
        assert "| 15 waiting for money | PAUSED at the budget of the store" in status_line(loom.store, row)
        assert "`planloom store cap 1.2` or more lets the next go on, 4.0 all" in way_on_now(loom.store, row)[0]
        control.cancel()
        await running

    with_loom(tmp_path, echo, scene, in_flight=4)


def test_workers_that_wait_for_a_slot_are_counted_apart_from_those_that_run(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        control = RunControl()
        running = asyncio.ensure_future(run_plan(loom, TWENTY, control=control))
        while not loom.store.runs():
            await asyncio.sleep(0.01)
        (row,) = loom.store.runs()
        await waiting(loom, row.id, 16)
        line = status_line(loom.store, row)
        assert "| 4 running, 0 done, " in line
        assert line.endswith(" | 16 waiting")
        assert way_on_now(loom.store, row)[0].startswith(f"the run {row.id} is driven by process {os.getpid()} on ")
        control.cancel()
        control.cancel()
        await running

    with_loom(tmp_path, lambda request: echo(request).hanging(), scene, in_flight=4)


def test_a_run_that_stopped_at_its_budget_says_how_many_workers_never_had_their_turn(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        shown, control = io.StringIO(), RunControl()
        with Progress(Console(file=shown, width=200), control) as progress:
            outcome = await run_plan(loom, TWENTY, cap=1.0, control=control, listeners=(progress.listener,))
        assert (outcome.status, outcome.agents) == ("paused", 5)
        assert "Ask: 5 of 20 done, 15 not started, " in shown.getvalue()
        assert "paused at the budget: 1.0 of 1.0 credits spent\n" in shown.getvalue()
        assert ", with a higher --cap, asks what is missing" in outcome_line(outcome)
        row = loom.store.run(outcome.run_id)
        assert row is not None
        assert "waiting" not in status_line(loom.store, row)
        table = io.StringIO()
        Console(width=100, file=table).print(_phases(row.facts["phases"]))
        heads, only = table.getvalue().splitlines()
        assert heads.split() == ["phase", "workers", "done", "failed", "not", "started", "dropped", "undecided"]
        assert only.split() == ["Ask", "5", "5", "of", "5", "0", "15", "0", "0"]

    with_loom(tmp_path, echo, scene, in_flight=4)


def test_who_looks_on_in_the_terminal_of_a_run_sees_how_many_wait_for_money(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        shown, control = io.StringIO(), RunControl()
        console = Console(file=shown, width=200)
        with Progress(console, control) as progress:
            running = asyncio.ensure_future(
                run_plan(loom, TWENTY, cap=1.0, on_cap="wait", control=control, listeners=(progress.listener,))
            )
            row = await paused(loom)
            with console.capture() as drawn:
                console.print(progress._render())
            assert "1.0 credits, 15 workers waiting for money" in drawn.get()
            control.cancel()
            await running
        assert (
            f"paused at the budget: 1.0 of 1.0 credits spent; `planloom raise {row.id} --cap 1.2`" in shown.getvalue()
        )

    with_loom(tmp_path, echo, scene, in_flight=4)


@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_run_without_enough_money_begins_no_worker_that_it_cannot_pay(tmp_path: Path, in_flight: int) -> None:
    async def scene(loom: Loom) -> None:
        outcome = await run_plan(loom, TWENTY, cap=1.0)
        threads = loom.store.threads(outcome.run_id)
        assert [thread.status for thread in threads if thread.started is not None] == ["done"] * 5

    with_loom(tmp_path, echo, scene, in_flight=in_flight)


def test_who_cancels_a_run_is_told_what_it_still_waits_for(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        shown, control = io.StringIO(), RunControl()
        with Progress(Console(file=shown, width=400), control) as progress:
            running = asyncio.ensure_future(run_plan(loom, TWENTY, control=control, listeners=(progress.listener,)))
            while control.door is None or control.door.in_flight < 4:
                await asyncio.sleep(0.01)
            control.cancel()
            outcome = await running
        assert "cancelled: no worker starts any more, and 4 calls in flight have up to 30 s to end" in shown.getvalue()
        assert "press Ctrl-C again or cancel it again" in shown.getvalue()
        assert (outcome.status, outcome.paid) == ("cancelled", 800_000)

    with_loom(tmp_path, lambda request: echo(request).after(0.5), scene, in_flight=4)


def test_holes_of_an_earlier_start_are_not_said_of_a_run_that_asks_them_again(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        first = await run_plan(loom, TWENTY)
        row = loom.store.run(first.run_id)
        assert row is not None
        assert "| HOLES 20" in status_line(loom.store, row)
        control = RunControl()
        again = asyncio.ensure_future(run_plan(loom, TWENTY, former=read_former(loom.store, row), control=control))
        while loom.store.progress(row.id).threads.get("running", 0) < 4:
            await asyncio.sleep(0.01)
        now = loom.store.run(row.id)
        assert now is not None
        assert holes_now(loom.store, now, "running", loom.store.progress(row.id)) < 20
        control.cancel()
        control.cancel()
        await again

    count = 0

    def script(request: Received) -> Any:
        nonlocal count
        count += 1
        return json_answer({"error": {"message": "no"}}, status=400) if count <= 20 else echo(request).hanging()

    with_loom(tmp_path, script, scene, in_flight=4)


def test_a_run_whose_slots_others_hold_says_so(tmp_path: Path) -> None:
    async def scene(loom: Loom) -> None:
        first, second = RunControl(), RunControl()
        holding = asyncio.ensure_future(run_plan(loom, TWENTY, control=first))
        while first.door is None or first.door.in_flight < 4:
            await asyncio.sleep(0.01)
        others = TWENTY.replace("question", "another")
        running = asyncio.ensure_future(run_plan(loom, others, control=second))
        while len(loom.store.runs()) < 2:
            await asyncio.sleep(0.01)
        row = loom.store.runs()[0]
        await waiting(loom, row.id, 20)
        assert "| 0 running, 0 done, " in status_line(loom.store, row)
        assert way_on_now(loom.store, row)[0] == (
            "20 workers wait for slots that other runs hold, or for answers that they ask for"
        )
        for control in (second, second, first, first):
            control.cancel()
        await asyncio.gather(holding, running)

    with_loom(tmp_path, lambda request: echo(request).hanging(), scene, in_flight=4)


def test_a_raise_that_does_not_do_says_which_would(folder_with: Callable[[Script, str], Folder]) -> None:
    plan = 'many = 20 if agent("how many") == "ok: how many" else 2\n'
    plan += 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(many)])\n'
    folder = folder_with(echo, plan)
    run = folder.run("run", "job.plan", "--detach", "--cap", "2")[1].strip()
    folder.wait_until(lambda: folder.store(lambda store: store.progress(run).pause is not None))
    folder.wait_until(lambda: folder.newest().status == "paused")
    assert f"{run}  paused at the budget " in folder.run("runs")[1]
    assert " for money: 2.0 of 2.0 credits are spent, and the next call may cost 0.2; " in folder.run("show", run)[1]
    assert folder.run("raise", run, "--cap", "2.1")[1] == (
        f"{run}: 0.1 of 2.1 credits are free; that does not do for the next call, which may cost 0.2; "
        f"`planloom raise {run} --cap 2.2` or more does\n"
    )
    assert "goes on" in folder.run("raise", run, "--cap", "9")[1]
    assert folder.run("follow", run)[0] == 0
