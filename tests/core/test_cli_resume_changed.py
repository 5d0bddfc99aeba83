"""Runs that are to go on when their plan, arguments or models are others by now; real processes and a real server."""

from __future__ import annotations

from collections import Counter

import pytest

from planloom.testing.folders import Folder
from planloom.testing.loopback import echo

from .asking import MakeFolder, refused

BRANCHES = 'result = agent("the same question") if args["mode"] == "a" else "b"\nagent("last", label="late")\n'


@pytest.mark.slow
def test_a_run_goes_on_with_the_arguments_that_it_was_given(folder_with: MakeFolder) -> None:
    refuse = {"what is asked"}
    plan = 'result = agent(args["question"])\n'
    folder = folder_with(lambda r: refused() if r.question in refuse else echo(r), plan)
    folder.run("run", "job.plan", "--arg", "question=what is asked")
    refuse.clear()
    code, output, _ = folder.run("resume", folder.newest().id)
    assert (code, output.strip()) == (0, "ok: what is asked")


def failed_run(folder_with: MakeFolder, plan: str, *options: str) -> tuple[Folder, str]:
    """Return a folder with a run whose last worker failed; it would not fail again."""
    refuse = {"last"}
    folder = folder_with(lambda r: refused() if r.question in refuse else echo(r), plan)
    assert folder.run("run", "job.plan", *options)[0] == 3
    refuse.clear()
    return folder, folder.newest().id


def test_other_arguments_are_a_divergence_that_names_them(folder_with: MakeFolder) -> None:
    folder, run = failed_run(folder_with, BRANCHES, "--arg", "mode=a")
    code, _, remarks = folder.run("resume", run, "--arg", "mode=b")
    assert code == 1
    assert "argument mode: then a, now b" in remarks
    assert f"`planloom resume {run} --as-new-run`" in remarks
    code, output, _ = folder.run("resume", run, "--arg", "mode=b", "--as-new-run")
    assert (code, output.strip()) == (0, "b")
    new = folder.newest()
    assert new.id != run
    assert new.facts["args"] == {"mode": "b"}


@pytest.mark.slow
def test_other_arguments_or_another_plan_for_a_whole_run_are_a_divergence_too(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, BRANCHES)
    assert folder.run("run", "job.plan", "--arg", "mode=a")[0] == 0
    run = folder.newest().id
    code, output, remarks = folder.run("resume", run, "--arg", "mode=b")
    assert (code, output, "argument mode: then a, now b" in remarks) == (1, "", True)
    (folder.path / "job.plan").write_text("result = 1\n")
    code, output, remarks = folder.run("resume", run, "--plan", "job.plan")
    assert (code, output, "plan line 1: then " in remarks) == (1, "", True)
    assert folder.run("resume", run, "--arg", "mode=a")[0] == 0


@pytest.mark.slow
def test_a_run_of_the_same_plan_with_other_arguments_is_a_run_of_its_own(folder_with: MakeFolder) -> None:
    folder, run = failed_run(folder_with, BRANCHES, "--arg", "mode=a")
    code, output, _ = folder.run("run", "job.plan", "--arg", "mode=b")
    assert (code, output.strip()) == (0, "b")
    assert folder.newest().id != run


@pytest.mark.slow
def test_a_plan_that_changed_is_a_divergence_that_shows_the_line(folder_with: MakeFolder) -> None:
    folder, run = failed_run(folder_with, BRANCHES, "--arg", "mode=a")
    (folder.path / "new.plan").write_text(BRANCHES.replace('"late"', '"later"'))
    code, _, remarks = folder.run("resume", run, "--plan", "new.plan")
    assert code == 1
    assert 'plan line 2: then agent("last", label="late"), now agent("last", label="later")' in remarks
    before = Counter(folder.server.asked)
    assert folder.run("resume", run, "--plan", "new.plan", "--as-new-run")[0] == 0
    assert folder.asked_more_than(before) == {"last": 1}


def test_a_plan_that_fails_on_good_answers_is_told_how_it_is_mended_and_not_that_anything_is_missing(
    folder_with: MakeFolder,
) -> None:
    folder = folder_with(
        echo, 'several = [agent("one"), agent("two")]\nresult = several[int(several[0] == "ok: one") * 9]\n'
    )
    code, _, remarks = folder.run("run", "job.plan", "--yes")
    run = folder.newest().id
    assert (code, f"`planloom resume {run} --plan FILE --as-new-run` pays for no answer" in remarks) == (1, True)
    assert "asks what is missing" not in remarks


@pytest.mark.slow
def test_a_role_that_is_defined_anew_is_a_divergence_that_names_both_models(folder_with: MakeFolder) -> None:
    folder, run = failed_run(folder_with, BRANCHES, "--arg", "mode=a")
    folder.configure(**{'"m-1"': '"m-2"'})
    code, _, remarks = folder.run("resume", run)
    assert code == 1
    assert "role worker model: then m-1, now m-2" in remarks


@pytest.mark.slow
def test_a_run_that_nobody_knows_is_answered_with_the_nearest(folder_with: MakeFolder) -> None:
    folder, run = failed_run(folder_with, BRANCHES, "--arg", "mode=a")
    code, _, remarks = folder.run("resume", f"{run[:-1]}x")
    assert code == 2
    assert f"did you mean `{run}`?" in remarks
