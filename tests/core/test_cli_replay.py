"""Runs that are played again for nothing; real processes and a real server."""

from __future__ import annotations

import json

import pytest

from planloom.testing.loopback import echo

from .asking import MANY, MORE_THAN_FORESEEN, MakeFolder, refused, slow_echo


@pytest.mark.slow
def test_a_replay_asks_nothing_writes_nothing_and_gives_the_stored_result(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, 'left = budget()\nresult = [left, agent("a"), race([lambda: agent("b")])]\n')
    folder.run("run", "job.plan")
    run = folder.newest()
    asked, events = folder.server.total, folder.store(lambda store: store.events(run.id))
    code, output, remarks = folder.run("replay", run.id, "--json")
    assert (code, json.loads(output)) == (0, {"equal": True, "result": run.result})
    assert "gives the stored result, from 2 stored answers" in " ".join(remarks.split())
    assert folder.server.total == asked
    assert folder.store(lambda store: store.events(run.id)) == events
    assert folder.store(lambda store: len(store.runs())) == 1


def test_a_replay_fails_the_workers_that_failed(folder_with: MakeFolder) -> None:
    folder = folder_with(lambda r: refused() if r.question == "question 1" else echo(r), MANY.format(count=3))
    folder.run("run", "job.plan")
    assert folder.run("replay", folder.newest().id)[0] == 0
    assert folder.server.total == 3


@pytest.mark.slow
def test_a_replay_of_a_run_that_was_cut_short_says_what_it_lacks(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MORE_THAN_FORESEEN)
    folder.run("run", "job.plan", "--cap", "2")
    code, _, remarks = folder.run("replay", folder.newest().id)
    assert code == 1
    assert "came to no result: replay met a question of role `worker`" in " ".join(remarks.split())


@pytest.mark.slow
def test_a_replay_that_comes_to_something_else_names_what_changed_since(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, 'result = plan("tell")\n')
    saved = folder.path / "plans" / "tell.plan"
    saved.parent.mkdir()
    saved.write_text('result = agent("question 1")\n')
    assert folder.run("run", "job.plan")[0] == 0
    run = folder.newest().id
    assert "has changed" not in folder.run("replay", run)[2]
    saved.write_text('result = agent("question 2")\n')
    code, _, remarks = folder.run("replay", run)
    assert code == 1
    assert "since the run was begun this has changed: saved plan tell: then " in " ".join(remarks.split())
    assert folder.server.total == 1


def test_a_replay_of_a_run_whose_driver_died_does_not_call_it_running(folder_with: MakeFolder) -> None:
    folder = folder_with(slow_echo, MANY.format(count=40))
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 8)
    process.kill()
    process.communicate()
    run = folder.newest().id
    code, _, remarks = folder.run("replay", run)
    assert (code, f"the replay of {run}, which is interrupted, came to no result" in remarks) == (1, True)
