"""What was refused before anything ran is in nobody's way: not in the list of runs, and not when a run is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom._errors import Misuse
from planloom._named_runs import find_run
from planloom.cli import main
from planloom.testing.folders import Folder, look_into
from planloom.testing.loopback import Script, echo
from planloom.testing.store_samples import a_run
from planloom_sqlite import open_store

PAID_LEAD: dict[str, Any] = {"cost": {"paid": 500_000}}
RUNS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("audit-1a", "completed", {}),
    ("audit-1b", "refused", {}),
    ("ask-5c", "refused", {}),
    ("audit-2d", "refused", PAID_LEAD),
    ("audit-1e", "refused", {}),
    ("tell-6f", "refused", {}),
    ("tell-6e", "refused", {}),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, whose store holds runs of which most were refused."""

    async def fill() -> None:
        store = open_store(tmp_path / ".planloom" / "store.db")
        for number, (run, status, facts) in enumerate(RUNS, start=1):
            await store.open_budget(f"b{number}", 1_000_000)
            row = a_run(number, status=status)
            changed: dict[str, Any] = {
                "id": run,
                "budget": f"b{number}",
                "facts": {**row.facts, **facts},
                "error": "why",
            }
            await store.save_run(attrs.evolve(row, **changed))
        await store.close()

    asyncio.run(fill())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[list[str], str]]:
    """List runs; return their ids and what is remarked."""

    def run(*options: str) -> tuple[list[str], str]:
        with pytest.raises(SystemExit) as ended:
            main(["runs", *options])
        assert ended.value.code == 0
        said = capsys.readouterr()
        return [line.split()[0] for line in said.out.splitlines()[1:]], said.err

    return run


def found(folder: Path, run: str) -> str:
    return look_into(folder / ".planloom" / "store.db", lambda store: find_run(store, run)).id


def test_refused_runs_are_counted_and_not_listed(listed: Callable[..., tuple[list[str], str]]) -> None:
    assert listed() == (
        ["audit-2d", "audit-1a"],
        "5 more were refused and did not run; `planloom runs --all` lists them too\n",
    )


def test_refused_runs_are_listed_on_demand(listed: Callable[..., tuple[list[str], str]]) -> None:
    assert listed("--all") == ([run for run, *_ in reversed(RUNS)], "")


def test_a_limit_counts_runs_that_ran(listed: Callable[..., tuple[list[str], str]]) -> None:
    runs, remark = listed("--limit", "1")
    assert (runs, remark.partition(" refused")[0]) == (["audit-2d"], "3 more were")
    assert listed("--limit", "1", "--all")[0] == ["tell-6e"]


def test_a_beginning_means_the_run_that_ran_where_all_others_were_refused(folder: Path) -> None:
    assert found(folder, "audit-1") == "audit-1a"
    assert found(folder, "audit-1b") == "audit-1b"
    assert found(folder, "ask") == "ask-5c"


def test_a_beginning_of_several_that_ran_names_those_alone(folder: Path) -> None:
    with pytest.raises(Misuse, match="begin with `audit`: audit-2d, audit-1a; "):
        found(folder, "audit")


def test_a_beginning_of_several_that_were_refused_is_ambiguous(folder: Path) -> None:
    with pytest.raises(Misuse, match="begin with `tell`: tell-6e, tell-6f; "):
        found(folder, "tell")


def test_who_was_only_refused_so_far_is_told_of_that_and_how_to_go_on(folder_with: Callable[..., Folder]) -> None:
    script: Script = echo
    folder = folder_with(script, "result = agnt(1)\n")
    assert folder.run("run", "job.plan")[0] == 6
    (folder.path / "job.plan").write_text('result = parallel([lambda i=i: agent(f"q{i}") for i in range(90)])\n')
    assert folder.run("run", "job.plan", "--cap", "2")[0] == 6
    code, output, remarks = folder.run("runs")
    assert (code, output) == (0, "")
    assert "1 was refused and did not run; `planloom runs --all` lists them too" in remarks
    run = folder.run("runs", "--all")[1].splitlines()[1].split()[0]
    assert f"`planloom resume {run} --as-new-run` tries it with another --cap" in folder.run("show", run)[1]
    code, _, remarks = folder.run("follow", run)
    assert (code, f"`planloom resume {run} --as-new-run`" in remarks) == (6, True)
