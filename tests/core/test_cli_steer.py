"""Runs that another process drives: detached, followed, cancelled, raised, exported; real processes and signals."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from planloom.cli._steer import _unheard
from planloom.stores import RunHolder
from planloom.testing.folders import Folder
from planloom.testing.loopback import Received, Script, completion, echo

from .asking import refused
from .suspending import suspend

MakeFolder = Callable[..., Folder]

SIXTY = 'phase("Ask")\nresult = parallel([lambda i=i: agent(f"question {i}") for i in range(60)])\n'
MORE_THAN_FORESEEN = """
many = 29 if agent("how many") == "ok: how many" else 2
result = parallel([lambda i=i: agent(f"question {i}") for i in range(many)])
"""


@pytest.fixture
def folder_with(folder_with: Callable[[Script, str], Folder]) -> Iterator[MakeFolder]:
    """Make a folder with a plan of its own, or the usual one; what still drives a run at the end is killed."""
    made: list[Folder] = []

    def make(script: Script, plan: str = SIXTY) -> Folder:
        made.append(folder_with(script, plan))
        return made[-1]

    yield make
    for folder in made:
        _kill_driver(folder)


def _kill_driver(folder: Folder) -> None:
    holder = driver_of(folder) if (folder.path / "store.db").exists() else None
    if holder is not None:
        with suppress(ProcessLookupError):
            os.kill(holder.pid, signal.SIGKILL)


def driver_of(folder: Folder) -> RunHolder | None:
    return folder.store(lambda store: store.driver(store.runs(1)[0].id) if store.runs(1) else None)


def slow_echo(request: Received) -> Any:
    return echo(request).after(0.1)


def hanging_after(answers: int) -> Script:
    """Answer some questions, then hang."""
    count = 0

    def script(request: Received) -> Any:
        nonlocal count
        count += 1
        return echo(request) if count <= answers else echo(request).hanging()

    return script


def detached(folder: Folder, *options: str) -> str:
    code, output, remarks = folder.run("run", "job.plan", "--detach", *options)
    assert code == 0, remarks
    return output.strip()


# --- detached


def test_a_detached_run_outlives_its_command_and_is_followed_to_its_end(folder_with: MakeFolder) -> None:
    folder = folder_with(slow_echo)
    run = detached(folder)
    assert driver_of(folder) is not None
    code, output, _ = folder.run("follow", run)
    assert code == 0
    assert f"{run} | completed | phase 1: Ask | 0 running, 60 done, 0 failed, 0 dropped | 12.0 credits | " in output
    assert (folder.server.total, max(folder.server.asked.values())) == (60, 1)
    assert f"{run}: completed" in (folder.path / "logs" / f"{run}.log").read_text()


@pytest.mark.slow
def test_a_detached_run_that_needs_approval_is_held_in_front_of_the_person(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, SIXTY.replace("60", "400"))
    code, _, remarks = folder.run("run", "job.plan", "--detach")
    assert (code, "held for approval" in remarks) == (4, True)
    assert folder.server.total == 0


def test_a_detached_run_waits_at_its_cap_and_goes_on_when_that_is_raised(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MORE_THAN_FORESEEN)
    run = detached(folder, "--cap", "2")
    folder.wait_until(lambda: folder.newest().status == "paused")
    shown = folder.run("show", run)[1]
    assert "| PAUSED at the budget" in shown
    assert "2.0 credits paid | began" in shown
    code, output, _ = folder.run("raise", run, "--cap", "10")
    assert (code, f"{run}: 8.0 of 10.0 credits are free; it goes on" in output) == (0, True)
    assert folder.run("follow", run)[0] == 0
    assert (folder.server.total, max(folder.server.asked.values())) == (30, 1)


@pytest.mark.slow
def test_a_raise_of_a_run_that_nobody_drives_names_resume(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MORE_THAN_FORESEEN)
    folder.run("run", "job.plan", "--cap", "2")
    run = folder.newest().id
    assert f"nobody drives it: `planloom resume {run}` goes on" in folder.run("raise", run, "--cap", "10")[1]
    assert folder.run("resume", run)[0] == 0
    assert folder.run("raise", run, "--cap", "20")[0] == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.slow
def test_a_signal_lets_the_calls_of_a_detached_run_end(folder_with: MakeFolder, number: int) -> None:
    folder = folder_with(lambda request: echo(request).after(0.5))
    run = detached(folder)
    folder.wait_until(lambda: folder.server.total >= 8)
    holder = driver_of(folder)
    assert holder is not None
    os.kill(holder.pid, signal.SIGHUP)
    os.kill(holder.pid, number)
    assert folder.run("follow", run)[0] == 130
    assert folder.server.abandoned == 0
    assert folder.newest().status == "cancelled"


@pytest.mark.slow
def test_a_closed_terminal_does_not_end_a_detached_run(folder_with: MakeFolder) -> None:
    folder = folder_with(slow_echo)
    run = detached(folder)
    holder = driver_of(folder)
    assert holder is not None
    os.kill(holder.pid, signal.SIGHUP)
    assert folder.run("follow", run)[0] == 0


# --- followed


@pytest.mark.slow
def test_who_looks_on_no_longer_is_not_told_that_the_run_was_cancelled(folder_with: MakeFolder) -> None:
    folder = folder_with(slow_echo)
    run = detached(folder)
    looking = folder.start("follow", run, "--json")
    assert looking.stdout is not None
    looking.stdout.readline()
    looking.send_signal(signal.SIGINT)
    _, remarks = looking.communicate()
    assert (looking.returncode, "cancelled" in remarks) == (130, False)
    assert f"`planloom cancel {run}` ends the run itself" in remarks
    assert folder.run("follow", run)[0] == 0


@pytest.mark.slow
def test_a_follower_gets_every_event_once_as_a_line_of_json(folder_with: MakeFolder) -> None:
    folder = folder_with(slow_echo)
    run = detached(folder)
    code, output, _ = folder.run("follow", run, "--json")
    assert code == 0
    events = [json.loads(line) for line in output.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[-1]["type"]) == ("run.created", "run.ended")


def test_a_follower_is_told_why_workers_failed_and_where_the_result_is(folder_with: MakeFolder) -> None:
    folder = folder_with(lambda _: refused())
    run = detached(folder)
    code, output, _ = folder.run("follow", run)
    assert code == 3
    shown = folder.run("show", run)[1].splitlines()
    reasons = [line for line in shown if "worker" in line and " failed: " in line]
    assert reasons
    assert set(reasons) <= set(output.splitlines())
    assert f"`planloom show {run}` shows its result" in output


@pytest.mark.slow
def test_a_follower_is_told_of_a_run_that_nobody_drives(folder_with: MakeFolder) -> None:
    folder = folder_with(hanging_after(10))
    run = detached(folder)
    folder.wait_until(lambda: folder.server.total >= 18)
    following = folder.start("follow", run)
    _kill_driver(folder)
    output, remarks = following.communicate(timeout=30)
    assert following.returncode == 5
    assert f"{run} | interrupted | " in output
    assert f"nobody drives {run}; `planloom resume {run}` goes on" in remarks


# --- cancelled


def test_a_cancel_from_another_terminal_lets_calls_in_flight_end(folder_with: MakeFolder) -> None:
    folder = folder_with(lambda request: echo(request).after(0.5))
    run = detached(folder)
    folder.wait_until(lambda: folder.server.total >= 8)
    code, output, _ = folder.run("cancel", run)
    assert (code, f"{run} is cancelled" in output) == (0, True)
    assert (folder.newest().status, folder.server.abandoned) == ("cancelled", 0)
    asked = folder.server.total
    assert folder.run("resume", run)[0] == 0
    assert (folder.server.total, max(folder.server.asked.values())) == (60, 1)
    assert asked < 60


def test_a_cancel_that_waits_is_seen_from_every_terminal_and_a_second_one_says_what_it_cut(
    folder_with: MakeFolder,
) -> None:
    folder = folder_with(hanging_after(4))
    run = detached(folder)
    folder.wait_until(lambda: folder.server.total >= 12)
    first = folder.start("cancel", run)
    assert first.stderr is not None
    assert first.stderr.readline() == (
        f"{run} is being cancelled: 8 calls in flight have up to 30 s to end; a second `planloom cancel {run}` ends "
        "them at once, charged as of unknown outcome\n"
    )
    shown = folder.run("show", run)[1]
    assert "| BEING CANCELLED" in shown
    assert "a cancel is under way: 8 calls, which were in flight then, have until " in shown
    assert "` ends it" not in shown
    assert "running, being cancelled" in folder.run("runs")[1]
    following = folder.start("follow", run)
    assert following.stdout is not None
    assert following.stdout.readline().startswith("a cancel is under way: 8 calls")
    code, output, remarks = folder.run("cancel", run)
    charged = "8 calls of unknown outcome keep 1.6 credits charged, since the provider may have billed them"
    assert (code, charged in output) == (0, True)
    assert "a cancel is under way; the calls that it lets end are ended now" in remarks
    assert charged in first.communicate(timeout=30)[0]
    assert "8 calls in flight are cut off now" in following.communicate(timeout=30)[0]
    assert "CANCEL" not in folder.run("show", run)[1].splitlines()[1]


def test_who_waits_no_longer_for_a_cancel_is_told_that_it_stands(folder_with: MakeFolder) -> None:
    folder = folder_with(hanging_after(4))
    run = detached(folder)
    folder.wait_until(lambda: folder.server.total >= 12)
    cancelling = folder.start("cancel", run)
    assert cancelling.stderr is not None
    cancelling.stderr.readline()
    cancelling.send_signal(signal.SIGINT)
    _, remarks = cancelling.communicate(timeout=30)
    assert (cancelling.returncode, "run the same command again" in remarks) == (130, False)
    assert f"the cancel stands: {run} ends once its calls in flight have" in remarks
    assert folder.run("cancel", run)[0] == 0
    assert folder.newest().status == "cancelled"


def test_a_cancel_that_comes_too_late_says_that_nothing_was_cancelled(folder_with: MakeFolder) -> None:
    folder = folder_with(lambda request: echo(request).after(1.0), 'result = agent("q")\n')
    run = detached(folder)
    folder.wait_until(lambda: folder.server.total == 1)
    code, output, _ = folder.run("cancel", run)
    assert code == 0
    assert (
        output.strip() == f"{run} is completed: it came to its end before the cancel took hold; nothing was cancelled"
    )


@pytest.mark.slow
def test_a_run_that_waits_at_its_budget_is_cancelled_at_once(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MORE_THAN_FORESEEN)
    run = detached(folder, "--cap", "2")
    folder.wait_until(lambda: folder.newest().status == "paused")
    assert folder.run("cancel", run)[0] == 0
    assert folder.newest().status == "cancelled"


def test_a_run_whose_driver_died_is_interrupted_and_can_be_cancelled(folder_with: MakeFolder) -> None:
    folder = folder_with(hanging_after(10))
    run = detached(folder)
    folder.wait_until(lambda: folder.server.total >= 18)
    _kill_driver(folder)
    folder.wait_until(lambda: driver_of(folder) is None)
    assert f"{run} | interrupted | " in folder.run("show", run)[1]
    assert folder.run("cancel", run)[0] == 0
    assert f"{run} | cancelled | " in folder.run("show", run)[1]
    last = folder.store(lambda store: store.events(run)[-1])
    assert (last.type, last.data["status"]) == ("run.ended", "cancelled")


@pytest.mark.slow
def test_a_run_that_has_ended_is_not_cancelled(folder_with: MakeFolder) -> None:
    folder = folder_with(echo)
    folder.run("run", "job.plan")
    run = folder.newest().id
    code, output, _ = folder.run("cancel", run)
    assert (code, output.strip()) == (0, f"{run} is completed already; nothing was cancelled")
    assert folder.newest().status == "completed"


# --- suspended


@pytest.mark.slow
def test_a_driver_that_is_suspended_for_a_moment_keeps_its_run(folder_with: MakeFolder) -> None:
    folder = folder_with(lambda request: echo(request).after(0.05))
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 20)
    run = folder.newest().id
    os.kill(process.pid, signal.SIGSTOP)
    # It is told who has the run; or, where that was suspended in the middle of a commit, that the store is locked.
    assert folder.run("resume", run)[0] in (1, 2)
    os.kill(process.pid, signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert max(folder.server.asked.values()) == 1


def test_a_cancel_that_is_not_heard_at_once_says_who_is_waited_for(folder_with: MakeFolder) -> None:
    folder = folder_with(hanging_after(4))
    driving = folder.start("run", "job.plan")
    folder.wait_for(driving, 12)
    run = folder.newest().id
    suspend(driving, folder.path / "store.db")
    cancelling = folder.start("cancel", run)
    assert cancelling.stderr is not None
    said = cancelling.stderr.readline()
    assert said.startswith(f"{run}: process {driving.pid} on ")
    assert said.endswith(", which drives it, was asked to cancel it and has not answered yet; waiting for it\n")
    os.kill(driving.pid, signal.SIGCONT)
    assert f"{run} is being cancelled: 8 calls in flight" in cancelling.stderr.readline()
    assert folder.run("cancel", run)[0] == 0
    assert driving.wait(30) == 130


def test_a_cancel_that_a_suspended_driver_does_not_hear_says_so_and_what_becomes_of_it() -> None:
    since = datetime(2026, 1, 2, tzinfo=UTC)
    holder = RunHolder(pid=7, machine="here boot-1", here=False, alive_since=since)
    said = _unheard("job-1", "running", holder)
    assert "job-1 is running still: process 7 on here, which drives it, was asked to cancel it" in said
    assert "`planloom cancel job-1`" in said


# --- shown and exported


@pytest.mark.slow
def test_a_large_result_is_shown_cut_and_exported_whole(folder_with: MakeFolder) -> None:
    folder = folder_with(completion("x" * 100_000), 'text = agent("q")\nresult = [text for i in range(20)]\n')
    folder.run("run", "job.plan")
    run = folder.newest().id
    shown = folder.run("show", run)[1]
    assert len(shown) < 10_000
    assert f"characters more; `planloom export {run}` writes them all to result.json" in shown
    assert folder.run("export", run, "--out", "there")[0] == 0
    assert json.loads((folder.path / "there" / "result.json").read_text()) == ["x" * 100_000] * 20


def test_an_export_holds_plan_record_events_and_transcripts(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, 'result = parallel([lambda: agent("a", label="first"), lambda: agent("b")])\n')
    folder.run("run", "job.plan")
    run = folder.newest().id
    assert folder.run("export", run)[0] == 0
    there = folder.path / run
    threads = [json.loads(line) for line in (there / "transcripts.jsonl").read_text().splitlines()]
    assert [thread["turns"][0]["question"]["messages"] for thread in threads] == [
        [{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]
    ]  # fmt: skip
    assert [thread["turns"][0]["reply"]["text"] for thread in threads] == ["ok: a", "ok: b"]
    assert (threads[0]["label"], threads[0]["status"]) == ("first", "done")
    events = [json.loads(line)["type"] for line in (there / "events.jsonl").read_text().splitlines()]
    assert (events[0], events[-1]) == ("run.created", "run.ended")
    record = json.loads((there / "run.json").read_text())
    assert (record["id"], record["status"], record["money"]["spent"]) == (run, "completed", 400_000)
    assert (there / "plan.plan").read_text() == (folder.path / "job.plan").read_text()
