"""A process that is suspended while its calls are out: what was answered meanwhile is taken, late as it is read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from planloom.testing.doors import BUDGET
from planloom.testing.folders import look_into
from planloom.testing.loopback import Received, completion, event_stream, serving

from .suspending import suspend
from .test_flights import told_by

QUESTIONS = 8
PRICE = 200_000
LIMIT_S = 3.0


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_came_in_time_is_not_too_late_because_nobody_could_read_it(
    tmp_path: Path, streamed: bool
) -> None:
    def script(request: Received) -> Any:
        answer = event_stream(["o", "k"]).trickled(40, 0.01) if streamed else completion("ok")
        return answer.after(0.5)

    command = [sys.executable, str(Path(__file__).with_name("suspended_process.py")), str(tmp_path / "store.db")]
    with serving(script) as server:
        running = subprocess.Popen(
            [*command, server.url, str(QUESTIONS), str(LIMIT_S)], stdout=subprocess.PIPE, text=True
        )
        try:
            while server.total < QUESTIONS:
                assert running.poll() is None
                time.sleep(0.005)
            suspend(running, tmp_path / "store.db")
            time.sleep(2 * LIMIT_S)
            os.kill(running.pid, signal.SIGCONT)
            told = told_by(running)
        finally:
            running.kill()
            running.communicate()
        assert (told["answered"], told["faults"], server.total) == (QUESTIONS, 0, QUESTIONS)
    books = look_into(tmp_path / "store.db", lambda store: store.books(BUDGET))
    assert (books.spent, books.reserved, books.uncertain) == (QUESTIONS * PRICE, 0, 0)
