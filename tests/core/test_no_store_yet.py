"""Where there is no store yet, looking makes none, and what makes one is said."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import planloom
from planloom import StoreError, UnknownNameError
from planloom.testing.folders import Folder
from planloom.testing.loopback import echo
from planloom_sqlite import read_store

from .asking import MakeFolder


@pytest.fixture
def folder(folder_with: MakeFolder) -> Folder:
    return folder_with(echo, 'result = agent("q")\n')


def names(folder: Folder) -> set[str]:
    return {file.name for file in folder.path.iterdir()}


def test_there_are_no_runs_and_none_is_an_error(folder: Folder) -> None:
    before = names(folder)
    code, output, _ = folder.run("runs")
    assert (code, output) == (
        0,
        f"no runs yet; the store {folder.path / 'store.db'} (not there yet: `planloom run FILE.plan` makes it) has "
        "none: `planloom audit PATH` or `planloom run FILE.plan` makes one\n",
    )
    assert names(folder) == before


def test_in_a_subfolder_the_configuration_above_is_named_and_not_used(folder: Folder) -> None:
    folder.path = folder.path / "deep" / "er"
    folder.path.mkdir(parents=True)
    told = "there is a planloom.toml in ../..: run planloom there, or name it with --config ../../planloom.toml"
    code, output, remarks = folder.run("runs")
    assert (code, told in remarks) == (0, True)
    assert f"the store {folder.path / '.planloom' / 'store.db'} " in output
    code, output, _ = folder.run("doctor", "--offline")
    assert (code, told in output) == (0, True)
    assert "configuration: none: the offline analyst plays every role" in output


def test_in_a_subfolder_a_store_above_is_named_where_there_is_no_configuration(folder: Folder) -> None:
    (folder.path / "planloom.toml").unlink()
    assert folder.run("run", "job.plan")[0] in (0, 3)
    folder.path = folder.path / "deep"
    folder.path.mkdir()
    told = "there is a store in ..: run planloom there, or name it with --store ../.planloom/store.db"
    assert told in folder.run("runs")[2]


@pytest.mark.parametrize("command", ["show", "follow", "replay", "export", "resume", "cancel", "raise"])
def test_a_run_that_is_looked_for_where_no_store_is_is_misuse_and_says_what_makes_one(
    folder: Folder, command: str
) -> None:
    before = names(folder)
    further = ("--cap", "5") if command == "raise" else ()
    code, output, remarks = folder.run(command, "some-run", *further)
    assert (code, output) == (2, "")
    assert "no run is named `some-run`; the store " in remarks
    assert "store.db (not there yet: `planloom run FILE.plan` makes it) has none" in remarks
    assert names(folder) == before


def test_a_store_that_is_named_and_is_not_there_is_not_made_either(folder: Folder) -> None:
    code, _, remarks = folder.run("show", "some-run", "--store", "elsewhere/other.db")
    assert (code, "elsewhere/other.db (not there yet" in remarks) == (2, True)
    assert not (folder.path / "elsewhere").exists()


def test_a_cap_that_is_shown_makes_no_store_and_is_the_configured_one(folder: Folder) -> None:
    assert "(not there yet: `planloom run FILE.plan` makes it) has no cap of its own" in folder.run("store", "cap")[1]
    folder.configure(**{'path = "store.db"': 'path = "store.db"\ncap = 3'})
    assert "together may spend 3.0 credits" in folder.run("store", "cap")[1]
    assert not (folder.path / "store.db").exists()


def test_what_is_read_where_no_store_is_takes_no_writes(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = read_store(tmp_path / "store.db")
        assert store.runs() == []
        with pytest.raises(StoreError, match="cannot be written"):
            await store.open_budget("job", 1)
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            store.runs()

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_only_reads_finds_no_runs_there(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with planloom.open(tmp_path, read_only=True) as loom:
            assert list(loom.runs()) == []
            with pytest.raises(UnknownNameError, match="not there yet"):
                loom.run("some-run")

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []
