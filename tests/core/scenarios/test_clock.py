"""Clocks of machines that jump: a day forwards, a day back, ten years while a run is driven. Real processes, whose wall
clock is read from a file; what is waited for goes by the clock that never jumps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from planloom.testing.loopback import Received, Served, completion

if TYPE_CHECKING:
    from .conftest import Shell

MakeShell = Callable[..., "Shell"]
pytestmark = pytest.mark.command

DAY_S = 86_400
MANY = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(24)])\n'

# Read by every Python that starts with its folder on PYTHONPATH.
SITE = """
import datetime, os, time

_now = time.time

def _moved():
    with open(os.environ["CLOCK_FILE"]) as file:
        return float(file.read() or 0)

class _Moved(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(time.time(), tz)

time.time = lambda: _now() + _moved()
time.time_ns = lambda: int(time.time() * 1e9)
datetime.datetime = _Moved
"""


def slow_echo(request: Received) -> Served:
    return completion(f"ok: {request.question}").after(0.2)


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that says how far off the clock of the processes is, in seconds."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE)
    moved = tmp_path / "moved"
    moved.write_text("0")
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("CLOCK_FILE", str(moved))
    return moved


def test_a_clock_that_jumps_while_a_run_goes_on_changes_nothing(shell_with: MakeShell, clock: Path) -> None:
    shell = shell_with(slow_echo, MANY)
    process = shell.start("run", "job.plan")
    for requests, moved in ((4, DAY_S), (9, -DAY_S), (17, 0)):
        shell.wait_for(process, requests)
        clock.write_text(str(moved))
    _, remarks = process.communicate(timeout=60)
    assert process.returncode == 0, remarks
    assert (shell.server.total, set(shell.server.asked.values())) == (24, {1})
    assert shell.here("store", "check").code == 0


def test_a_run_whose_driver_died_in_ten_years_goes_on_today(shell_with: MakeShell, clock: Path) -> None:
    shell = shell_with(slow_echo, MANY)
    clock.write_text(str(3_650 * DAY_S))
    process = shell.start("run", "job.plan")
    shell.wait_for(process, 12)
    process.kill()
    process.communicate()
    run, began = shell.newest().id, shell.newest().created_at
    assert int(began[:4]) >= datetime.now(UTC).year + 9
    clock.write_text("0")
    code, output, remarks = shell.run("resume", run)
    assert code == 0, remarks
    assert "ok: question 23" in output
    assert shell.server.total <= 24 + 8
