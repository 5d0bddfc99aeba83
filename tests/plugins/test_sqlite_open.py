"""Opening a store: what is made, what is migrated, and what is refused with what to do next."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from planloom import StoreError, StoreLocked, StoreTooNew
from planloom.stores import Books
from planloom.testing.store_samples import JOB, LONG_TEXT, a_question, a_run
from planloom_sqlite import _schema, check_store, open_store


def close_at_once(location: str | Path) -> None:
    asyncio.run(open_store(location).close())


def test_a_new_planloom_folder_is_made_and_kept_out_of_version_control(tmp_path: Path) -> None:
    close_at_once(tmp_path / "project" / ".planloom" / "store.db")
    assert (tmp_path / "project" / ".planloom" / ".gitignore").read_text() == "*\n"


def test_another_folder_is_made_without_a_gitignore(tmp_path: Path) -> None:
    close_at_once(tmp_path / "answers" / "store.db")
    assert [path.name for path in (tmp_path / "answers").iterdir()] == ["store.db"]


def test_who_deletes_the_ignore_file_beside_a_store_keeps_it_deleted(tmp_path: Path) -> None:
    close_at_once(tmp_path / ".planloom" / "store.db")
    (tmp_path / ".planloom" / ".gitignore").unlink()
    close_at_once(tmp_path / ".planloom" / "store.db")
    assert not (tmp_path / ".planloom" / ".gitignore").exists()


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "store.db").touch()
    close_at_once(tmp_path / "store.db")
    assert check_store(tmp_path / "store.db") == []


def test_the_file_is_kept_in_wal_mode_and_knows_its_program(tmp_path: Path) -> None:
    close_at_once(tmp_path / "store.db")
    connection = sqlite3.connect(tmp_path / "store.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA application_id").fetchone() == (0x706C6F6D,)
    connection.close()


def test_stores_in_memory_are_apart_from_each_other() -> None:
    async def scenario() -> None:
        one, two = open_store(":memory:"), open_store(":memory:")
        await one.open_budget("job", 5)
        assert two.books("job").cap == 0
        await one.close()
        await two.close()

    asyncio.run(scenario())


def test_a_store_of_a_newer_planloom_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    close_at_once(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew) as refused:
        open_store(path)
    assert str(refused.value) == (
        f"the store {path} has format 99 and this planloom knows formats up to {_schema.LATEST}; update planloom, "
        "or name another file with --store"
    )
    assert path.read_bytes() == before


def _store_of_format_1(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(Path(__file__).with_name("cases").joinpath("store_format_1.sql").read_text())
    connection.close()


def test_a_store_of_format_1_keeps_all_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    _store_of_format_1(path)

    async def scenario() -> None:
        store = open_store(path)
        question = a_question(1, LONG_TEXT)
        assert store.question(question.fingerprint) is not None
        texts = [reply.text for reply in (store.reply(question.fingerprint, n) for n in (None, 1, 2)) if reply]
        assert texts == ["second", "first", "second"]
        assert store.books(JOB) == Books(cap=100, spent=9, reserved=0, uncertain=10)
        assert [(call.worst, call.sent_at) for call in store.uncertain_calls(JOB)] == [(10, None)]
        assert [(thread.id, thread.versions) for thread in store.threads("run-1")] == [
            ("run-1/t001", ()),
            ("run-1/t002", ()),
        ]
        progress = store.progress("run-1")
        assert (progress.seq, progress.holes, progress.threads) == (3, 2, {"done": 1, "failed": 1})
        assert store.journal("run-1") == {"1.0": 99.5}
        assert store.run("run-1") == a_run()
        assert await store.claim_run("run-1") is None
        await store.close()

    asyncio.run(scenario())
    assert check_store(path) == []


def test_the_tools_do_not_touch_a_store_of_an_older_format(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    _store_of_format_1(path)
    with pytest.raises(StoreError, match=f"has format 1, not {_schema.LATEST}"):
        check_store(path)


def _with_one_more_migration(monkeypatch: pytest.MonkeyPatch, *statements: str) -> int:
    """Have planloom know one format more; return its number."""
    monkeypatch.setattr(_schema, "MIGRATIONS", (*_schema.MIGRATIONS, statements))
    monkeypatch.setattr(_schema, "LATEST", len(_schema.MIGRATIONS))
    return _schema.LATEST


def test_an_older_store_is_migrated_and_keeps_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fill() -> None:
        store = open_store(tmp_path / "store.db")
        await store.open_budget("job", 5)
        await store.close()

    async def read() -> None:
        store = open_store(tmp_path / "store.db")
        assert store.books("job").cap == 5
        await store.close()

    asyncio.run(fill())
    latest = _with_one_more_migration(monkeypatch, "ALTER TABLE run ADD COLUMN note TEXT")
    asyncio.run(read())
    connection = sqlite3.connect(tmp_path / "store.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (latest,)
    connection.execute("SELECT note FROM run")
    connection.close()


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    close_at_once(path)
    with monkeypatch.context() as patch:
        _with_one_more_migration(patch, "ALTER TABLE run ADD COLUMN note TEXT", "ALTER TABLE nowhere ADD COLUMN x")
        with pytest.raises(StoreError, match="nowhere"):
            open_store(path)
    close_at_once(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (_schema.LATEST,)
    with pytest.raises(sqlite3.OperationalError, match="note"):
        connection.execute("SELECT note FROM run")
    connection.close()


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE photo (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program's database"):
        open_store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"just some text, longer than a header" * 40, b"\0" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"notes\.txt is not a planloom store"):
        open_store(path)
    assert path.read_bytes() == content


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder; name a file in it"):
        open_store(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        open_store(tmp_path / "taken" / "below" / "store.db")


_AS_NOBODY = """
import os, sys
from planloom import StoreError
from planloom_sqlite import open_store
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anything
try:
    open_store(sys.argv[1])
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o755), (0o644, 0o555)])
def test_a_store_that_may_not_be_written_is_refused(file_mode: int, folder_mode: int) -> None:
    # Not below tmp_path, whose parents are closed to other users.
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "store.db"
        close_at_once(path)
        path.chmod(file_mode)
        path.parent.chmod(folder_mode)
        opened = subprocess.run([sys.executable, "-c", _AS_NOBODY, name + "/store.db"], capture_output=True, text=True)
        path.parent.chmod(0o755)
    assert "make the file and its folder writable" in opened.stdout, opened.stderr


