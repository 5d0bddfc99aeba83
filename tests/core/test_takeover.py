"""A driver that is suspended for longer than its lease: alone, or while others go on with its run or cancel it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import attrs
import pytest
from rich.console import Console

from planlang import compile as compile_program
from planloom._errors import TakenOver
from planloom._given_plan import Plan
from planloom._proposals import Proposal
from planloom._way_on import way_on_now
from planloom.api import open_with
from planloom.cli.running import wrap_up
from planloom.desk import JobDesk
from planloom.former import read_former
from planloom.loom import Job, Loom, RunControl, ending_of
from planloom.outcomes import Outcome, outcome_of
from planloom.plugins import load_plugins
from planloom.settings import Settings
from planloom.status import status_line, status_now
from planloom.steering import cancel_run
from planloom.stores import Event, RunRow, Store
from planloom.terminal import outcome_line
from planloom.testing.looms import run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, Received, completion, serving
from planloom.testing.store_samples import a_run
from planloom.words import build_vocabulary
from planloom_sqlite import open_store

from .suspending import suspend

SLOW = {f"question {number}" for number in range(10, 18)}


def some_slow(request: Received) -> Any:
    return completion(f"ok: {request.question}").after(1.5 if request.question in SLOW else 0.01)


async def go_on(url: str, store: Path) -> tuple[str, Outcome]:
    """Resume the newest run as soon as nobody drives it."""
    # A process that is suspended keeps its slots at the endpoint; there must be others.
    async with open_with(load_plugins(), settings_at(url, store, in_flight=16)) as loom:
        (found,) = loom.runs()
        while found.driven:
            await asyncio.sleep(0.05)
        assert found.status == "interrupted"
        run = await loom.resume(found.id)
        return run.id, await run


async def left(url: str, store: Path, run_id: str) -> tuple[RunRow, list[Event]]:
    """Return what the store holds of a run."""
    async with open_with(load_plugins(), settings_at(url, store)) as loom:
        run = loom.run(run_id)
        return run.record, [event async for event in run.events()]


def test_a_driver_that_wakes_after_another_took_its_run_leaves_that_alone(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    command = [sys.executable, str(Path(__file__).with_name("run_process.py")), str(store)]
    with serving(some_slow) as server:
        process = subprocess.Popen([*command, server.url, "40"], stdout=subprocess.PIPE, text=True)
        try:
            while server.total < 18:
                assert process.poll() is None
                time.sleep(0.005)
            suspend(process, store)
            run_id, outcome = asyncio.run(go_on(server.url, store))
            assert outcome.status == "completed"
            os.kill(process.pid, signal.SIGCONT)
            assert process.communicate(timeout=30)[0].strip() == "interrupted"
        finally:
            process.kill()
            process.communicate()
        row, events = asyncio.run(left(server.url, store, run_id))
        assert (row.status, len(row.result)) == ("completed", 40)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert [event.type for event in events].count("run.resumed") == 1
        assert {text for text, asked in server.asked.items() if asked > 1} <= SLOW


class SleepyMachine:
    """The wall clock of a machine that can be put to sleep for an hour."""

    def __init__(self) -> None:
        self._slept_s = 0.0

    def __call__(self) -> float:
        return time.time() + self._slept_s

    def sleep(self) -> None:
        self._slept_s += 3_600.0


async def run_through_sleep(
    path: Path, meanwhile: Callable[[Store, SleepyMachine], Coroutine[Any, Any, None]]
) -> tuple[Outcome, RunRow, list[Event]]:
    """Run a plan of one worker, whose machine sleeps while the worker is asked."""
    machine = SleepyMachine()
    async with LoopbackServer(lambda request: completion("yes").after(1.0)) as server:
        store = open_store(path, clock=machine)
        loom = Loom(load_plugins(), settings_at(server.url, path), store)
        running = asyncio.ensure_future(run_plan(loom, 'result = agent("is it so?")'))
        while not server.total:
            await asyncio.sleep(0.005)
        machine.sleep()
        await meanwhile(store, machine)
        outcome = await running
        (row,), events = store.runs(), store.events(outcome.run_id)
        await loom.close()
        await store.close()
    return outcome, row, events


def test_a_run_whose_driver_died_while_it_waited_for_money_was_interrupted(tmp_path: Path) -> None:
    source = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(9)])'

    async def scenario() -> None:
        async with LoopbackServer(completion("yes")) as server:
            settings = settings_at(server.url, tmp_path / "store.db")
            async with open_with(load_plugins(), settings) as loom:
                control = RunControl()
                running = asyncio.ensure_future(
                    run_plan(loom.loom, source, cap=1.0, on_cap="wait", control=control, roles=("worker",))
                )
                while not (runs := loom.runs()) or runs[0].status != "paused":
                    await asyncio.sleep(0.01)
                # To a store whose clock is an hour ahead its lease is over.
                later = open_store(tmp_path / "store.db", clock=lambda: time.time() + 3_600)
                (row,) = later.runs()
                assert status_now(later, row) == "interrupted"
                assert "0 running" in status_line(later, row)
                await later.close()
                control.cancel()
                await running

    asyncio.run(scenario())


def test_a_run_that_stopped_at_its_cap_stays_paused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with LoopbackServer(completion("yes")) as server:
            async with open_with(load_plugins(), settings_at(server.url, tmp_path / "store.db")) as loom:
                outcome = await run_plan(loom.loom, 'result = [agent("a"), agent("b")]', cap=0.2)
                assert outcome.status == "paused"
            later = open_store(tmp_path / "store.db", clock=lambda: time.time() + 3_600)
            assert status_now(later, later.runs()[0]) == "paused"
            await later.close()

    asyncio.run(scenario())


def test_a_run_whose_machine_slept_past_its_lease_goes_on_when_nobody_took_it(tmp_path: Path) -> None:
    async def nothing(store: Store, machine: SleepyMachine) -> None:
        """Nobody else is there."""

    outcome, row, events = asyncio.run(run_through_sleep(tmp_path / "store.db", nothing))
    assert (outcome.status, outcome.result, row.status) == ("completed", "yes", "completed")
    assert events[-1].data["status"] == "completed"


def test_a_run_that_was_cancelled_while_its_machine_slept_stays_cancelled(tmp_path: Path) -> None:
    async def cancel(store: Store, machine: SleepyMachine) -> None:
        other = open_store(tmp_path / "store.db", clock=machine)
        assert await cancel_run(other, other.runs()[0]) == "cancelled"
        await other.close()

    outcome, row, events = asyncio.run(run_through_sleep(tmp_path / "store.db", cancel))
    assert (outcome.status, outcome.exit_code, row.status) == ("cancelled", 130, "cancelled")
    assert [event.type for event in events].count("run.ended") == 1


def test_who_lost_a_run_says_who_has_it_and_what_each_of_them_paid(tmp_path: Path) -> None:
    """Two answers come before the machine sleeps and two late ones after; the other process asks the other six."""
    source = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"question {i}") for i in range(8)])'
    late = {"question 2", "question 3"}

    def script(request: Received) -> Any:
        return completion("yes").after(1.5 if request.question in late else 0.01)

    async def take_over(url: str, machine: SleepyMachine) -> Outcome:
        store = open_store(tmp_path / "store.db", clock=machine)
        loom = Loom(load_plugins(), settings_at(url, tmp_path / "store.db", in_flight=16), store)
        (row,) = store.runs()
        assert status_now(store, row) == "interrupted"
        assert way_on_now(store, row) == [
            f"nobody drives it: `planloom resume {row.id}` goes on, and asks nothing twice"
        ]
        outcome = await run_plan(loom, source, former=read_former(store, row))
        await loom.close()
        await store.close()
        return outcome

    async def scenario() -> tuple[Outcome, Outcome]:
        machine = SleepyMachine()
        async with LoopbackServer(script) as server:
            settings = settings_at(server.url, tmp_path / "store.db", in_flight=2)
            store = open_store(tmp_path / "store.db", clock=machine)
            loom = Loom(load_plugins(), settings, store)
            first = asyncio.ensure_future(run_plan(loom, source))
            while server.total < 4:
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.2)
            machine.sleep()
            second = await take_over(server.url, machine)
            lost = await first
            await loom.close()
            await store.close()
        return lost, second

    lost, second = asyncio.run(scenario())
    said = outcome_line(lost)
    assert said.startswith(f"{lost.run_id}: taken over by another process | ")
    assert f"this process drives it no longer: `planloom follow {lost.run_id}` shows how it goes" in said
    assert "asks what is missing" not in said
    assert lost.paid - lost.paid_elsewhere == 800_000
    assert (second.status, second.paid, second.paid_before) == ("completed", 2_000_000, 400_000)
    assert "(0.4 before, 1.2 now, 0.4 by another process)" in outcome_line(second)


def test_who_lost_a_run_does_not_report_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings()
    registry = load_plugins()
    program = compile_program("result = 1\n", build_vocabulary(registry, settings, ()))
    job = Job(title="A job", facts={"reporter": "a kit that would be asked"})
    proposal = Proposal(job=job, plan=Plan(source="result = 1\n", name="job.plan"), program=program)
    desk = JobDesk(registry=registry, settings=settings, console=Console(stderr=True), confirm=bool)
    why = TakenOver("the run job-1 is driven by process 7 on there by now")
    status, code, error = ending_of(why)
    outcome = attrs.evolve(outcome_of(a_run(1)), run_id="job-1", status=status, exit_code=code, error=error)
    assert wrap_up(desk, proposal, outcome) == 5
    said = capsys.readouterr().err
    assert "job-1: taken over by another process | " in said
    assert "planloom: the run job-1 is driven by process 7 on there by now" in said
