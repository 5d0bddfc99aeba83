"""A process that is suspended for longer than its lease while its account is used up: it goes on as others do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from planloom.testing.loopback import LoopbackServer, Received, completion, json_answer, serving

from .suspending import suspend
from .test_flights import process, told_by

QUESTIONS = 20
AT_ONCE = 16
ONE_BY_ONE_S = QUESTIONS * 5.0
"""What a probe for each question would take."""


class Account:
    """Refuses until it is paid for, and says that it is reset in four seconds."""

    is_paid = False

    def __call__(self, request: Received) -> Any:
        if self.is_paid:
            return completion(f"ok: {request.question}")
        return json_answer({"error": {"message": "no credit left"}}, 402, {"retry-after": "4"})


@contextmanager
def suspended(store: Path, server: LoopbackServer) -> Iterator[subprocess.Popen[str]]:
    """Give a process all of whose calls were refused, and that is suspended since longer than its lease."""
    script = Path(__file__).with_name("suspended_process.py")
    command = [sys.executable, str(script), str(store), server.url, str(QUESTIONS)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        while server.total < AT_ONCE or server.in_flight:
            assert running.poll() is None
            time.sleep(0.005)
        suspend(running, store)
        time.sleep(0.6)
        yield running
    finally:
        running.kill()
        running.communicate()


def wake(running: subprocess.Popen[str]) -> dict[str, Any]:
    os.kill(running.pid, signal.SIGCONT)
    return told_by(running)


def test_what_another_process_had_answered_meanwhile_is_had_at_once(tmp_path: Path) -> None:
    account = Account()
    with serving(account) as server, suspended(tmp_path / "store.db", server) as running:
        account.is_paid = True
        assert told_by(process(tmp_path / "store.db", server.url, QUESTIONS, 1))["answered"] == QUESTIONS
        told = wake(running)
        assert (told["answered"], told["free"]) == (QUESTIONS, QUESTIONS)
        assert told["took_s"] < ONE_BY_ONE_S / 2
        assert server.total == AT_ONCE + QUESTIONS


@pytest.mark.parametrize("answered", [0, 3])
def test_what_nobody_asked_meanwhile_is_asked_as_soon_as_the_account_is_reset(tmp_path: Path, answered: int) -> None:
    account = Account()
    with serving(account) as server, suspended(tmp_path / "store.db", server) as running:
        account.is_paid = True
        if answered:
            assert told_by(process(tmp_path / "store.db", server.url, answered, 1))["answered"] == answered
        told = wake(running)
        assert (told["answered"], told["free"]) == (QUESTIONS, answered)
        assert told["took_s"] < ONE_BY_ONE_S / 2
        assert server.total == AT_ONCE + QUESTIONS
