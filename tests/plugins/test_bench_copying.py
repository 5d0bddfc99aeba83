"""What auditors read of a library: its sources alone, every byte as it was but for examples and bugs."""

import os
from pathlib import Path

import attrs
import pytest

from planloom_bench.building import Planted
from planloom_bench.copying import FILE_TIME, choose, copied_files, key_of, noticed_by_mypy, write_tree
from planloom_code import discover

TEXT = 'def f(row):\n    """Prose.\n\n    >>> f(1)\n    2\n    """\n    return row + 1\n'


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def bug(path: str, line: int = 7) -> Planted:
    return Planted(
        path=path,
        line=line,
        column=16,
        before_line="    return row + 1",
        after_line="    return row - 1",
        kind="arithmetic_operator",
        function="f",
        failed=1,
        total=3,
    )


def test_tests_documents_and_examples_are_left_out_and_counted(tmp_path: Path) -> None:
    paths = ["lib/a.py", "lib/tests/a.py", "Tests/a.py", "lib/test_a.py", "conftest.py", "setup.py", "docs/a.py"]
    paths += ["examples/a.py", "lib/contest.py"]
    chosen = choose(write(tmp_path, dict.fromkeys(paths, "X = 1\n")), everything=True)
    assert [source.path for source in chosen.files] == ["lib/a.py", "lib/contest.py"]
    assert sorted(left.reason for left in chosen.left_out) == ["documentation", "examples", *["tests"] * 5]


def test_only_python_sources_are_copied(tmp_path: Path) -> None:
    paths = ["lib/a.py", "lib/a.pyi", "lib/a.ipynb", "CHANGES.md", "lib/__pycache__/a.cpython-311.pyc", ".git/hook.py"]
    chosen = choose(write(tmp_path, dict.fromkeys(paths, "")), everything=True)
    assert [source.path for source in chosen.files] == ["lib/a.py"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('def f():\n    "First.\\n>>> f()\\n1"\n', "has an example that cannot be cut out"),
        ("def f(:\n    # >>> f()\n", "holds prompts and is refused by this Python's grammar"),
        (b"x = '\xe9'\n", "is no Python text"),
        (b"\x00", "is no Python text"),
    ],
)
def test_what_cannot_be_shown_without_examples_is_left_out(tmp_path: Path, content: str | bytes, reason: str) -> None:
    chosen = choose(write(tmp_path, {"a.py": content}), everything=True)
    assert chosen.files == ()
    assert [(left.path, left.reason) for left in chosen.left_out] == [("a.py", reason)]


def test_ignored_files_count_where_a_folder_is_read_and_not_where_a_copy_is(tmp_path: Path) -> None:
    root = write(tmp_path, {".gitignore": "lib/\n", "lib/a.py": "", "b.py": ""})
    assert len(choose(root, everything=False).files) == 1
    assert len(choose(root, everything=True).files) == 2


def test_a_name_that_is_no_text_is_shown_in_escapes(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.py")
    write(tmp_path, {name: TEXT})
    (file,) = copied_files(choose(tmp_path, everything=True), [])
    write_tree(tmp_path / "out", {file.path: file.audited_data})
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["\\xff.py"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.py": ""})
    (root / "b.py").symlink_to("a.py")
    (root / "more").symlink_to(write(tmp_path / "other", {"c.py": ""}))
    assert [source.path for source in choose(root, everything=True).files] == ["a.py"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks_stay(tmp_path: Path, end: bytes, mark: bytes) -> None:
    data = mark + TEXT.encode().replace(b"\n", end)
    chosen = choose(write(tmp_path, {"a.py": data}), everything=True)
    (file,) = copied_files(chosen, [bug("a.py")])
    assert file.clean_data == mark + b'def f(row):\n    """Prose."""\n    return row + 1\n'.replace(b"\n", end)
    assert file.audited_data == file.clean_data.replace(b"+", b"-")


def test_the_encoding_that_a_file_names_stays(tmp_path: Path) -> None:
    data = ("# -*- coding: latin-1 -*-\n" + TEXT.replace("Prose", "Größe")).encode("latin-1")
    (file,) = copied_files(choose(write(tmp_path, {"a.py": data}), everything=True), [bug("a.py", line=8)])
    assert b"Gr\xf6\xdfe" in file.audited_data


def test_the_key_counts_lines_in_what_auditors_read(tmp_path: Path) -> None:
    files = copied_files(choose(write(tmp_path, {"a.py": TEXT, "b.py": TEXT}), everything=True), [bug("b.py")])
    (entry,) = key_of(files, [bug("b.py")], "lib").entries
    assert (entry.id, entry.path, entry.line, entry.after) == ("lib-01", "b.py", 3, "return row - 1")


@pytest.mark.slow
def test_bugs_that_a_type_checker_notices_are_counted(tmp_path: Path) -> None:
    text = TEXT.replace("return row + 1", 'return "a" + str(row)')
    planted = [bug("a.py"), attrs.evolve(bug("b.py"), after_line='    return "a" - str(row)')]
    planted[1] = attrs.evolve(planted[1], before_line='    return "a" + str(row)')
    files = copied_files(choose(write(tmp_path, {"a.py": TEXT, "b.py": text}), everything=True), planted)
    told = noticed_by_mypy(files, key_of(files, planted, "lib"))
    assert told["noticed"] == 1
    assert str(told["name"]).startswith("mypy ")


def test_a_written_tree_bears_one_time_and_one_mode(tmp_path: Path) -> None:
    write_tree(tmp_path / "out", {"a.py": b"", "lib/deep/b.py": b"x"})
    found = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert {path.stat().st_mtime for path in found} == {FILE_TIME}
    assert {path.stat().st_mode & 0o777 for path in found if path.is_file()} == {0o644}


def test_an_audit_of_a_benchmark_reads_what_is_audited_alone(tmp_path: Path) -> None:
    root = write(tmp_path, {"audited/lib/a.py": TEXT, "hidden/answer_key.json": "{}", "hidden/twin.py": TEXT})
    found = discover(root)
    assert (found.root, [file.path for file in found.files]) == (root / "audited", ["lib/a.py"])
