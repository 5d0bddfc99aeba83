"""Which files of a folder are audited, by git's rules or by .gitignore files, and what is said of the others."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planloom_code import (
    BadPattern,
    Discovery,
    HiddenKey,
    NoSuchPath,
    NotSource,
    Skipped,
    Unreadable,
    discover,
    read_source,
)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is the other half of what is tested")


def plant(root: Path, *names: str, text: str = "x = 1\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def git(root: Path, *words: str) -> None:
    person = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *person, *words], cwd=root, check=True, capture_output=True)


def paths(found: Discovery) -> list[str]:
    return [file.path for file in found.files]


def why(found: Discovery) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in found.skipped}


@pytest.fixture(autouse=True)
def no_repository_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture(params=["git", ".gitignore files"])
def tree(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder under git, and the same one without it."""
    if request.param == "git":
        git(tmp_path, "init")
    return tmp_path


# What holds with git and without it.


def test_python_files_are_found_sorted_and_relative(tree: Path) -> None:
    plant(tree, "b.py", "a/z.py", "a/notes.txt", "a.py", "stub.pyi")
    assert paths(discover(tree)) == ["a.py", "a/z.py", "b.py"]


def test_r23_an_ignored_file_with_secrets_is_not_read(tree: Path) -> None:
    plant(tree, "app.py", "local_settings.py")
    plant(tree, ".gitignore", text="local_settings.py\n")
    assert paths(discover(tree)) == ["app.py"]


def test_an_ignore_file_deeper_down_holds_below_it(tree: Path) -> None:
    plant(tree, "a/gen.py", "a/keep.py", "gen.py")
    plant(tree, ".gitignore", text="keep.py\n")
    plant(tree, "a/.gitignore", text="/gen.py\n!keep.py\n")
    assert paths(discover(tree)) == ["a/keep.py", "gen.py"]


def test_nothing_inside_an_ignored_folder_is_brought_back(tree: Path) -> None:
    plant(tree, "build/a.py", "b.py")
    plant(tree, ".gitignore", text="build/\n!build/a.py\n")
    assert paths(discover(tree)) == ["b.py"]


@pytest.mark.parametrize(
    "rules", [b"a\r\nsecret.py\r\n", b"\xef\xbb\xbfsecret.py\n", b"# \xe9\nsecret.py\n", b"secret.py"]
)
def test_an_ignore_file_is_read_whatever_its_line_ends_and_encoding(tree: Path, rules: bytes) -> None:
    plant(tree, "app.py", "secret.py")
    (tree / ".gitignore").write_bytes(rules)
    assert paths(discover(tree)) == ["app.py"]


def test_a_folder_named_like_a_source_file_is_a_folder(tree: Path) -> None:
    plant(tree, "odd.py/a.py")
    assert paths(discover(tree)) == ["odd.py/a.py"]


def test_a_folder_without_source_gives_no_files(tree: Path) -> None:
    plant(tree, "notes.txt")
    assert paths(discover(tree)) == []


def test_a_line_that_is_no_pattern_spoils_no_other(tree: Path) -> None:
    plant(tree, "a.py", "b.py")
    plant(tree, ".gitignore", text="!\n\\\nb.py\n")
    assert paths(discover(tree)) == ["a.py"]


def test_r21_a_link_to_its_own_folder_is_named_and_not_followed(tree: Path) -> None:
    plant(tree, "a.py")
    (tree / "loop").symlink_to(".")
    found = discover(tree)
    assert (paths(found), why(found)) == (["a.py"], {"loop": "a link that leads round in a circle"})


def test_r21_links_in_a_ring_are_named(tree: Path) -> None:
    (tree / "a.py").symlink_to("b.py")
    (tree / "b.py").symlink_to("a.py")
    assert set(why(discover(tree))) == {"a.py", "b.py"}


def test_a_link_out_of_the_tree_is_not_followed(tree: Path) -> None:
    plant(tree.parent, f"{tree.name}-outside/secret.py")
    outside = tree.parent / f"{tree.name}-outside"
    (tree / "folder").symlink_to(outside)
    (tree / "file.py").symlink_to(outside / "secret.py")
    found = discover(tree)
    assert paths(found) == []
    assert all("leads out" in reason for reason in why(found).values())
    assert set(why(found)) == {"folder", "file.py"}


def test_a_link_inside_the_tree_does_not_show_a_file_twice(tree: Path) -> None:
    plant(tree, "a.py")
    (tree / "alias.py").symlink_to("a.py")
    assert paths(discover(tree)) == ["a.py"]


def test_a_virtual_environment_is_left_out_with_one_line(tree: Path) -> None:
    plant(tree, "a.py", "env/lib/x.py", "env/lib/y.py", "env/pyvenv.cfg")
    found = discover(tree)
    assert paths(found) == ["a.py"]
    assert list(why(found)) == ["env"]


