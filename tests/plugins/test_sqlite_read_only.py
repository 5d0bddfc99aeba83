"""A store whose file and folder may not be written: it is read, newest content included, or says what to do."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from planloom.testing.store_samples import a_run
from planloom_sqlite import _schema, open_store, read_store

_AS_NOBODY = """
import asyncio, os, sys
from pathlib import Path
from planloom import StoreError
from planloom.testing.store_samples import a_run
from planloom_sqlite import check_store, read_store
Path("/").as_uri()  # Python 3.13 imports more for it, from where another user may not look
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anything
path = sys.argv[1]
async def main():
    {deed}
try:
    asyncio.run(main())
except StoreError as error:
    print(error)
"""
_LIST = "print([run.id for run in read_store(path).runs()])"


@pytest.fixture
def path() -> Iterator[Path]:
    """Give a store with one run. Not below tmp_path, whose parents are closed to other users."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        _save(folder / "store.db", 1)
        yield folder / "store.db"
        folder.chmod(0o755)


def _save(path: Path, number: int) -> None:
    async def save() -> None:
        store = open_store(path)
        await store.save_run(a_run(number))
        await store.close()

    asyncio.run(save())


def _saved_in_the_log(path: Path, number: int) -> None:
    """Save a run as a process does that is killed before its log is merged."""
    reader = sqlite3.connect(path)
    reader.execute("SELECT count(*) FROM run").fetchone()
    _save(path, number)
    copies = [path.with_name(f"{path.name}{tail}") for tail in ("", "-wal", "-shm")]
    for file in copies:
        shutil.copy(file, path.parent / f"kept.{file.name}")
    reader.close()
    for file in copies:
        os.replace(path.parent / f"kept.{file.name}", file)


def _sealed(path: Path) -> None:
    for file in path.parent.iterdir():
        file.chmod(0o444)
    path.parent.chmod(0o555)


def _as_nobody(path: Path, deed: str) -> str:
    script = _AS_NOBODY.format(deed=deed.replace("\n", "\n    "))
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_sealed_store_is_read_and_nothing_is_left_beside_it(path: Path) -> None:
    _sealed(path)
    assert _as_nobody(path, _LIST) == "['run-1']"
    assert [file.name for file in path.parent.iterdir()] == ["store.db"]


def test_a_sealed_store_claims_of_no_question_that_it_has_no_answer(path: Path) -> None:
    _sealed(path)
    deed = 'store = read_store(path)\nprint(store.lacks("00" * 32), store.reply("00" * 32))'
    assert _as_nobody(path, deed) == "False None"


def test_a_store_of_somebody_else_is_read_and_no_log_that_its_owner_could_not_write_is_left(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o777)
    assert _as_nobody(path, _LIST) == "['run-1']"
    assert [file.name for file in path.parent.iterdir()] == ["store.db"]


def test_what_a_sealed_store_has_in_its_log_is_read_too(path: Path) -> None:
    _saved_in_the_log(path, 2)
    _sealed(path)
    assert _as_nobody(path, _LIST) == "['run-2', 'run-1']"
    assert _as_nobody(path, "print(check_store(path))") == "[]"


@pytest.mark.parametrize("deed", [_LIST, "print(check_store(path))"])
def test_a_log_that_cannot_be_read_where_nothing_can_be_written_is_named(path: Path, deed: str) -> None:
    _saved_in_the_log(path, 2)
    path.with_name("store.db-shm").unlink()
    _sealed(path)
    assert _as_nobody(path, deed) == (
        f"the store {path} has newer content in {path}-wal, which cannot be read where nothing can be written; "
        "copy both files to a folder that you can write, and name the copy with --store"
    )


def test_a_sealed_store_refuses_to_be_written_and_closes_in_order(path: Path) -> None:
    _sealed(path)
    deed = """store = read_store(path)
try:
    await store.save_run(a_run(2))
finally:
    await store.close()"""
    said = _as_nobody(path, deed)
    assert said.startswith(f"the store {path} cannot be written (this user may not write the file); make the file")


def test_who_writes_while_a_sealed_store_is_read_is_noticed(path: Path) -> None:
    _sealed(path)
    deed = """store = read_store(path)
store.runs()
sys.stdout.write("read\\n"); sys.stdout.flush(); sys.stdin.readline()
store.runs()"""
    script = _AS_NOBODY.format(deed=deed.replace("\n", "\n    "))
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "read\n"
    path.parent.chmod(0o755)
    path.chmod(0o644)
    _save(path, 2)
    said, _ = process.communicate("\n", timeout=60)
    assert "was written by another process while it was read" in said
    assert "run the command again" in said


def test_a_file_that_this_user_may_not_read_is_said_to_be_so(path: Path) -> None:
    path.chmod(0)
    said = _as_nobody(path, _LIST)
    assert said == f"this user may not read the store {path}; make it readable, or name another with --store"


def test_a_folder_that_this_user_may_not_enter_is_said_to_be_so(path: Path) -> None:
    path.parent.chmod(0)
    assert f"the folder {path.parent} of the store cannot be used (Permission denied)" in _as_nobody(path, _LIST)
    assert "there is no store at" in _as_nobody(path, "print(check_store(path))")


def test_a_sealed_store_of_an_older_format_is_to_be_copied(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(Path(__file__).with_name("cases").joinpath("store_format_1.sql").read_text())
    _sealed(path)
    assert f"has format 1, not {_schema.LATEST}; copy it to a folder that you can write" in _as_nobody(path, _LIST)


def test_a_store_that_can_be_written_is_made_and_read_as_it_is_opened(tmp_path: Path) -> None:
    async def runs() -> list[str]:
        store = read_store(tmp_path / "store.db")
        try:
            return [run.id for run in store.runs()]
        finally:
            await store.close()

    assert asyncio.run(runs()) == []
    _save(tmp_path / "store.db", 1)
    assert asyncio.run(runs()) == ["run-1"]
