"""The shelf's benchmark is what its tools make, every bug in it is proved, and nothing in it gives a bug away."""

import ast
import doctest
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import planloom_data
from planloom_bench import KINDS, KeyEntry, load_bench, strip_examples

if TYPE_CHECKING:
    from shelf_tools.edits import Edit

plant = pytest.importorskip("shelf_tools.plant", reason="the tools that plant do not ship; run in a checkout")
edits = pytest.importorskip("shelf_tools.edits")

CLEAN: dict[str, str] = plant.sources(planloom_data.shelf_library())
AUDITED: dict[str, str] = plant.sources(planloom_data.shelf_benchmark() / "audited")
BENCH = load_bench(planloom_data.shelf_benchmark())


def files_below(root: Path) -> dict[str, str]:
    """Every file but bytecode, which an installer may add."""
    found = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in found}


def examples_of(text: str) -> list[doctest.Example]:
    parser = doctest.DocTestParser()
    nodes = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
    ]
    return [example for node in nodes for example in parser.get_examples(ast.get_docstring(node) or "")]


def test_the_shipped_benchmark_is_what_its_tool_makes() -> None:
    assert files_below(planloom_data.shelf_benchmark()) == plant.benchmark()


def test_there_is_one_bug_of_every_kind_each_in_a_file_of_its_own() -> None:
    entries = BENCH.key.entries
    assert sorted(entry.kind for entry in entries) == sorted(KINDS)
    assert len({entry.path for entry in entries}) == len(KINDS)


@pytest.mark.parametrize("edit", edits.EDITS, ids=lambda edit: edit.kind)
def test_some_but_not_most_examples_of_the_clean_file_notice_the_bug(edit: "Edit") -> None:
    assert plant.run_examples(edit.path, CLEAN[edit.path]).failed == 0
    proof = plant.run_examples(edit.path, plant.edited(CLEAN[edit.path], edit))
    assert 1 <= proof.failed <= 0.4 * proof.total


def test_the_proof_would_notice_a_function_that_does_nothing() -> None:
    edit = edits.Edit(
        path="shelf/text/casing.py",
        function="snake",
        kind="canary",
        before='return "_".join(words_of(name))',
        after="raise",
    )
    assert plant.run_examples(edit.path, plant.edited(CLEAN[edit.path], edit)).failed == 2


def test_the_audited_copy_differs_from_the_clean_one_in_the_lines_of_the_key_alone() -> None:
    assert CLEAN.keys() == AUDITED.keys()
    differing = {
        (path, number, before.strip(), after.strip())
        for path in CLEAN
        for number, (before, after) in enumerate(
            zip(strip_examples(CLEAN[path]).splitlines(), AUDITED[path].splitlines(), strict=True), start=1
        )
        if before != after
    }
    assert differing == {(entry.path, entry.line, entry.before, entry.after) for entry in BENCH.key.entries}


@pytest.mark.parametrize("path", sorted(CLEAN))
def test_no_example_or_expected_output_survives_in_the_audited_copy(path: str) -> None:
    lines = {line.strip() for line in AUDITED[path].splitlines()}
    told = [
        line.strip() for example in examples_of(CLEAN[path]) for line in (example.source + example.want).splitlines()
    ]
    assert ">>>" not in AUDITED[path]
    assert not lines & {line for line in told if line}


@pytest.mark.parametrize("entry", BENCH.key.entries, ids=lambda entry: entry.kind)
def test_the_original_line_does_not_survive_in_the_function_that_lost_it(entry: KeyEntry) -> None:
    first, last = plant.span_of(AUDITED[entry.path], entry.function)
    function = [line.strip() for line in AUDITED[entry.path].splitlines()[first - 1 : last]]
    assert entry.before not in function


@pytest.mark.parametrize("path", sorted(AUDITED))
def test_no_docstring_became_empty(path: str) -> None:
    for node in ast.walk(ast.parse(AUDITED[path])):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            assert ast.get_docstring(node) != ""


def test_the_audited_copy_and_the_manifest_say_nothing_of_the_key() -> None:
    told = "".join([*AUDITED, *AUDITED.values()])
    assert not [word for word in ("answer_key", "planted", "hidden", "benchmark", "doctest") if word in told]
    assert not [entry.id for entry in BENCH.key.entries if entry.id in told]
    manifest = (planloom_data.shelf_benchmark() / "manifest.json").read_text(encoding="utf-8")
    assert not [entry.path for entry in BENCH.key.entries if entry.path in manifest]


def test_the_manifest_counts_what_is_there() -> None:
    manifest = json.loads((planloom_data.shelf_benchmark() / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["planted"]["bugs"] == len(BENCH.key)
    assert manifest["files"] == len(AUDITED)
    assert manifest["audited_sha256"] == plant.digest(AUDITED)