def test_a_store_that_stays_locked_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    close_at_once(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLocked, match="locked; wait until it is done"):
        open_store(path, busy_timeout_s=0.1)
    holder.close()
    close_at_once(path)


def test_many_processes_can_make_one_new_store_at_once(tmp_path: Path) -> None:
    code = "import asyncio, sys; from planloom_sqlite import open_store; asyncio.run(open_store(sys.argv[1]).close())"
    path = tmp_path / "store.db"
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    assert [process.wait(30) for process in processes] == [0, 0, 0, 0]
    assert check_store(path) == []


@pytest.mark.parametrize("looks", [1, 2, 3])
def test_a_store_that_another_process_makes_meanwhile_is_nobody_elses(tmp_path: Path, looks: int) -> None:
    maker, looker = (sqlite3.connect(tmp_path / "store.db", isolation_level=None) for _ in range(2))
    statements = []

    def make_before(statement: str) -> None:
        statements.append(statement)
        if len(statements) == looks:
            _schema.migrate(maker, "here")

    looker.set_trace_callback(make_before)
    assert _schema.check_identity(looker, "here") in (0, _schema.LATEST)
    assert len(statements) >= looks
    maker.close()
    looker.close()


def test_a_home_folder_may_be_written_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    close_at_once("~/store.db")
    assert (tmp_path / "store.db").is_file()
