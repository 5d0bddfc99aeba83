"""One job that is begun twice at the same time: each run has its one driver, and both have one budget."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planloom
from planloom import Misuse
from planloom.control import RunControl
from planloom.stores import Books, Store
from planloom.testing.folders import Folder
from planloom.testing.loopback import completion, echo

from .asking import MANY, MakeFolder, opened, slow_echo

TWENTY = MANY.format(count=20)
PRICE = 200_000


def books_in(store: Store) -> dict[str, Books]:
    """Return the books of every run, by their name."""
    return {row.budget: store.books(row.budget) for row in store.runs()}


@pytest.fixture
def folder(folder_with: MakeFolder) -> Folder:
    """A job of twenty questions that may spend what twenty-five cost."""
    made = folder_with(slow_echo, TWENTY)
    made.configure(**{"[limits]": "[budget]\ncap = 5.0\n\n[limits]"})
    return made


def together(folder: Folder) -> list[str]:
    """Begin the job in two processes that know of no run yet; return how each run ended."""
    script = str(Path(__file__).with_name("begin_process.py"))
    command = [sys.executable, script, str(folder.path), "job.plan"]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder.path)
        for _ in range(2)
    ]
    folder.processes += running
    for each in running:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in running:
        assert each.stdin is not None
        each.stdin.write("now\n")
        each.stdin.flush()
    return sorted(each.communicate(timeout=60)[0].strip() for each in running)


@pytest.mark.command
def test_two_processes_that_ask_a_job_again_at_once_spend_no_more_than_one_budget(folder: Folder) -> None:
    told = together(folder)
    ((_, spent),) = folder.store(books_in).items()
    assert spent == Books(cap=25 * PRICE, spent=25 * PRICE, reserved=0, uncertain=0)
    assert folder.server.total == 25
    assert told in (["completed", "paused"], ["paused", "paused"])
    assert len(folder.store(lambda store: store.runs())) == 2


@pytest.mark.parametrize("refresh", [True, False])
def test_two_tasks_that_begin_a_job_at_once_have_one_budget(folder: Folder, refresh: bool) -> None:
    async def scenario() -> None:
        async with planloom.open(folder.path) as loom:
            plan = folder.path / "job.plan"
            runs = await asyncio.gather(*(loom.start(plan, refresh=refresh, approve=True) for _ in range(2)))
            assert len({run.id for run in runs}) == 2
            outcomes = [await run for run in runs]
            ((_, books),) = books_in(loom.store).items()
            asked = 25 if refresh else 20
            assert (books.spent, books.reserved, books.uncertain) == (asked * PRICE, 0, 0)
            assert folder.server.total == asked
            assert sum(outcome.asked for outcome in outcomes) == asked

    asyncio.run(scenario())


def test_a_job_that_has_come_to_its_end_is_begun_again_with_a_budget_of_its_own(folder: Folder) -> None:
    async def scenario() -> None:
        async with planloom.open(folder.path) as loom:
            for count in range(1, 4):
                outcome = await (await loom.start(folder.path / "job.plan", refresh=True, approve=True))
                assert outcome.status == "completed"
                assert [books.spent for books in books_in(loom.store).values()] == [20 * PRICE] * count

    asyncio.run(scenario())


@pytest.mark.command
def test_a_job_whose_runs_were_let_go_is_begun_with_a_budget_of_its_own(folder: Folder) -> None:
    for _ in range(3):
        assert folder.run("run", "job.plan", "--refresh", "--yes")[0] == 0
        code, _, remarks = folder.run("store", "prune", "--older-than", "0", "--yes")
        assert code == 0, remarks
        assert folder.store(lambda store: store.runs()) == []
    assert folder.server.total == 60


def test_a_run_that_is_resumed_twice_at_once_has_one_driver(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path, completion().hanging()) as (loom, server):
            control = RunControl()
            run = await loom.start(TWENTY, control=control)
            while server.total < 8:
                await asyncio.sleep(0.01)
            control.cancel()
            control.cancel()
            assert (await run).status == "cancelled"
            server.answer = echo
            told: list[Any] = await asyncio.gather(
                *(loom.resume(run.id, release_uncertain=True) for _ in range(3)), return_exceptions=True
            )
            assert sorted(type(each).__name__ for each in told) == ["Misuse", "Misuse", "Run"]
            (outcome,) = [await each for each in told if not isinstance(each, Misuse)]
            assert outcome.status == "completed"
            assert server.total == 8 + 20

    asyncio.run(scenario())
