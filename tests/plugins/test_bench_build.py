"""A build finds bugs that examples prove: the same ones for a seed, spread over kinds and folders, or says why not."""

import ast
import json
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from planloom.plugins import load_plugins
from planloom_bench import KINDS, DeafProofs, TooFewBugs, load_bench
from planloom_bench.building import Built, Library, build
from planloom_bench.building.command import build_command
from planloom_bench.building.journal import Journal
from planloom_bench.proving import Job, Outcome
from planloom_code import SourceFile, read_source, split_lines

MODULE = '''\
"""Rows of numbers, case {n}."""


def longest_run(rows, limit={n}):
    """The longest run of neighbours that are above a limit.

    >>> longest_run([])
    0
    >>> longest_run([{n} + 1])
    1
    >>> longest_run([{n}, {n} + 1, {n} + 2])
    2
    """
    best = run = 0
    for row in rows:
        if row <= limit:
            run = 0
            continue
        run += 1
        best = max(best, run)
    return best


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


def pairs(rows):
    """Neighbours with the step between them.

    >>> pairs([1, 3, 4])
    [(1, 3, 2), (3, 4, 1)]
    >>> pairs([])
    []
    >>> pairs([5])
    []
    """
    found = []
    for index in range(1, len(rows)):
        first, second = rows[index - 1], rows[index]
        found.append((first, second, second - first))
    return found


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
'''


def library(root: Path, texts: dict[str, str]) -> Library:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    found = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    sources = [read_source(root / path, path) for path in found]
    return Library(root=root, files=tuple(source for source in sources if isinstance(source, SourceFile)))


def modules(count: int, folders: int = 3) -> dict[str, str]:
    return {f"rows/part{n % folders}/case{n}.py": MODULE.format(n=n) for n in range(count)}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return library(tmp_path_factory.mktemp("rows"), modules(9))


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return library(tmp_path_factory.mktemp("few"), modules(2))


@pytest.fixture(scope="module")
def built(rows: Library) -> Built:
    return build(rows, seed=1, bugs=6)


def test_every_bug_is_in_another_file_and_of_another_kind(built: Built) -> None:
    assert len({entry.path for entry in built.entries}) == len({entry.kind for entry in built.entries}) == 6


def test_every_bug_is_noticed_by_some_examples_and_not_by_most(built: Built) -> None:
    assert all(0 < entry.failed <= 0.4 * entry.total for entry in built.entries)


def test_bugs_are_spread_over_folders(built: Built) -> None:
    assert set(Counter(entry.path.rpartition("/")[0] for entry in built.entries).values()) == {2}


def test_an_entry_says_which_line_of_the_clean_text_reads_how_afterwards(rows: Library, built: Built) -> None:
    texts = {source.path: source.text for source in rows.files}
    for entry in built.entries:
        lines = split_lines(texts[entry.path])
        assert lines[entry.line - 1] == entry.before_line
        same = entry.column - 1
        assert entry.before_line[:same] == entry.after_line[:same]
        lines[entry.line - 1] = entry.after_line
        ast.parse("\n".join(lines))
        assert entry.function in ("longest_run", "inside", "pairs", "share")


def test_a_seed_gives_the_same_bugs_however_many_proofs_are_made_at_once(rows: Library, built: Built) -> None:
    assert build(rows, seed=1, bugs=6, workers=5) == built


def test_another_seed_gives_other_bugs(rows: Library, built: Built) -> None:
    assert build(rows, seed=2, bugs=6).entries != built.entries


def test_the_library_is_as_it_was_and_holds_nothing_new(rows: Library, built: Built) -> None:
    assert sorted(path.relative_to(rows.root).as_posix() for path in rows.root.rglob("*") if path.is_file()) == [
        source.path for source in rows.files
    ]
    assert all((rows.root / source.path).read_text() == source.text for source in rows.files)


def test_a_build_that_was_stopped_goes_on_with_the_proofs_that_it_has(few: Library, tmp_path: Path) -> None:
    whole = build(few, seed=1, bugs=2, journal=tmp_path)
    journal = tmp_path / "proofs.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[: len(lines) // 2]) + lines[-1][:20])
    assert build(few, seed=1, bugs=2, journal=tmp_path) == whole
    kept = [json.loads(line)[0] for line in journal.read_text().splitlines() if line.endswith("]")]
    assert len(kept) == len(set(kept)) == len(lines)


def test_proofs_of_another_library_are_not_taken_for_those_of_this_one(tmp_path: Path) -> None:
    job = Job("/a.py", "text", "a", (), (), (), 0, 1.0)
    outcome = Outcome("ran", 1, 3)
    with closing(Journal(tmp_path, "one")) as journal:
        journal.add(job, 0, outcome)
    with closing(Journal(tmp_path, "one")) as same, closing(Journal(tmp_path, "other")) as other:
        assert same.find(job, 0) == outcome
        assert (other.find(job, 0), same.find(job, 1), same.find(job._replace(text=""), 0)) == (None, None, None)


