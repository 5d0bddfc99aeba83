"""The type checker as a rule: what it is sent, what counts, and what cannot mislead or endanger it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from planloom.clients import ClientPlugin
from planloom.plugins import load_plugins
from planloom_code import numbered_lines
from planloom_offline import TYPE_CHECKER, WIDE_RULES, Rule, _mypy
from planloom_offline._analysis import Finding, analyse
from planloom_offline._skeptic import verdicts
from planloom_offline._workers import Workers

PLUGINS = load_plugins()
WRONG = "def f(x: int) -> str:\n    return x"


INFERRED = next(rule for rule in WIDE_RULES if rule.name == "inferred-types")


def found(files: Mapping[str, str], rule: Rule = TYPE_CHECKER) -> list[Finding]:
    shard = "\n".join(f"### {path}\n{numbered_lines(text.split(chr(10)))}" for path, text in files.items())
    return analyse(shard, [rule])


def places(files: Mapping[str, str]) -> list[tuple[str, int]]:
    return [(finding.file, finding.line) for finding in found(files)]


def test_a_result_of_another_type_than_declared_is_reported_with_its_line_and_the_checkers_words() -> None:
    (finding,) = found({"a.py": WRONG})
    assert (finding.line, finding.failing_call) == (2, "return x")
    assert 'says the type checker mypy: Incompatible return value type (got "int", expected "str")' in finding.claim


def test_types_are_followed_from_file_to_file_of_a_shard() -> None:
    files = {"pkg/one.py": "def f(x: int) -> int:\n    return x", "pkg/two.py": "from .one import f\nf('a')"}
    assert places(files) == [("pkg/two.py", 2)]


def test_types_are_followed_inside_a_package_that_the_audited_folder_is_itself() -> None:
    files = {"__init__.py": "", "one.py": "def f(x: int) -> int:\n    return x", "two.py": "from .one import f\nf('a')"}
    assert places(files) == [("two.py", 2)]


def test_what_is_imported_from_elsewhere_has_no_type_and_is_no_error() -> None:
    annotated = "def h(x: int) -> str:\n    return f(nowhere.g, x) + ''"
    assert places({"a.py": f"import nowhere\nfrom .gone import f\n{annotated}"}) == []


def test_code_without_annotations_is_left_to_the_wide_set() -> None:
    files = {"a.py": "def f(x):\n    return len(x) + 'a'"}
    assert [len(found(files, rule)) for rule in (TYPE_CHECKER, INFERRED)] == [0, 1]


def test_a_shard_without_annotations_starts_no_type_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("subprocess.run")
    assert places({"a.py": "def f(x):\n    return len(x) + 'a'"}) == []


@pytest.mark.parametrize(
    "text",
    ["x = []", "class A: pass\nA().b", "x = 1\nx = 'a'", "def f():\n    return undefined"],
    ids=["no annotation", "an attribute", "another use of a name", "an unknown name"],
)
def test_errors_that_speak_of_no_argument_result_or_operand_are_dropped(text: str) -> None:
    assert places({"a.py": f"{text}\ndef g(x: int) -> int: return x"}) == []


@pytest.mark.parametrize("path", ["types.py", "../b.py", "/tmp/b.py", "a-b/c.py", "a.pyi"])
def test_a_file_that_is_no_module_is_left_out_and_the_others_are_checked(path: str) -> None:
    assert places({path: WRONG, "a.py": WRONG}) == [("a.py", 2)]


def test_nothing_is_written_where_a_path_of_the_question_leads(tmp_path: Path) -> None:
    found({f"{tmp_path}/b.py": WRONG, "a.py": WRONG})
    assert list(tmp_path.iterdir()) == []


def test_a_configuration_in_the_working_folder_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_errors = True\n")
    monkeypatch.chdir(tmp_path)
    assert places({"a.py": WRONG}) == [("a.py", 2)]


def basis() -> str:
    """Return what the offline analyst says its answers rest on."""
    said = PLUGINS.get("client", "offline", ClientPlugin).basis
    assert said is not None
    return said()


@pytest.fixture
def no_checker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose import path and program path hold no type checker."""
    monkeypatch.setattr("sys.path", [])
    monkeypatch.setenv("PATH", "")
    _mypy.installed_mypy.cache_clear()
    yield
    _mypy.installed_mypy.cache_clear()


@pytest.mark.usefixtures("no_checker")
def test_without_a_type_checker_the_rule_finds_nothing() -> None:
    assert found({"a.py": WRONG}) == []


@pytest.mark.usefixtures("no_checker")
def test_without_a_type_checker_it_is_said_what_is_missing() -> None:
    assert basis().startswith("the type checker mypy is not installed, with which about twice as much is found")


def test_with_a_type_checker_it_is_said_that_it_took_part() -> None:
    assert basis() == "the type checker mypy took part, since it is installed"


def test_a_checker_found_by_a_relative_path_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mypy"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    assert _mypy._program("mypy") == ""


def verdict_on(code: str) -> bool:
    (finding,) = found({"a.py": WRONG})
    head = f"--- report 1 ---\nfile: a.py\nline: {finding.line}\nclaim: {finding.claim}"
    block = f"{head}\ncode:\n{numbered_lines(code.split(chr(10)))}"
    return bool(verdicts(block, [TYPE_CHECKER])["verdicts"][0]["real"])


def test_a_skeptic_confirms_an_error_on_the_line_that_it_quotes_and_no_other() -> None:
    assert [verdict_on(WRONG), verdict_on(WRONG.replace("return x", "return str(x)"))] == [True, False]


def test_even_a_small_scan_runs_the_checker_in_another_process_and_leaves_no_file() -> None:
    async def run() -> tuple[int, bool]:
        workers = Workers([TYPE_CHECKER], timeout_s=60)
        await workers.run("findings", f"### a.py\n{numbered_lines(WRONG.split(chr(10)))}")
        count, scratch = len(workers.process_ids), workers._scratch
        assert scratch is not None
        await workers.close()
        return count, os.path.exists(scratch.name)

    assert asyncio.run(run()) == (1, False)
