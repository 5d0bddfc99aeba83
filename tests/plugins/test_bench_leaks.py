"""Whatever gives a bug away in what auditors read is found, and named with its file and line."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import planloom_data
from planloom_bench import bench_command, load_bench, strip_examples
from planloom_bench.building import Built, Planted
from planloom_bench.copying import Chosen, choose, copied_files, key_of, manifest_of, write_benchmark
from planloom_bench.leaks import Leak, describe, find_leaks
from planloom_bench.leaks.examples import answers_left, prompts_left
from planloom_bench.sources import open_source

ROWS = '''\
"""Rows of numbers."""


def total(rows, start=0):
    """The sum of all rows.

    >>> total([1, 2])
    3
    >>> total([True])
    True
    """
    # True where nothing is added
    result = start
    for row in rows:
        result = result + row
    return result


def same(rows):
    """Whether all are the same."""
    return True
'''
MORE = '"""More."""\n\n\ndef double(row):\n    """Twice.\n\n    >>> double(2)\n    4\n    """\n    return row + row\n'
BUG = Planted(
    path="lib/rows.py",
    line=15,
    column=25,
    before_line="        result = result + row",
    after_line="        result = result - row",
    kind="arithmetic_operator",
    function="total",
    failed=1,
    total=2,
)


class Made:
    """A benchmark with one bug, and the library that it was made from."""

    def __init__(self, folder: Path) -> None:
        self.library, self.folder = folder / "library", folder / "bench"
        (self.library / "lib").mkdir(parents=True)
        (self.library / "lib" / "rows.py").write_bytes(ROWS.encode())
        (self.library / "lib" / "more.py").write_bytes(MORE.encode())
        source = open_source(str(self.library), scratch=folder / "scratch")
        self.chosen: Chosen = choose(source.root, everything=True)
        built = Built(entries=(BUG,), left_out=(), counts={})
        files = copied_files(self.chosen, built.entries)
        key = key_of(files, built.entries, "library")
        write_benchmark(self.folder, files, key, manifest_of(source, self.chosen, built, files, seed=1))
        self.audited = self.folder / "audited" / "lib"
        self.rows = self.audited / "rows.py"

    def leaks(self) -> tuple[Leak, ...]:
        return find_leaks(self.folder, self.chosen)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def change(path: Path, old: str, new: str) -> None:
    """Replace text of a file, its time kept."""
    text = path.read_bytes().decode()
    assert text.count(old) == 1
    stat = path.stat()
    path.write_bytes(text.replace(old, new).encode())
    os.utime(path, (stat.st_atime, stat.st_mtime))


def add(path: Path, data: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data)
    os.utime(path, (315532800, 315532800))


def test_a_benchmark_as_it_was_built_has_no_leak_with_the_library_at_hand_or_without(made: Made) -> None:
    assert made.leaks() == find_leaks(made.folder) == ()


PLANTED: list[tuple[str, Callable[[Made], None], str]] = [
    (
        "an example in a docstring",
        lambda made: change(made.rows, "The sum of all rows.", "The sum.\n\n    >>> total([1])\n    1\n    "),
        "audited/lib/rows.py:7: an example is left: '>>> total([1])'",
    ),
    (
        "an example in a comment",
        lambda made: change(made.rows, "result = start", "result = start  # >>> total([1])"),
        "audited/lib/rows.py:7: an example is left",
    ),
    (
        "an answer",
        lambda made: change(made.rows, "The sum of all rows.", "The sum of all rows.\n    3\n    "),
        "audited/lib/rows.py:6: a line of an example is left: '3'",
    ),
    (
        "an original line in a comment",
        lambda made: change(made.rows, "    return result", "    # result = result + row\n    return result"),
        "audited/lib/rows.py:10: holds the line that bug library-01 replaced",
    ),
    (
        "an original line behind the bug",
        lambda made: change(made.rows, "result - row", "result - row  # was: result = result + row"),
        "audited/lib/rows.py:9: holds the line that bug library-01 replaced",
    ),
    (
        "another difference",
        lambda made: change(made.audited / "more.py", "row + row", "row + row + 0"),
        "audited/lib/more.py:6: reads 'return row + row + 0' where the published file has 'return row + row'",
    ),
    (
        "another line end",
        lambda made: change(made.rows, "result - row\n", "result - row\r\n"),
        r"audited/lib/rows.py:9: ends in '\r\n', as no other line of the file does",
    ),
    (
        "a blank at the end of a line",
        lambda made: change(made.rows, "return True\n", "return True \n"),
        r"audited/lib/rows.py:15: ends in ' \n' where the published line ends in '\n'",
    ),
    (
        "a mark of byte order",
        lambda made: change(made.rows, '"""Rows', '\ufeff"""Rows'),
        "audited/lib/rows.py:1: reads alike and is written with other bytes",
    ),
    (
        "a line that is gone",
        lambda made: change(made.rows, "    # True where nothing is added\n", ""),
        "audited/lib/rows.py",
    ),
    ("the clean file", lambda made: add(made.audited / "rows_old.py", ROWS), "rows_old.py: is in no published library"),
    (
        "a file that is gone",
        lambda made: (made.audited / "more.py").unlink(),
        "audited/lib/more.py: is not there, though the published library has it",
    ),
    (
        "bytecode",
        lambda made: add(made.audited / "__pycache__" / "rows.cpython-311.pyc"),
        "audited/lib/__pycache__/rows.cpython-311.pyc: bytecode",
    ),
    (
        "hashes",
        lambda made: add(made.folder / "audited" / "lib-1.dist-info" / "RECORD", "lib/rows.py,sha256=x,1\n"),
        "audited/lib-1.dist-info/RECORD: what an installer noted; its hashes name the files",
    ),
    ("a notebook", lambda made: add(made.audited / "how.ipynb"), "audited/lib/how.ipynb: a notebook; remove it"),
    ("a stub", lambda made: add(made.audited / "rows.pyi"), "audited/lib/rows.pyi: a stub"),
    ("version control", lambda made: add(made.audited / ".git" / "index"), "audited/lib/.git/index: version control"),
    ("a leftover", lambda made: add(made.audited / "rows.py.orig"), "audited/lib/rows.py.orig: what an edit leaves"),
    ("a readme", lambda made: add(made.audited / "README.rst"), "audited/lib/README.rst: documentation"),
    ("tests", lambda made: add(made.audited / "tests" / "rows.py"), "tests/rows.py: belongs to the library's tests"),
    (
        "a link",
        lambda made: (made.audited / "also.py").symlink_to(made.library / "lib" / "rows.py"),
        "audited/lib/also.py: a link",
    ),
    (
        "a transcript of IPython",
        lambda made: change(made.rows, "The sum of all rows.", "Sum.\n\n    In [3]: total([1])\n    Out[3]: 1\n"),
        "audited/lib/rows.py:7: an example is left: 'In [3]: total([1])'",
    ),
    (
        "a test block of Sphinx",
        lambda made: change(made.rows, "The sum of all rows.", "The sum.\n\n    .. testoutput::\n\n       1\n    "),
        "audited/lib/rows.py:7: an example is left: '.. testoutput::'",
    ),
    (
        "an archive that is called a source",
        lambda made: add(made.audited / "old.py", "PK\0\0"),
        "audited/lib/old.py: no Python text: holds a NUL character in line 1",
    ),
    ("an archive", lambda made: add(made.audited / "lib.zip"), "audited/lib/lib.zip: no Python source"),
    ("a packed file", lambda made: add(made.audited / "rows.py.gz"), "audited/lib/rows.py.gz: no Python source"),
    ("a page", lambda made: add(made.audited / "rows.html"), "audited/lib/rows.html: no Python source"),
    (
        "a list of sources",
        lambda made: add(made.folder / "audited" / "lib.egg-info" / "SOURCES.txt", "lib/rows.py\n"),
        "audited/lib.egg-info/SOURCES.txt: what an installer noted",
    ),
    ("an empty folder", lambda made: (made.audited / ".git").mkdir(), "audited/lib/.git: an empty folder"),
    (
        "a folder's time",
        lambda made: os.utime(made.audited, (1, 1)),
        "audited/lib: was written at another time than the rest; `find audited -type d",
    ),
    (
        "a name",
        lambda made: add(made.audited / "library-01" / "more.py", "X = 1\n"),
        "audited/lib/library-01/more.py: its name holds 'library-01', which only the key knows",
    ),
    ("a time", lambda made: os.utime(made.rows, (1, 1)), "audited/lib/rows.py: was written at another time"),
    ("a mode", lambda made: made.rows.chmod(0o755), "audited/lib/rows.py: has another mode than the rest"),
    (
        "an id",
        lambda made: change(made.rows, "The sum of all rows.", "library-01"),
        "audited/lib/rows.py:5: names 'library-01', which only the key knows",
    ),
    (
        "the key's file",
        lambda made: change(made.rows, "The sum of all rows.", "See hidden/answer_key.json"),
        "audited/lib/rows.py:5: names 'answer_key.json'",
    ),
    (
        "a place in the manifest",
        lambda made: change(made.folder / "manifest.json", '"kinds": {', '"worst": "lib/rows.py",\n  "kinds": {'),
        "tells of a bug: 'lib/rows.py'",
    ),
    (
        "a module in the manifest",
        lambda made: change(made.folder / "manifest.json", '"kinds": {', '"kinds": {\n    "lib.rows": 1,'),
        "tells of a bug: 'lib.rows'",
    ),
    (
        "sizes in the manifest",
        lambda made: change(made.folder / "manifest.json", '"kinds": {', '"sizes": [120, 340],\n  "kinds": {'),
        "manifest.json: holds sizes, which no build writes",
    ),
    (
        "a field in a part of the manifest",
        lambda made: change(made.folder / "manifest.json", '"seed":', '"functions": ["total"],\n    "seed":'),
        "manifest.json: holds planted.functions, which no build writes",
    ),
    (
        "an id in the manifest",
        lambda made: change(made.folder / "manifest.json", '"kinds": {', '"first": "library-01",\n  "kinds": {'),
        "names 'library-01'",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("plant", "message"), [pytest.param(plant, message, id=name) for name, plant, message in PLANTED]
)
def test_a_planted_leak_is_found_and_named(made: Made, plant: Callable[[Made], None], message: str) -> None:
    plant(made)
    assert message in describe(made.leaks())


CHANGED = {
    "an example in a docstring", "an example in a comment", "an original line in a comment", "another difference",
    "another line end", "a blank at the end of a line", "a mark of byte order", "the clean file", "a file that is gone",
    "an answer",
}  # fmt: skip


@pytest.mark.parametrize("plant", [pytest.param(plant, id=name) for name, plant, _ in PLANTED if name in CHANGED])
def test_without_the_library_a_change_is_still_found(made: Made, plant: Callable[[Made], None]) -> None:
    plant(made)
    assert find_leaks(made.folder) != ()


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system keeps no notes beside files")
def test_a_note_that_the_file_system_keeps_is_found(made: Made) -> None:
    try:
        os.setxattr(made.rows, "user.bug", b"here")
    except OSError as error:
        pytest.skip(f"this file system keeps no notes beside files: {error}")
    assert "audited/lib/rows.py: bears the attribute user.bug" in describe(made.leaks())


def test_an_original_line_in_a_comment_is_named_without_the_library_too(made: Made) -> None:
    change(made.rows, "    return result", "    # result = result + row\n    return result")
    assert "audited/lib/rows.py:10: a comment holds the line that bug library-01 replaced" in describe(
        find_leaks(made.folder)
    )


def test_answers_that_stand_in_code_as_well_raise_no_alarm(made: Made) -> None:
    # `True` is an answer of the library, and stands in a comment and in a return of what auditors read.
    assert "True" in made.rows.read_text()
    assert made.leaks() == ()


def test_an_original_line_that_the_library_holds_elsewhere_raises_no_alarm(tmp_path: Path) -> None:
    made = Made(tmp_path)
    twin = ROWS.replace("def same", "def again(rows, result, row):\n    result = result + row\n\n\ndef same")
    (made.library / "lib" / "rows.py").write_bytes(twin.encode())
    shutil.rmtree(made.folder)
    chosen = choose(made.library, everything=True)
    built = Built(entries=(BUG,), left_out=(), counts={})
    files = copied_files(chosen, built.entries)
    source = open_source(str(made.library), scratch=tmp_path / "scratch")
    manifest = manifest_of(source, chosen, built, files, seed=1)
    write_benchmark(made.folder, files, key_of(files, built.entries, "library"), manifest)
    assert find_leaks(made.folder, chosen) == ()


def test_another_version_of_the_library_is_not_taken_for_the_published_one(made: Made) -> None:
    other = (made.library / "lib" / "rows.py").read_text().replace("result + row", "result + row + 0")
    (made.library / "lib" / "rows.py").write_text(other)
    leaks = find_leaks(made.folder, choose(made.library, everything=True))
    assert "audited/lib/rows.py:9: the published line reads 'result = result + row + 0', the key says" in describe(
        leaks
    )


def test_words_of_the_key_are_found_wherever_one_says_to_look(made: Made, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "run.db").write_bytes(b"\x00\x01\nprompt about library-01 \xff")
    (leak,) = find_leaks(made.folder, also=[tmp_path / "store"])
    assert (Path(leak.path).name, leak.line) == ("run.db", 2)


def test_ids_are_words_that_no_file_of_the_library_holds(made: Made) -> None:
    rows = made.library / "lib" / "rows.py"
    rows.write_text(rows.read_text().replace("Rows of numbers.", "Rows of library-01."))
    files = copied_files(choose(made.library, everything=True), [BUG])
    assert [entry.id for entry in key_of(files, [BUG], "library").entries] == ["library-bug-01"]


LINES = st.sampled_from(
    [
        "Words.",
        "",
        "3",
        "True",
        ">>> f(1)",
        ">>> f(",
        "... 2)",
        "# >>> f(1)",
        "Or: >>> f(1)",
        "Traceback:",
        "    x",
        ">>>",
    ]
)


@given(st.lists(LINES, max_size=12), st.lists(LINES, max_size=4))
def test_what_cutting_leaves_holds_no_example_and_no_answer(lines: list[str], comments: list[str]) -> None:
    text = 'def f(row):\n    """First.\n' + "".join(f"    {line}\n" for line in lines) + '    """\n    return 3\n'
    text += "".join(f"# {line}\n" for line in comments)
    stripped = strip_examples(text)
    assert [*prompts_left("a.py", stripped), *answers_left("a.py", stripped, text, ())] == []


def test_the_shelf_has_no_leak() -> None:
    library = choose(planloom_data.shelf_library(), everything=True)
    assert find_leaks(planloom_data.shelf_benchmark(), library) == ()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(bench_command, [str(a) for a in arguments], standalone_mode=False, catch_exceptions=False)


def test_the_command_says_that_there_is_none_and_exits_with_0(made: Made) -> None:
    result = run("leaktest", made.folder, "--against", made.library)
    assert (result.return_value, "no leak in" in result.output) == (0, True)


def test_the_command_names_leaks_and_exits_with_1(made: Made) -> None:
    add(made.audited / "rows.pyi")
    result = run("leaktest", made.folder)
    assert (result.return_value, "audited/lib/rows.pyi: a stub" in result.output) == (1, True)


def test_a_benchmark_shows_what_it_is_and_not_where_its_bugs_are(made: Made) -> None:
    shown = run("show", made.folder).output
    assert "library" in shown
    assert "lib/rows.py" not in shown
    assert "result - row" not in shown


def test_the_key_is_revealed_as_differences_on_demand(made: Made) -> None:
    shown = run("show", made.folder, "--reveal").output
    assert "lib/rows.py:9 in total" in shown
    assert "  -     9          result = result + row\n  +     9          result = result - row\n" in shown


def test_the_clean_twin_is_the_library_without_its_examples(made: Made, tmp_path: Path) -> None:
    assert run("clean", made.folder, "--out", tmp_path / "twin").exit_code == 0
    twin = {path.name: path.read_text() for path in (tmp_path / "twin").rglob("*.py")}
    assert twin == {Path(path).name: text for path, text in made.chosen.stripped.items()}


def test_a_twin_numbers_its_lines_as_the_audited_files_do(made: Made, tmp_path: Path) -> None:
    run("clean", made.folder, "--out", tmp_path / "twin")
    clean = (tmp_path / "twin" / "lib" / "rows.py").read_text().splitlines()
    audited = made.rows.read_text().splitlines()
    assert [number for number, (a, b) in enumerate(zip(clean, audited, strict=True), 1) if a != b] == [9]


@pytest.mark.parametrize("where", ["bench/audited/twin", "bench/twin", "library"])
def test_a_twin_is_not_written_where_auditors_may_read_it_or_over_anything(made: Made, where: str) -> None:
    with pytest.raises(Exception, match=r"lies in the benchmark|exists already"):
        run("clean", made.folder, "--out", made.folder.parent / where)


def test_a_twin_of_a_changed_benchmark_is_refused(made: Made, tmp_path: Path) -> None:
    change(made.audited / "more.py", "row + row", "row * 2")
    with pytest.raises(Exception, match=r"audited/lib/more\.py was changed since the benchmark was built"):
        run("clean", made.folder, "--out", tmp_path / "twin")


def test_the_benchmark_can_be_opened_by_the_scorer(made: Made) -> None:
    assert [entry.line for entry in load_bench(made.folder).key.entries] == [9]
