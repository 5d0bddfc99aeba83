"""Where git cannot be asked, .gitignore files mean what they mean to git."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom_code import discover

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is what the rules are compared with")

FOLDERS = ("", "a", "b", "a/b", "b/a", "a/b/a")
PATTERNS = (
    *("*.py", "/*.py", "?.py", "[ab].py", "[!a].py", "*.p?", "c*", "a.py ", "a.py\\ ", "x/../a.py"),
    *("b", "/a", "a/", "a/b/", "b/*", "a/**", "a/**/b", "**/c.py", "b/**/", "/a/b.py", "*", "**", "*/"),
    *("!a.py", "!c.py", "!*.py", "!b", "!/a", "!b/", "!a/b", "!a/b.py", "!*", "!**", "!*/", "#x", "\\#x", "\\!x"),
)
rule_files = st.dictionaries(
    st.sampled_from(FOLDERS), st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=4), min_size=1, max_size=3
)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder in which no other repository and no setting of the person is seen."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("GIT_CEILING_DIRECTORIES", str(Path(folder).resolve()))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        yield Path(folder)


def found(root: Path) -> tuple[str, list[str]]:
    discovery = discover(root)
    return discovery.rules, [file.path for file in discovery.files]


@settings(max_examples=15)  # each example starts git four times
@given(rules=rule_files)
def test_the_walk_finds_what_git_lists(place: Path, rules: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        root = Path(folder)
        for name in FOLDERS:
            (root / name).mkdir(exist_ok=True, parents=True)
            for file in ("a.py", "b.py", "c.py"):
                (root / name / file).touch()
        for name, lines in rules.items():
            (root / name / ".gitignore").write_text("\n".join(lines) + "\n")
        walked = found(root)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        listed = found(root)
    assert (walked[0], listed[0]) == (".gitignore files", "git")
    assert walked[1] == listed[1]
