"""A store that came with a checkout is not believed: what git tracks, told without git's help."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.here import planloom_here as planloom

from planloom.tracked import is_tracked

STORE = ".planloom/store.db"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a repository that tracks some files, among them one whose name ends as the store's does."""
    folder = tmp_path / "checkout"
    write(folder, "README", "src/a.py", f"vendored/{STORE}", f"{STORE}.txt", ".planloom/store.dc")
    git(folder, "init", "-q")
    git(folder, "add", "-f", ".")
    write(folder, STORE)
    return folder


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_file_is_tracked_when_git_says_so(checkout: Path, version: str) -> None:
    git(checkout, "update-index", "--index-version", version)
    assert not is_tracked(checkout / STORE)
    git(checkout, "add", "-f", STORE)
    assert is_tracked(checkout / STORE)
    assert is_tracked(checkout / "vendored" / STORE)
    git(checkout, "rm", "-q", "--cached", STORE)
    assert not is_tracked(checkout / STORE)


def test_an_entry_with_further_flags_is_read(checkout: Path) -> None:
    git(checkout, "add", "-f", "--intent-to-add", STORE)
    assert is_tracked(checkout / STORE)
    assert not is_tracked(checkout / "planloom/store.db")


@pytest.mark.parametrize("version", ["2", "4"])
def test_each_of_many_files_is_told_apart(checkout: Path, version: str) -> None:
    names = [f"{'deep/' * (n % 7)}part{n}/{'x' * (n * 13 % 240)}.py" for n in range(120)]
    write(checkout, *names)
    git(checkout, "add", *names[::2])
    git(checkout, "update-index", "--index-version", version)
    assert [is_tracked(checkout / name) for name in names] == [n % 2 == 0 for n in range(120)]


def test_a_repository_of_longer_hashes_is_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    write(tmp_path, STORE, "README")
    git(tmp_path, "add", "README")
    for version in ("2", "4"):
        git(tmp_path, "update-index", "--index-version", version)
        assert not is_tracked(tmp_path / STORE)
    git(tmp_path, "add", "-f", STORE)
    assert is_tracked(tmp_path / STORE)


def test_a_split_index_is_read(checkout: Path) -> None:
    git(checkout, "add", "-f", STORE)
    git(checkout, "update-index", "--split-index")
    assert is_tracked(checkout / STORE)


def test_worktrees_and_submodules_are_looked_into(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "add", "-f", STORE)
    git(checkout, "commit", "-qm", "all")
    git(checkout, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert is_tracked(tmp_path / "tree" / STORE)
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(checkout), "inner")
    assert is_tracked(outer / "inner" / STORE)


def test_a_link_leads_to_the_file_that_is_tracked(checkout: Path) -> None:
    git(checkout, "add", "-f", STORE)
    (checkout / "link").symlink_to(".planloom")
    assert is_tracked(checkout / "link" / "store.db")


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC\0\0\0\4\xff\xff\xff\xff" + b"\x80" * 200, b"no index"])
def test_what_is_no_index_tracks_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(content)
    assert not is_tracked(tmp_path / STORE)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / ".git").write_bytes(b"\xff no folder")
    assert not is_tracked(tmp_path / "below" / STORE)


def make_store(folder: Path) -> None:
    (folder / "one.plan").write_text("result = 1\n")
    assert planloom(folder, "run", "one.plan").returncode == 0


def test_a_store_that_git_tracks_is_refused_until_a_person_names_it(tmp_path: Path) -> None:
    make_store(tmp_path)
    git(tmp_path, "init", "-q")
    assert planloom(tmp_path, "runs").returncode == 0
    git(tmp_path, "add", "-f", STORE)
    refused = planloom(tmp_path, "runs")
    assert refused.returncode == 2
    assert "is tracked by git" in refused.stderr
    assert "git rm --cached .planloom/store.db" in refused.stderr
    assert planloom(tmp_path, "runs", "--store", STORE).returncode == 0


def test_a_log_beside_the_store_that_git_tracks_is_refused_too(tmp_path: Path) -> None:
    make_store(tmp_path)
    git(tmp_path, "init", "-q")
    write(tmp_path, f"{STORE}-wal")
    git(tmp_path, "add", "-f", f"{STORE}-wal")
    assert planloom(tmp_path, "runs").returncode == 2
