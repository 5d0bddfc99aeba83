"""``planloom run`` as a person uses it: killed, interrupted, run again; real processes and real signals."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planloom.questions import Question, message_of
from planloom.stores import Store
from planloom.testing.folders import Folder, look_into
from planloom.testing.loopback import Received, Script, completion, serving

PLAN = """
phase("Ask")
result = len([x for x in parallel([lambda i=i: agent(f"question {i}") for i in range(60)]) if x])
"""


@pytest.fixture
def folder_with(folder_with: Callable[[Script, str], Folder]) -> Callable[[Script], Folder]:
    """Make a folder with the plan of this file."""
    return lambda script: folder_with(script, PLAN)


def slow_echo(request: Received) -> Any:
    return completion(f"ok: {request.question}").after(0.05)


FIRST = ("question 0", "question 1")


def hang() -> Any:
    return completion("late").hanging()


def settled(store: Store) -> set[str]:
    """Return the texts of the questions that the only run there is asked and has answers to."""
    (row,) = store.runs()
    questions = [store.question(fingerprint) for fingerprint in store.own_versions(row.id)]
    return {question.messages[-1].text for question in questions if question is not None}


def answered_in(path: Path) -> set[str]:
    """Return the texts of the questions of ``run_process.py`` whose answers are in a store."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def known(store: Store) -> set[str]:
        texts = {f"question {number}" for number in range(100)}
        return {text for text in texts if store.reply(_question(text).fingerprint) is not None}

    return set(look_into(path, known))


def _question(text: str) -> Question:
    messages = (message_of("user", text),)
    return Question(endpoint="main", model="m-1", messages=messages, parameters={"max_tokens": 100})


@pytest.mark.parametrize(
    "requests", [pytest.param(5, marks=pytest.mark.slow), 40, pytest.param(90, marks=pytest.mark.slow)]
)
def test_after_kill_9_nothing_that_was_answered_is_asked_again(tmp_path: Path, requests: int) -> None:
    command = [sys.executable, str(Path(__file__).with_name("run_process.py")), str(tmp_path / "store.db")]
    with serving(lambda request: slow_echo(request).after(0.03)) as server:
        process = subprocess.Popen([*command, server.url, "100"], stdout=subprocess.DEVNULL)
        while server.total < requests:
            time.sleep(0.002)
        process.kill()
        process.wait()
        answered = answered_in(tmp_path / "store.db")
        before = Counter(server.asked)
        again = subprocess.run([*command, server.url, "100"], stdout=subprocess.PIPE, text=True, timeout=60)
        assert again.stdout.strip() == "100"
        asked_again = {text for text in before if server.asked[text] > before[text]}
        assert len(answered) >= requests - 8
        assert not asked_again & answered
        assert server.total <= 100 + 8


@pytest.mark.slow
def test_a_killed_command_is_run_again_and_ends_what_was_begun(folder_with: Callable[[Script], Folder]) -> None:
    folder = folder_with(slow_echo)
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 30)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    run, status, *_ = folder.run("runs")[1].splitlines()[1].split()
    assert status == "interrupted"
    assert f"{run} | interrupted | phase 1: Ask | 0 running, " in folder.run("show", run)[1]
    answered = folder.store(settled)
    assert len(answered) >= 30 - 8
    before = Counter(folder.server.asked)
    code, output, remarks = folder.run("run", "job.plan")
    assert (code, output.strip()) == (0, "60"), remarks
    again = {text for text in before if folder.server.asked[text] > before[text]}
    assert not again & answered
    assert len(again) <= 8
    assert folder.server.total <= 60 + 8
    assert folder.store(lambda store: [row.status for row in store.runs()])[0] == "completed"


def test_one_ctrl_c_lets_the_calls_in_flight_end_and_keeps_every_answer(
    folder_with: Callable[[Script], Folder],
) -> None:
    folder = folder_with(slow_echo)
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 20)
    os.kill(process.pid, signal.SIGINT)
    _, remarks = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "cancelled" in remarks
    assert "Traceback" not in remarks
    assert folder.server.abandoned == 0
    asked = folder.server.total
    code, output, _ = folder.run("run", "job.plan")
    assert (code, output.strip()) == (0, "60")
    assert (folder.server.total, max(folder.server.asked.values())) == (60, 1)
    assert asked < 60


def test_a_second_ctrl_c_cuts_off_calls_that_hang_and_keeps_their_price_charged(
    folder_with: Callable[[Script], Folder],
) -> None:
    folder = folder_with(completion("late").hanging())
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 8)
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    _, remarks = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Traceback" not in remarks
    assert "1.6 for calls of unknown outcome" in " ".join(remarks.split())
    assert folder.server.total == 8


def test_what_a_run_left_is_shown_from_another_terminal(folder_with: Callable[[Script], Folder]) -> None:
    folder = folder_with(completion("yes"))
    assert folder.run("run", "job.plan", "--title", "Ask much")[0] == 0
    code, output, _ = folder.run("runs")
    assert code == 0
    assert "completed" in output
    run = output.splitlines()[1].split()[0]
    assert run.startswith("ask-much-")
    code, output, _ = folder.run("show", run)
    assert code == 0
    assert "12.0 credits paid" in output
    assert f"{run} | completed | phase 1: Ask | 0 running, 60 done, 0 failed, 0 dropped | 12.0 credits | " in output


def test_a_run_that_goes_on_tells_another_terminal_how_it_is_going(folder_with: Callable[[Script], Folder]) -> None:
    folder = folder_with(lambda request: completion("yes") if request.question in FIRST else hang())
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 10)
    time.sleep(0.5)
    run = folder.run("runs")[1].splitlines()[1].split()[0]
    assert (
        f"{run} | running | phase 1: Ask | 8 running, 2 done, 0 failed, 0 dropped | 0.4 credits | "
        in (folder.run("show", run)[1])
    )
    os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("command", ["run", "rehearse"])
def test_a_target_that_nothing_works_on_is_refused_and_a_misspelled_word_named_first(
    folder_with: Callable[[Script], Folder], command: str
) -> None:
    folder = folder_with(slow_echo)
    code, _, remarks = folder.run(command, "job.plan", "--target", "nosuch")
    assert code == 2
    assert "job.plan uses no word of a kit, so that nothing in it works on a target; leave --target out" in remarks
    (folder.path / "job.plan").write_text("result = scann(1)\n")
    code, _, remarks = folder.run(command, "job.plan", "--target", ".")
    assert (code, "Next: write `scan`" in remarks) == (6, True)