def test_fewer_bugs_than_were_asked_for_are_refused_with_the_reasons(tmp_path: Path) -> None:
    small = library(tmp_path, modules(2) | {"rows/plain.py": "X = 1\n"})
    with pytest.raises(TooFewBugs, match=r"bugs asked for: 40, that can be planted: 2;.*1 has no examples.*--at-most"):
        build(small, seed=1, bugs=40)


def test_a_library_that_holds_no_bug_is_not_asked_for_fewer_but_for_doctests(tmp_path: Path) -> None:
    with pytest.raises(TooFewBugs, match=r"can be planted: 0;.*Give a library with doctests") as refused:
        build(library(tmp_path, {"rows/plain.py": "X = 1\n"}), seed=1, bugs=5)
    assert "--bugs" not in str(refused.value)


def test_fewer_bugs_are_taken_where_that_is_allowed(tmp_path: Path) -> None:
    assert len(build(library(tmp_path, modules(2)), seed=1, bugs=40, at_most=True).entries) == 2


def test_several_bugs_a_file_are_in_different_functions(tmp_path: Path) -> None:
    built = build(library(tmp_path, modules(2)), seed=1, bugs=6, per_file=3)
    assert Counter(entry.path for entry in built.entries) == {"rows/part0/case0.py": 3, "rows/part1/case1.py": 3}
    assert len({(entry.path, entry.function) for entry in built.entries}) == 6


def example(code: str, count: int = 3) -> str:
    return '"""\n' + "".join(f">>> {code}\n" for _ in range(count)) + '"""\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("X = 1\n", "has no examples"),
        ("# >>> 1\n", "has examples that are commented out"),
        (example("1 # doctest: +SKIP"), "skips all of its examples"),
        ("def f():\n    def g():\n        " + example("_ = 1"), "has prompts, and none where doctest looks"),
        ('"""\n>>>f(1)\n2\n"""\n', "has an example that doctest cannot read"),
        ('"""\nIn [1]: f(1)\nOut[1]: 2\n"""\n', "has transcripts of IPython, which doctest does not read"),
        ('"""\n.. testoutput::\n\n   2\n"""\n', "has test blocks of Sphinx, which doctest does not read"),
        (example("_ = 1", 2), "has fewer than three examples"),
        ("if 1:\n\tX = 1\n        X = 2\n", "is refused by this Python's grammar"),
        ("def f(:\n" + example("_ = 1"), "is refused by this Python's grammar"),
        ("import no_such_module\n" + MODULE, "needs a package that is not installed"),
        ("import no_such_module\n" + example("_ = 1"), "needs a package that is not installed"),
        (example("_ = 1") + "raise ValueError\n", "cannot be imported"),
        (example("1"), "has an example that fails before any edit"),
        (example("_ = input()"), "needs a person's input"),
        (example("import socket; _ = socket.create_connection(('localhost', 1))"), "needs the network"),
        (example("import subprocess; _ = subprocess.run(['ls'])"), "needs other processes"),
        (example(f"_ = open({str(Path('/tmp/x'))!r}, 'w')"), "needs files outside its own folder"),
        (example("import os; os._exit(0)"), "ends the interpreter"),
        (example("raise KeyboardInterrupt"), "its examples end the run of all"),
        (example("import os; os.abort()"), "is ended by a signal"),
    ],
)
def test_a_file_that_cannot_be_planted_is_left_out_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    built = build(library(tmp_path, {"odd.py": text}), seed=1, bugs=1, at_most=True, workers=1)
    assert [(left.path, left.reason) for left in built.left_out] == [("odd.py", reason)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (example("import time; end = time.process_time() + 0.6\n>>> while time.process_time() < end: pass"),
         "its examples take more than a second"),
        (example("while True: pass"), "its examples take too long"),
        (example("import time; assert time.time_ns() // 1000 % 2"), "gives other results when run again"),
    ],
)  # fmt: skip
def test_a_file_that_is_slow_or_unsteady_is_left_out(tmp_path: Path, text: str, reason: str) -> None:
    built = build(library(tmp_path, {"odd.py": text}), seed=1, bugs=1, at_most=True, workers=1)
    reasons = {reason, "has an example that fails before any edit"} if "again" in reason else {reason}
    assert {left.reason for left in built.left_out} <= reasons


def test_nothing_is_planted_where_the_examples_pass_whatever_is_done(tmp_path: Path) -> None:
    deaf = "class Deaf:\n    __eq__ = lambda self, other: True\n\n\n"
    text = (
        'def f():\n    """\n    >>> try: f()\n    ... except: pass\n    >>> _ = 1\n    >>> _ = 2\n    """\n    g = 1\n'
    )
    with pytest.raises(DeafProofs, match="no example noticed"):
        build(library(tmp_path, {"deaf.py": deaf + text}), seed=1, bugs=1)


