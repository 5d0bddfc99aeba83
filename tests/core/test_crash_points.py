"""``kill -9`` between any two writes of a run's store: whatever is there then can be opened, read and gone on with."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planloom.api import Planloom, open_with
from planloom.plugins import load_plugins
from planloom.testing.looms import settings_at
from planloom.testing.loopback import LoopbackServer, Received, Served, echo, json_answer, serving

MOST_WRITES = 40


def dies_after(store: Path, server: LoopbackServer, writes: int) -> str:
    """Run until the process dies; return what it said when it did not."""
    command = [sys.executable, str(Path(__file__).with_name("dying_process.py")), str(store), server.url, str(writes)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60).stdout.strip()


async def is_sound(loom: Planloom) -> None:
    """Check that runs can be listed, and that none is completed without a result."""
    for run in loom.runs():
        record = run.record
        assert (record.status == "completed") == (record.result is not None)
        assert run.status in ("created", "interrupted", "completed")


async def goes_on(store: Path, server: LoopbackServer) -> None:
    """Check what a dead run left, and that it comes to its result with what is missing."""
    async with open_with(load_plugins(), settings_at(server.url, store, in_flight=8)) as loom:
        await is_sound(loom)
        before = Counter(server.asked)
        for run in loom.runs():
            answered = {text for thread in loom.loom.store.threads(run.id) for text in _answered(loom, thread)}
            if run.status != "completed":
                outcome = await (await loom.resume(run.id))
                first, left, others = outcome.result
                assert (outcome.status, first, others) == ("completed", "ok: a", ["ok: b", "ok: c"])
                # A call that was cut off stays charged, and may be made again.
                assert left in (1_499.8, 1_499.6)
            assert not answered & {text for text in before if server.asked[text] > before[text]}
        await is_sound(loom)


def _answered(loom: Planloom, thread: Any) -> list[str]:
    store = loom.loom.store
    questions = [store.question(f) for f in thread.fingerprints if store.reply(f) is not None]
    return [question.messages[-1].text for question in questions if question is not None]


def refusing_once(server: LoopbackServer) -> Callable[[Received], Served]:
    """Refuse each question for the server's load when it comes first."""

    def script(request: Received) -> Served:
        if server.asked[request.question] > 1:
            return echo(request)
        return json_answer({"error": {"message": "too many requests"}}, 429, {"retry-after": "0"})

    return script


def play(tmp_path: Path, writes: int, *, refuses: bool = False) -> str:
    with serving(echo) as server:
        if refuses:
            server.answer = refusing_once(server)
        said = dies_after(tmp_path / f"{writes}.db", server, writes)
        if (tmp_path / f"{writes}.db").exists():
            asyncio.run(goes_on(tmp_path / f"{writes}.db", server))
    return said


@pytest.mark.parametrize("writes", [2, 7, 14])
def test_a_run_that_was_killed_between_two_writes_comes_to_its_result(tmp_path: Path, writes: int) -> None:
    assert play(tmp_path, writes) == ""


@pytest.mark.parametrize("writes", [6, 7, 20])
def test_a_run_whose_calls_were_refused_when_it_was_killed_comes_to_its_result(tmp_path: Path, writes: int) -> None:
    assert play(tmp_path, writes, refuses=True) == ""


@pytest.mark.slow
@pytest.mark.parametrize("refuses", [False, True])
def test_a_run_that_is_killed_between_any_two_writes_comes_to_its_result(tmp_path: Path, refuses: bool) -> None:
    for writes in range(MOST_WRITES):
        if play(tmp_path, writes, refuses=refuses):
            assert writes > 14
            return
    pytest.fail(f"the run still wrote after {MOST_WRITES} writes")
