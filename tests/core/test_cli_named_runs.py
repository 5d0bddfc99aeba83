"""A run is named by its id, or by as much of its beginning as tells it from the others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import attrs
import pytest

from planloom._named_runs import find_run
from planloom.cli import main
from planloom.stores import RunRow
from planloom.testing.folders import look_into
from planloom.testing.store_samples import a_run
from planloom_sqlite import open_store

RUNS = ("ask-1a2b3c", "ask-1a9f00", "ask-77aa77", "tell-5", "tell-50", "x%y-1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, whose store holds finished runs."""

    async def fill() -> None:
        store = open_store(tmp_path / ".planloom" / "store.db")
        for number, run in enumerate(RUNS, start=1):
            await store.open_budget(f"b{number}", 1_000_000)
            await store.save_run(attrs.evolve(a_run(number, status="completed"), id=run, budget=f"b{number}"))
        await store.close()

    asyncio.run(fill())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """Run a command in this process; return its exit code, its output and its remarks."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def found(folder: Path, run: str) -> RunRow:
    return look_into(folder / ".planloom" / "store.db", lambda store: find_run(store, run))


@pytest.mark.parametrize(
    ("beginning", "run"), [("ask-7", "ask-77aa77"), ("ask-1a9f00", "ask-1a9f00"), ("x%", "x%y-1"), ("tell-5", "tell-5")]
)
def test_the_beginning_of_one_id_alone_names_its_run_and_a_whole_id_always_does(
    folder: Path, beginning: str, run: str
) -> None:
    assert found(folder, beginning).id == run


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("follow",),
        ("cancel",),
        ("raise", "--cap", "9"),
        ("resume",),
        ("replay",),
        ("export",),
        ("store", "prune", "--yes", "--run"),
    ],
)
def test_a_beginning_of_several_ids_is_refused_with_the_candidates_newest_first(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    assert told(capsys, *command, "ask-1") == (
        2,
        "",
        "planloom: the ids of several runs begin with `ask-1`: ask-1a9f00, ask-1a2b3c; "
        "write as much of the id as tells the run from the others\n",
    )
    assert found(folder, "ask-1a2b3c").status == "completed"


@pytest.mark.parametrize(
    "command", [("show",), ("follow",), ("cancel",), ("raise", "--cap", "9"), ("store", "prune", "--run")]
)
def test_what_a_command_says_of_a_run_that_was_named_shortly_has_its_whole_id(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    _, output, remarks = told(capsys, *command, "ask-7")
    assert "ask-77aa77" in (output or remarks).splitlines()[0]


def test_an_export_goes_to_a_folder_of_the_whole_id(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "export", "ask-7")[0] == 0
    assert (folder / "ask-77aa77" / "run.json").is_file()


@pytest.mark.parametrize("named", ["", "sk-7", "ASK-7", "ask_7", "ask-77aa770"])
def test_nothing_but_the_beginning_of_an_id_names_a_run(
    folder: Path, capsys: pytest.CaptureFixture[str], named: str
) -> None:
    code, _, remarks = told(capsys, "store", "prune", "--run", named)
    assert (code, f"no run is named `{named}`; " in remarks) == (2, True)
