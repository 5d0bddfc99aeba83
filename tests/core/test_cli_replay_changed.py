"""Runs that are played again when the configuration is another by now: from what their record keeps."""

from __future__ import annotations

import json

import pytest

from planloom.testing.folders import Folder
from planloom.testing.loopback import Received, Served, completion, echo

from .asking import MakeFolder

PLAN = 'result = [agent("a"), agent("b", schema={"type": "object", "properties": {"n": {"type": "integer"}}})]\n'


def answer(request: Received) -> Served:
    return completion('{"n": 1}') if request.question.startswith("b") else echo(request)


@pytest.fixture
def folder(folder_with: MakeFolder) -> Folder:
    """A folder with a run that is whole."""
    folder = folder_with(answer, PLAN)
    code, _, remarks = folder.run("run", "job.plan")
    assert code == 0, remarks
    return folder


CHANGES = {
    "another model": {'"m-1"': '"m-2"'},
    "a parameter": {'model = "m-1"': 'model = "m-1"\nparameters = { temperature = 0.1 }'},
    "another endpoint's name": {"[endpoints.main]": "[endpoints.other]", 'endpoint = "main"': 'endpoint = "other"'},
    "another json mode": {'client = "openai"': 'client = "openai"\njson_mode = "none"'},
    "no such role": {"[roles.worker]": "[roles.judge]"},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES.keys())
def test_a_run_is_played_as_it_was_asked_whatever_is_configured_now(folder: Folder, changes: dict[str, str]) -> None:
    run, asked = folder.newest(), folder.server.total
    folder.configure(**changes)
    code, output, remarks = folder.run("replay", run.id, "--json")
    assert (code, json.loads(output)) == (0, {"equal": True, "result": ["ok: a", {"n": 1}]}), remarks
    assert folder.server.total == asked


UNFORESEEN = 'result = agent("b", model="worker" if agent("a") != "ok: a" else "judge")\n'
JUDGE = '[roles.judge]\nendpoint = "main"\nmodel = "{model}"\nprice = {{ call = 0.2 }}\n\n[limits]'


def test_a_role_that_no_rehearsal_foresaw_is_played_as_it_was_asked_too(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, UNFORESEEN)
    folder.configure(**{"[limits]": JUDGE.format(model="j-1")})
    assert folder.run("run", "job.plan")[0] == 0
    run, asked = folder.newest(), folder.server.total
    folder.configure(**{"[limits]": JUDGE.format(model="j-2"), '"m-1"': '"m-2"'})
    code, _, remarks = folder.run("replay", run.id)
    assert (code, folder.server.total) == (0, asked), remarks


COUNTS = 'n = 0\nfor i in range(3000):\n    n = n + 1\nresult = [agent("a"), n]\n'


def test_a_plan_that_was_given_more_than_is_configured_now_is_played_to_its_end(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, COUNTS)
    assert folder.run("run", "job.plan")[0] == 0
    whole = folder.newest()
    folder.configure(**{"[limits]": "[limits]\nplan_steps = 2_000"})
    code, _, remarks = folder.run("replay", whole.id)
    assert code == 0, remarks


def test_what_a_run_that_went_on_could_use_is_what_it_is_played_with(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, 'a = agent("a")\n' + COUNTS.replace("3000", '3000 if a == "ok: a" else 2'))
    folder.configure(**{"[limits]": "[limits]\nplan_steps = 2_000"})
    assert folder.run("run", "job.plan")[0] == 1
    folder.configure(**{"[limits]": "[limits]\nplan_steps = 30_000"})
    code, _, remarks = folder.run("resume", folder.newest().id)
    assert code == 0, remarks
    folder.configure(**{"[limits]": "[limits]\nplan_steps = 2_000"})
    assert folder.run("replay", folder.newest().id)[0] == 0


def test_a_run_is_played_also_where_its_configuration_is_gone(folder: Folder) -> None:
    run = folder.newest().id
    (folder.path / "planloom.toml").unlink()
    code, _, remarks = folder.run("replay", run, "--store", "store.db")
    assert code == 0, remarks


def test_a_whole_run_that_cannot_be_played_is_not_said_to_be_resumed_but_where_its_result_is(
    folder_with: MakeFolder,
) -> None:
    folder = folder_with(echo, 'result = plan("tell")\n')
    saved = folder.path / "plans" / "tell.plan"
    saved.parent.mkdir()
    saved.write_text('result = agent("question 1")\n')
    assert folder.run("run", "job.plan")[0] == 0
    run = folder.newest().id
    saved.write_text('result = agent("question 2")\n')
    code, _, remarks = folder.run("replay", run)
    told = " ".join(remarks.split())
    assert code == 1
    assert told.startswith(
        f"the replay of {run}, which is completed and whole, came to no result: replay met a question of role `worker` "
        f"that the ledger has no answer to; its result is kept: `planloom show {run}` shows it and `planloom export "
        f"{run}` writes it whole, and `planloom resume {run} --as-new-run` makes a new run of what is there now "
        "since the run was begun this has changed: saved plan tell: then "
    )
    saved.write_text("result = 1\n")
    told = " ".join(folder.run("replay", run)[2].split())
    assert f"the replay of {run}, which is completed and whole, gives another result than the stored one; its" in told