def test_bytecode_folders_hold_no_source(tree: Path) -> None:
    plant(tree, "a.py", "__pycache__/b.py")
    assert paths(discover(tree)) == ["a.py"]


def test_r39_a_notebook_is_named_once_as_skipped(tree: Path) -> None:
    plant(tree, "a.py", "trial.ipynb")
    assert why(discover(tree))["trial.ipynb"].startswith("a notebook")


def test_a_pipe_named_like_a_source_file_is_not_opened(tree: Path) -> None:
    plant(tree, "a.py")
    os.mkfifo(tree / "pipe.py")
    assert paths(discover(tree)) == ["a.py"]


@pytest.mark.parametrize("name", ["a#b.py", "already%20named.py", "%40scope/x.py", "with space.py", "ünï.py"])
def test_r27_r29_odd_names_are_kept_and_open(tree: Path, name: str) -> None:
    plant(tree, name)
    (file,) = discover(tree).files
    assert file.path == name
    assert not isinstance(read_source(tree / file.system_path, file.path), Skipped)


def test_a_name_that_is_no_utf_8_is_shown_escaped_and_opens(tree: Path) -> None:
    raw = os.fsencode(tree) + b"/caf\xe9.py"
    with open(raw, "wb") as file:
        file.write(b"x = 1\n")
    (found,) = discover(tree).files
    assert found.path == r"caf\xe9.py"
    assert (tree / found.system_path).read_text() == "x = 1\n"


def test_a_line_end_in_a_name_cannot_fake_a_heading(tree: Path) -> None:
    plant(tree, "a\n### b.py")
    assert paths(discover(tree)) == [r"a\n### b.py"]


def test_include_keeps_only_what_matches(tree: Path) -> None:
    plant(tree, "a/x.py", "b/x.py", "b/test_x.py")
    assert paths(discover(tree, include=["/b/"])) == ["b/test_x.py", "b/x.py"]


def test_exclude_drops_what_matches_after_include(tree: Path) -> None:
    plant(tree, "a/x.py", "b/x.py", "b/test_x.py")
    assert paths(discover(tree, include=["/b/"], exclude=["test_*.py"])) == ["b/x.py"]


def test_include_brings_back_nothing_that_is_ignored(tree: Path) -> None:
    plant(tree, "secret.py", "a.py")
    plant(tree, ".gitignore", text="secret.py\n")
    assert paths(discover(tree, include=["*.py"])) == ["a.py"]


def test_a_single_file_is_audited_even_when_ignored(tree: Path) -> None:
    plant(tree, "one.py", "two.py")
    plant(tree, ".gitignore", text="one.py\n")
    assert paths(discover(tree / "one.py")) == ["one.py"]


def test_a_benchmark_folder_audits_its_audited_half(tree: Path) -> None:
    plant(tree, "audited/a.py", "hidden/key.py", "other.py")
    found = discover(tree)
    assert (found.root.name, paths(found)) == ("audited", ["a.py"])


def test_the_hidden_half_of_a_benchmark_further_down_is_not_read(tree: Path) -> None:
    plant(tree, "bench/audited/a.py", "bench/hidden/clean/key.py", "hidden/fine.py")
    found = discover(tree)
    assert paths(found) == ["bench/audited/a.py", "hidden/fine.py"]
    assert list(why(found)) == ["bench/hidden"]


def test_the_hidden_half_of_a_benchmark_is_refused_as_the_path(tree: Path) -> None:
    plant(tree, "audited/a.py", "hidden/deep/key.py")
    with pytest.raises(HiddenKey, match=r"audit .*/audited instead"):
        discover(tree / "hidden" / "deep")


def test_a_benchmark_whose_audited_half_is_a_link_to_the_hidden_one_is_refused(tree: Path) -> None:
    plant(tree, "hidden/key.py")
    (tree / "audited").symlink_to("hidden")
    with pytest.raises(HiddenKey):
        discover(tree)


# What only git knows.


def test_r23_a_tracked_file_that_matches_an_ignore_pattern_is_audited(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "kept.py")
    git(tmp_path, "add", "kept.py")
    plant(tmp_path, ".gitignore", text="kept.py\n")
    assert paths(discover(tmp_path)) == ["kept.py"]


def test_a_repository_that_ignores_all_but_what_it_tracks_is_audited_by_git(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "kept.py", "other.py")
    plant(tmp_path, ".gitignore", text="*\n")
    git(tmp_path, "add", "-f", "kept.py")
    assert paths(discover(tmp_path)) == ["kept.py"]


def test_a_deleted_file_that_git_still_tracks_is_left_out(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "a.py", "b.py")
    git(tmp_path, "add", "-A")
    (tmp_path / "a.py").unlink()
    assert paths(discover(tmp_path)) == ["b.py"]


