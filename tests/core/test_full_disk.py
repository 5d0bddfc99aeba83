"""A disk that is full for a while: the run waits for room with what it has in hand, and a cancel ends the wait."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planloom.testing.folders import Folder
from planloom.testing.loopback import completion, serving
from planloom_sqlite import check_store, open_store

IN_FLIGHT = 4


def played(store: Path, then: str) -> dict[str, Any]:
    """Run on a full disk in a process of its own; return what it saw."""
    command = [sys.executable, str(Path(__file__).with_name("full_disk_process.py")), str(store), then]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.slow  # two starts of Python and several waits of half a second
def test_a_run_on_a_full_disk_waits_and_goes_on_by_itself_when_there_is_room(tmp_path: Path) -> None:
    found = played(tmp_path / "store.db", "room")
    assert found["line"].endswith("PAUSED at the disk")
    assert (found["asked"], found["asked_later"]) == (IN_FLIGHT, IN_FLIGHT)
    assert (found["status"], found["row"], found["workers"]) == ("completed", "completed", 12)
    assert (found["asked_in_all"], found["asked_most"]) == (12, 1)
    assert found["events"] == [True, False]
    assert check_store(tmp_path / "store.db") == []


@pytest.mark.slow  # what is in hand is tried for five seconds more
def test_a_cancel_ends_the_wait_for_room_and_leaves_the_calls_uncertain(tmp_path: Path) -> None:
    found = played(tmp_path / "store.db", "cancel")
    assert found["asked_later"] == found["asked_in_all"] == IN_FLIGHT
    assert (found["status"], found["events"]) == ("cancelled", [True])
    store = open_store(tmp_path / "store.db")
    (row,) = store.runs()
    assert len(store.uncertain_calls(row.budget)) == IN_FLIGHT
    assert check_store(tmp_path / "store.db") == []


@pytest.mark.slow  # three starts of Python, and what is in hand is tried for five seconds more
def test_a_sigterm_ends_the_wait_for_room_and_what_was_kept_is_not_asked_again(tmp_path: Path) -> None:
    plan = 'result = len(parallel([lambda i=i: agent(f"question {i}") for i in range(60)]))\n'
    with serving(lambda request: completion(os.urandom(40_000).hex()).after(0.05)) as server:
        folder = Folder(tmp_path, server, plan)
        process = folder.start("run", "job.plan", "--yes")
        try:
            folder.wait_for(process, 1)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
            folder.wait_until(lambda: folder.newest().status == "paused")
            process.terminate()
            _, remarks = process.communicate(timeout=60)
        finally:
            folder.end()
        assert process.returncode == 130
        assert "paused at the disk: the store" in remarks
        assert "then asks again what came and could not be kept" in remarks
        assert "every answer that came is kept" not in remarks
        assert 8 < server.total < 60
        code, _, remarks = folder.run("run", "job.plan", "--yes")
        assert code == 0, remarks
        assert server.total <= 60 + 8
