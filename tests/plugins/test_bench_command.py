"""A benchmark is built from any source, and delivered only when nothing in it gives its bugs away."""

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from planloom.plugins import load_plugins
from planloom_bench import BenchError, LeaksFound, TooFewBugs, bench_command, load_bench

MODULE = '''\
"""Shares of a whole."""


def share(part, whole):
    """A share in percent.

    >>> share(1, 4)
    25
    >>> share(0, 4)
    0
    >>> share(4, 4)
    100
    >>> share(1, 0)
    0
    """
    if not whole:
        return 0
    return part * 100 // whole


def inside(value, low, high):
    """Whether a value lies in a range.

    >>> inside(1, 1, 2)
    True
    >>> inside(2, 1, 2)
    False
    >>> inside(0, 1, 2)
    False
    """
    return value >= low and value < high
'''


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    (folder / "tests").mkdir(parents=True)
    (folder / "shares.py").write_text(MODULE)
    (folder / "plain.py").write_text("FILE = 'answer_key.json'\n")
    (folder / "tests" / "test_shares.py").write_text("assert True\n")
    return folder


def run(*arguments: object, bugs: int = 1) -> Result:
    return CliRunner().invoke(bench_command, ["build", *map(str, arguments), "--bugs", str(bugs)], obj=load_plugins())


def manifest(out: Path) -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((out / "manifest.json").read_text())
    return raw


def test_a_folder_becomes_a_benchmark_without_its_tests(library: Path, tmp_path: Path) -> None:
    result = run(library, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.exception
    assert sorted(load_bench(tmp_path / "out").files) == ["plain.py", "shares.py"]
    assert manifest(tmp_path / "out")["not_copied"] == {"tests": 1}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["audited", "hidden", "manifest.json"]


def test_a_revision_becomes_a_benchmark_that_names_its_commit(library: Path, tmp_path: Path) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        command = ["git", *who, *words]
        subprocess.run(command, cwd=library, check=True)
    (library / "shares.py").write_text("broken(\n")
    assert run(f"{library}@HEAD", "--out", tmp_path / "out").exit_code == 0
    source = manifest(tmp_path / "out")["source"]
    assert (source["kind"], len(source["commit"])) == ("git", 40)
    assert (library / "shares.py").read_text() == "broken(\n"


@pytest.mark.slow
def test_a_package_becomes_the_same_benchmark_twice(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "index" / "shares-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("shares.py", MODULE)
        archive.writestr("shares-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: shares\nVersion: 1.0\n")
        archive.writestr("shares-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("shares-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    for name in ("one", "two"):
        result = run("pypi:shares==1.0", "--out", tmp_path / name, "--cache", tmp_path / "cache")
        assert result.exit_code == 0, result.exception
    one, two = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert one == two
    assert "licence: none was found" in result.output


def test_a_benchmark_that_would_give_its_bugs_away_is_not_delivered(library: Path, tmp_path: Path) -> None:
    (library / "odd.py").write_text("TEXT = 'first \\\n>>> share(1, 2)'\n")
    result = run(library, "--out", tmp_path / "out")
    assert isinstance(result.exception, LeaksFound)
    assert "audited/odd.py:2: an example is left" in str(result.exception)
    assert not (tmp_path / "out" / "audited").exists()


def test_a_library_without_examples_is_refused_with_the_reasons(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "a.py").write_text("X = 1\n")
    result = run(tmp_path / "library", "--out", tmp_path / "out", "--at-most")
    assert isinstance(result.exception, BenchError)
    assert "1  has no examples" in str(result.exception)


def test_a_library_with_too_few_bugs_is_refused_and_its_files_are_named_with_reasons(
    library: Path, tmp_path: Path
) -> None:
    (library / "a.py").write_text("X = 1\n")
    plain = run(library, "--out", tmp_path / "out", bugs=900)
    assert isinstance(plain.exception, TooFewBugs)
    assert "a.py" not in str(plain.exception)
    named = run(library, "--out", tmp_path / "out", "--reasons", bugs=900)
    assert "\n  a.py: has no examples" in str(named.exception)


@pytest.mark.parametrize("out", ["shares", "shares/below"])
def test_a_place_that_is_no_folder_is_named(library: Path, tmp_path: Path, out: str) -> None:
    (tmp_path / "shares").write_text("a file")
    result = run(library, "--out", tmp_path / out)
    assert isinstance(result.exception, BenchError)
    assert "shares" in str(result.exception)
    assert "give another folder with --out" in str(result.exception)


def test_what_the_system_does_not_let_one_see_is_named(library: Path, tmp_path: Path) -> None:
    endless = "x" * 300
    for arguments in ((endless, "--out", tmp_path / "out"), (library, "--out", tmp_path / endless)):
        result = run(*arguments)
        assert isinstance(result.exception, BenchError)
        assert "File name too long" in str(result.exception)
    with pytest.raises(BenchError, match="give a benchmark that you may read"):
        load_bench(tmp_path / endless)


def test_a_folder_without_python_files_is_said_to_hold_none(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "README.md").write_text(">>> 1\n1\n")
    result = run(tmp_path / "library", "--out", tmp_path / "out")
    assert "holds no Python file" in str(result.exception)


NESTED = 'def f():\n    def g():\n        """\n        >>> 1\n        1\n        """\n'


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            [],
            [
                "      5  has prompts, and none where doctest looks: n0.py, n1.py, n2.py and 2 more\n",
                "      1  is no Python text: bad.py (holds a NUL character in line 1, so it is no Python source)\n",
            ],
        ),
        (
            ["--reasons"],
            [
                "  n4.py: has prompts, and none where doctest looks\n",
                "  bad.py: is no Python text (holds a NUL character in line 1, so it is no Python source)\n",
            ],
        ),
    ],
)
def test_files_in_which_nothing_is_planted_are_named(
    library: Path, tmp_path: Path, options: list[str], lines: list[str]
) -> None:
    for number in range(5):
        (library / f"n{number}.py").write_text(NESTED)
    (library / "bad.py").write_text("\0")
    said = run(library, "--out", tmp_path / "out", *options).output
    assert [line in said for line in lines] == [True, True]


def test_progress_is_a_line_a_stage_where_nobody_watches(library: Path, tmp_path: Path) -> None:
    assert run(library, "--out", tmp_path / "out").stderr.splitlines()[-1] == "once more: 1"
