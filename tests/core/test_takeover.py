"""A driver that is suspended for longer than its lease, and another that goes on with its run meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from planloom.api import open_with
from planloom.outcomes import Outcome
from planloom.plugins import load_plugins
from planloom.stores import Event, RunRow
from planloom.testing.looms import settings_at
from planloom.testing.loopback import Received, completion, serving

SLOW = {f"question {number}" for number in range(10, 18)}


def some_slow(request: Received) -> Any:
    return completion(f"ok: {request.question}").after(1.5 if request.question in SLOW else 0.01)


def suspend(process: subprocess.Popen[str], store: Path) -> None:
    """Suspend a process at a moment at which it holds no lock on the store."""
    while True:
        os.kill(process.pid, signal.SIGSTOP)
        with closing(sqlite3.connect(store, timeout=0.2)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
                return
            except sqlite3.OperationalError:
                os.kill(process.pid, signal.SIGCONT)
                time.sleep(0.05)


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
