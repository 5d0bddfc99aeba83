"""A person at a terminal who is asked whether a plan may run: yes, no, or Ctrl-C."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from planloom.testing.folders import Folder
from planloom.testing.loopback import echo, serving

pty = pytest.importorskip("pty", reason="a terminal needs a system that has some")

HELD = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(300)])\n'
LONG_TO_REHEARSE = """
def work(n):
    return len([x for x in range(2000) if x % 7 == n])
result = parallel([lambda i=i: agent(f"question {i}, {work(i)}") for i in range(700)])
"""


_AGAIN_S = 2.0
"""After that long without an end the answer is typed again: what comes before the terminal is made ready is dropped."""


def at_terminal(folder: Folder, asked: str, answer: bytes) -> tuple[int, str]:
    """Type an answer when something is asked; return the exit code and what was on the screen."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(folder.path)
        os.execv(sys.executable, [sys.executable, "-m", "planloom", "run", "job.plan"])
    shown, typed_at = b"", float("-inf")
    with suppress(OSError):  # how Linux says that the other end is closed
        while True:
            if select.select([screen], [], [], _AGAIN_S)[0]:
                data = os.read(screen, 65_536)
                if not data:
                    break
                shown += data
            if asked.encode() in shown and time.monotonic() > typed_at + _AGAIN_S:
                os.write(screen, answer)
                typed_at = time.monotonic()
    os.close(screen)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), " ".join(shown.decode().split())


@pytest.mark.parametrize(
    ("answer", "code", "said", "left"),
    [
        (b"y\n", 0, "approved by person: at most 60.0 credits", "completed"),
        (b"n\n", 4, "planloom: the plan was not approved and did not run; approve it with --yes", "held"),
        (b"\x03", 130, "planloom: cancelled; every answer that came is kept", "no runs yet"),
    ],
    ids=["yes", "no", "ctrl-c"],
)
def test_a_plan_above_the_gate_is_run_held_or_forgotten_as_the_person_says(
    tmp_path: Path, answer: bytes, code: int, said: str, left: str
) -> None:
    with serving(echo) as server:
        folder = Folder(tmp_path, server, HELD)
        ended, shown = at_terminal(folder, "Run it?", answer)
        assert (ended, said in shown, left in folder.run("runs")[1]) == (code, True, True), shown
        assert server.total == (300 if code == 0 else 0)


def test_who_says_neither_yes_nor_no_is_told_what_to_say_and_asked_again(tmp_path: Path) -> None:
    with serving(echo) as server:
        folder = Folder(tmp_path, server, HELD)
        ended, shown = at_terminal(folder, "Run it?", b"maybe\nn\n")
        assert (ended, "`maybe` is neither yes nor no; say y or n" in shown) == (4, True), shown
        assert shown.count("Run it? [y/N]:") == 2


def test_ctrl_c_ends_a_long_rehearsal_and_leaves_no_run(tmp_path: Path) -> None:
    with serving(echo) as server:
        folder = Folder(tmp_path, server, LONG_TO_REHEARSE)
        process = folder.start("run", "job.plan")
        while not (folder.path / "store.db").exists():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.3)  # by now it rehearses, which takes seconds
        process.send_signal(signal.SIGINT)
        _, remarks = process.communicate(timeout=30)
        assert (process.returncode, "cancelled; every answer that came is kept" in remarks) == (130, True)
        assert (server.total, "no runs yet" in folder.run("runs")[1]) == (0, True)
