"""A plan named at the command line: a file, or a saved plan; never the one where a person may mean the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.here import FolderHere

from planloom.testing.folders import Folder
from planloom.testing.loopback import echo, serving

GREET = 'result = agent("greet " + args["name"])\n'


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """Give a project that keeps a plan named `greet`."""
    with ExitStack() as stack:
        made = FolderHere(tmp_path, stack.enter_context(serving(echo)), "result = 1\n")
        stack.callback(made.end)
        (tmp_path / "plans").mkdir()
        (tmp_path / "plans" / "greet.plan").write_text(GREET)
        yield made


def test_a_saved_plan_is_checked_rehearsed_and_run_by_its_name(folder: Folder) -> None:
    code, checked, _ = folder.run("check", "greet")
    assert (code, checked.splitlines()[-1].startswith("greet: no problems")) == (0, True)
    told = folder.run("rehearse", "greet", "--arg", "name=Ann", "--json")[1]
    assert json.loads(told)["agents"] == 1
    code, result, remarks = folder.run("run", "greet", "--arg", "name=Ann")
    assert (code, result) == (0, "ok: greet Ann\n")
    assert "The plan (greet), rehearsed" in remarks
    assert folder.newest().title == "greet"


def test_a_saved_plan_and_its_file_are_one_job(folder: Folder) -> None:
    folder.run("run", "greet", "--arg", "name=Ann")
    named = folder.newest()
    folder.run("run", "plans/greet.plan", "--arg", "name=Ann")
    assert (folder.newest().job, folder.server.total) == (named.job, 1)
    assert folder.newest().id != named.id


def test_a_plan_that_a_kit_ships_is_run_by_its_name(folder: Folder) -> None:
    code, _, remarks = folder.run("run", "fixed")
    assert code == 2
    assert "fixed uses words of the kit audit; say what it works on with --target PATH" in remarks


@pytest.mark.parametrize("command", ["check", "rehearse", "run"])
def test_a_name_of_both_a_saved_plan_and_a_file_is_refused_with_the_way_to_each(folder: Folder, command: str) -> None:
    (folder.path / "greet").write_text("result = 2\n")
    code, _, remarks = folder.run(command, "greet")
    assert code == 2
    where = folder.path / "plans" / "greet.plan"
    assert f"`greet` is a saved plan ({where}) and a file here; write ./greet for the file" in remarks
    assert folder.run(command, "./greet")[0] == 0


def test_a_folder_of_that_name_is_no_plan_and_stands_in_nobodys_way(folder: Folder) -> None:
    (folder.path / "greet").mkdir()
    assert folder.run("run", "greet", "--arg", "name=Ann")[:2] == (0, "ok: greet Ann\n")


def test_a_name_of_neither_is_refused_with_the_near_one(folder: Folder) -> None:
    code, _, remarks = folder.run("run", "great")
    assert (code, "there is no file great, and no saved plan of that name: did you mean `greet`?" in remarks) == (
        2,
        True,
    )
    assert "there is no file gone.plan; name a plan file, a saved plan" in folder.run("run", "gone.plan")[2]


def test_a_run_goes_on_as_a_new_one_with_a_saved_plan(folder: Folder) -> None:
    folder.run("run", "job.plan")
    code, result, _ = folder.run("resume", folder.newest().id, "--as-new-run", "--plan", "greet", "--arg", "name=Ann")
    assert (code, result) == (0, "ok: greet Ann\n")