LAYOUTS = [
    {"pack/__init__.py": "", "pack/rows.py": "from pack import more\n" + MODULE, "pack/more.py": ""},
    {"pack/__init__.py": "", "pack/rows.py": "from . import more\n" + MODULE, "pack/more.py": ""},
    {"src/pack/__init__.py": "", "src/pack/rows.py": "import pack.more\n" + MODULE, "src/pack/more.py": ""},
    {"space/rows.py": "from space.part import more\n" + MODULE, "space/part/more.py": ""},
    {"space/rows.py": "from .part import more\n" + MODULE, "space/part/more.py": ""},
    {"scripts/rows.py": "import more\n" + MODULE, "scripts/more.py": ""},
    {"rows.py": MODULE},
    {"my-scripts/rows-1.py": MODULE},
    {"a/b/pack/__init__.py": "", "a/b/pack/rows.py": "import pack.more\n" + MODULE, "a/b/pack/more.py": ""},
    {"pack/__init__.py": MODULE},
    {"json/__init__.py": "", "json/rows.py": MODULE},
]  # fmt: skip


@pytest.mark.parametrize("texts", LAYOUTS, ids=" ".join)
def test_a_library_may_be_laid_out_in_any_usual_way(tmp_path: Path, texts: dict[str, str]) -> None:
    filled = {path: text.format(n=1) if text.endswith(MODULE) else text for path, text in texts.items()}
    built = build(library(tmp_path, filled), seed=1, bugs=1, workers=1)
    assert len(built.entries) == 1


def test_the_folder_of_a_package_itself_will_do(tmp_path: Path) -> None:
    text = "import pack.more\n" + MODULE.format(n=1)
    library(tmp_path, {"pack/__init__.py": "", "pack/rows.py": text, "pack/more.py": ""})
    assert len(build(library(tmp_path / "pack", {}), seed=1, bugs=1, workers=1).entries) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.cfg", "[tool:pytest]\ndoctest_optionflags = ELLIPSIS\n"),
        ("tox.ini", "[pytest]\ndoctest_optionflags = ELLIPSIS NORMALIZE_WHITESPACE\n"),
        ("pytest.ini", "[pytest]\ndoctest_optionflags=\n    ELLIPSIS\n    NUMBER\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\ndoctest_optionflags = ["ELLIPSIS"]\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\ndoctest_optionflags = "ELLIPSIS"\n'),
        ("unrelated.cfg", "a library as it is installed has no configuration: what fails plain is tried leniently"),
    ],
)
def test_options_for_comparing_come_from_the_librarys_configuration(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    lenient = MODULE.format(n=1).replace("[(1, 3, 2), (3, 4, 1)]", "[(1, ...)]")
    assert len(build(library(tmp_path, {"rows.py": lenient}), seed=1, bugs=1, workers=1).entries) == 1


def test_options_that_the_library_states_are_the_only_ones(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\ndoctest_optionflags = NORMALIZE_WHITESPACE\n")
    lenient = MODULE.format(n=1).replace("[(1, 3, 2), (3, 4, 1)]", "[(1, ...)]")
    built = build(library(tmp_path, {"rows.py": lenient}), seed=1, bugs=1, at_most=True, workers=1)
    assert [left.reason for left in built.left_out] == ["has an example that fails before any edit"]


def test_stopping_a_build_ends_its_processes(rows: Library) -> None:
    before = threading.active_count()

    def stop(stage: str, done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(rows, seed=1, bugs=6, on_progress=stop)
    assert threading.active_count() == before


def run(*arguments: object) -> Result:
    return CliRunner().invoke(build_command, [str(argument) for argument in arguments], obj=load_plugins())


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_command_writes_a_benchmark_that_can_be_scored_the_same_bytes_each_time(
    few: Library, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        result = run(few.root, "--bugs", 2, "--seed", 5, "--out", tmp_path / name)
        assert result.exit_code == 0, result.output
    bench = load_bench(tmp_path / "one")
    assert len(bench.key) == 2
    assert {entry.kind for entry in bench.key.entries} <= set(KINDS)
    assert not any(">>>" in file.text for file in bench.files.values())
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_marks_of_a_file_stay_in_what_auditors_read(tmp_path: Path, end: str) -> None:
    text = "\ufeff" + MODULE.format(n=1).replace("\n", end)
    root = library(tmp_path / "lib", {"rows.py": text}).root
    assert run(root, "--bugs", 1, "--out", tmp_path / "out").exit_code == 0
    written = (tmp_path / "out" / "audited" / "rows.py").read_bytes()
    assert written.startswith(b"\xef\xbb\xbf")
    assert written.count(end.encode()) == written.count(b"\n")
    assert len(load_bench(tmp_path / "out").key) == 1


def test_a_benchmark_is_not_written_into_the_library_or_over_another(rows: Library, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    inside, over = run(rows.root, "--out", rows.root / "bench"), run(rows.root, "--out", tmp_path)
    assert "is not changed" in str(inside.exception)
    assert "holds a benchmark already" in str(over.exception)
