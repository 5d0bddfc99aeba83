"""The shelf's benchmark is what its tool makes, every bug in it is proved, and nothing in it gives a bug away."""

import doctest
import json
import sys
import types
from collections import Counter
from pathlib import Path

import pytest

import planloom_data
from planloom_bench import KINDS, KeyEntry, load_bench
from planloom_bench.copying import choose
from planloom_bench.leaks import find_leaks

plant = pytest.importorskip("shelf_tools.plant", reason="the tools that plant do not ship; run in a checkout")

LIBRARY = planloom_data.shelf_library()
BENCHMARK = planloom_data.shelf_benchmark()
BENCH = load_bench(BENCHMARK)
MANIFEST = json.loads((BENCHMARK / "manifest.json").read_text(encoding="utf-8"))


def files_below(root: Path) -> dict[str, str]:
    """Every file but bytecode, which an installer may add."""
    found = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in found}


def run_examples(path: str, text: str) -> doctest.TestResults:
    """What the doctests of the clean file say about a text in its place, without the builder's own harness."""
    name = path.removesuffix(".py").replace("/", ".")
    module = types.ModuleType(name)
    sys.modules[name] = module
    try:
        exec(compile(text, path, "exec"), module.__dict__)
        runner = doctest.DocTestRunner(verbose=False)
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
            runner.run(test, out=lambda _: None)
    finally:
        del sys.modules[name]
    return doctest.TestResults(failed=runner.failures, attempted=runner.tries)


def clean_text(entry: KeyEntry) -> str:
    return (LIBRARY / entry.path).read_text(encoding="utf-8")


def edited(entry: KeyEntry) -> str:
    """The clean text with the bug; its line moved when examples were cut out, so that it is found by its text."""
    lines = clean_text(entry).splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.strip() == entry.before]
    nearest = min(places, key=lambda number: abs(number + 1 - entry.line) if number + 1 >= entry.line else len(lines))
    lines[nearest] = lines[nearest].replace(entry.before, entry.after)
    return "".join(lines)


@pytest.mark.slow
@pytest.mark.skipif(
    MANIFEST["python"] != f"{sys.version_info.major}.{sys.version_info.minor}",
    reason="the same bytes are promised on the Python that it was built with",
)
def test_the_shipped_benchmark_is_what_its_tool_makes(tmp_path: Path) -> None:
    plant.make(tmp_path / "made", tmp_path)
    assert files_below(BENCHMARK) == files_below(tmp_path / "made")


def test_nothing_in_it_gives_a_bug_away() -> None:
    assert find_leaks(BENCHMARK, choose(LIBRARY, everything=True)) == ()
    assert find_leaks(BENCHMARK) == ()


def test_there_are_two_bugs_of_every_kind_each_in_a_file_of_its_own() -> None:
    entries = BENCH.key.entries
    assert Counter(entry.kind for entry in entries) == dict.fromkeys(KINDS, 2)
    assert len({entry.path for entry in entries}) == len(entries)


@pytest.mark.parametrize("entry", BENCH.key.entries, ids=lambda entry: entry.id)
def test_some_but_not_most_examples_of_the_clean_file_notice_the_bug(entry: KeyEntry) -> None:
    assert run_examples(entry.path, clean_text(entry)).failed == 0
    noticed = run_examples(entry.path, edited(entry))
    assert (noticed.failed, noticed.attempted) == (entry.examples_failed, entry.examples_total)
    assert 1 <= noticed.failed <= 0.4 * noticed.attempted


def test_the_manifest_counts_what_is_there() -> None:
    assert MANIFEST["planted"]["bugs"] == len(BENCH.key)
    assert MANIFEST["files"] == len(BENCH.files)