def test_rules_of_the_repository_hold_in_a_folder_of_it(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "src/a.py", "src/secret.py")
    plant(tmp_path, ".gitignore", text="secret.py\n")
    assert paths(discover(tmp_path / "src")) == ["a.py"]


def test_a_path_that_is_itself_ignored_is_audited_whole(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, ".gitignore", text=".venv/\n")
    plant(tmp_path, ".venv/pyvenv.cfg", ".venv/lib/pkg/a.py", ".venv/lib/pkg/b/c.py")
    found = discover(tmp_path / ".venv" / "lib" / "pkg")
    assert (paths(found), found.rules) == (["a.py", "b/c.py"], ".gitignore files")


def test_an_environment_that_hides_itself_from_git_can_still_be_the_path(tmp_path: Path) -> None:
    plant(tmp_path, "env/pyvenv.cfg", "env/a.py")
    plant(tmp_path, "env/.gitignore", text="*\n")
    assert paths(discover(tmp_path / "env")) == ["a.py"]


def test_files_of_a_nested_repository_are_audited_under_its_own_rules(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "a.py", "inner/b.py", "inner/c.py")
    plant(tmp_path, "inner/.gitignore", text="c.py\n")
    git(tmp_path / "inner", "init")
    assert paths(discover(tmp_path)) == ["a.py", "inner/b.py"]


def test_a_tracked_path_behind_a_new_link_is_not_read(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "pkg/a.py")
    git(tmp_path, "add", "-A")
    plant(tmp_path.parent, f"{tmp_path.name}-else/a.py")
    shutil.rmtree(tmp_path / "pkg")
    (tmp_path / "pkg").symlink_to(tmp_path.parent / f"{tmp_path.name}-else")
    assert paths(discover(tmp_path)) == []


def test_a_program_named_in_the_repositorys_settings_is_not_started(tmp_path: Path) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "a.py")
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    spy.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(spy))
    discover(tmp_path)
    assert not (tmp_path / "started").exists()


def test_an_outer_hooks_environment_does_not_change_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "a.py")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert discover(tmp_path).rules == "git"


# What holds where git cannot be asked.


def test_without_git_the_ignore_files_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init")
    plant(tmp_path, "a.py", "secret.py")
    plant(tmp_path, ".gitignore", text="secret.py\n")
    monkeypatch.setenv("PATH", "")
    assert paths(discover(tmp_path)) == ["a.py"]


def test_r23_outside_git_what_is_ignored_is_named(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "secret.py", "build/x.py")
    plant(tmp_path, ".gitignore", text="secret.py\nbuild/\n")
    assert why(discover(tmp_path)) == dict.fromkeys(["build", "secret.py"], "ignored by a .gitignore file")


def test_ignore_files_above_the_path_do_not_count(tmp_path: Path) -> None:
    plant(tmp_path, "src/a.py")
    plant(tmp_path, ".gitignore", text="*\n")
    assert paths(discover(tmp_path / "src")) == ["a.py"]


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with 1,500 folders one inside the other."""
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    # Some versions of shutil.rmtree recurse, so pytest could not clean up.
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_a_tree_deeper_than_python_recurses_is_walked(deep: Path) -> None:
    plant(deep, "d/d/a.py", "d/" * 1400 + "b.py")
    assert len(discover(deep).files) == 2


# What is refused, and how.


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoSuchPath, match=r"there is no file or folder .*nowhere; check the path"):
        discover(tmp_path / "nowhere")


def test_a_name_that_no_file_can_have_is_refused_like_any_other(tmp_path: Path) -> None:
    with pytest.raises(NoSuchPath, match="ud800"):
        discover(tmp_path / "\ud800")


def test_a_file_that_is_no_python_is_refused(tmp_path: Path) -> None:
    plant(tmp_path, "notes.txt")
    with pytest.raises(NotSource, match=r"neither a folder nor a \.py file"):
        discover(tmp_path / "notes.txt")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_folder_that_may_not_be_opened_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    with pytest.raises(Unreadable, match="give yourself the right"):
        discover(tmp_path / "shut")


def test_a_pattern_that_cannot_be_read_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(BadPattern, match="exclude cannot read the pattern '!'"):
        discover(tmp_path, exclude=["!"])


@pytest.fixture
def crowded(tmp_path: Path) -> Callable[[int], None]:
    def crowd(count: int) -> None:
        for number in range(count):
            plant(tmp_path, f"d{number // 100}/f{number}.py")

    return crowd


def test_two_thousand_files_are_found_in_a_moment(crowded: Callable[[int], None], tmp_path: Path) -> None:
    crowded(2000)
    assert len(discover(tmp_path).files) == 2000
