"""The bench brings scorers and a command, and other plugins may bring scorers to it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import planloom_bench
from planloom.hookspecs import hookimpl
from planloom.plugins import Registry, load_plugins
from planloom_bench import KINDS, Mutator, Scorer, score_command


class SameFile:
    """A plugin with a scorer of its own, any line of the right file counts, and a mutator that has no sites."""

    @hookimpl
    def register_scorers(self, register: Callable[[Scorer], None]) -> None:
        register(Scorer(name="same_file", about="in the file of the bug", reach=lambda finding, bug, file: 0))

    @hookimpl
    def register_mutators(self, register: Callable[[Mutator], None]) -> None:
        register(Mutator(name="same_line", summary="no edit at all", sites=lambda file: ()))


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins([("bench", planloom_bench), ("same-file", SameFile())], installed=False)


@pytest.fixture
def findings(tmp_path: Path) -> str:
    path = tmp_path / "findings.json"
    path.write_text(json.dumps([{"file": "shelf/tables/layout.py", "line": 3}]), encoding="utf-8")
    return str(path)


def run(registry: Registry, *arguments: str) -> Result:
    return CliRunner().invoke(score_command, arguments, obj=registry, catch_exceptions=False)


def test_hook_register_scorers(registry: Registry) -> None:
    assert registry.names("scorer") == ("five_lines", "same_file", "same_statement")


def test_hook_register_mutators_brings_the_kinds_that_keys_name(registry: Registry) -> None:
    assert set(registry.names("mutator")) == {*KINDS, "same_line"}


def test_the_bench_brings_its_command(registry: Registry) -> None:
    assert registry.owner("command", "bench") == "bench"


def test_a_report_is_scored_by_the_scorer_that_is_named(registry: Registry, findings: str) -> None:
    by_lines = json.loads(run(registry, findings, "--json").output)
    by_file = json.loads(run(registry, findings, "--json", "--scorer", "same_file").output)
    assert (by_lines["tally"]["recall"], by_file["tally"]["recall"]) == (0, pytest.approx(1 / 24))


@pytest.mark.parametrize("form", [[], ["--markdown"]])
def test_a_score_is_printed_for_people(registry: Registry, findings: str, form: list[str]) -> None:
    assert "0 of 24 planted bugs found" in run(registry, findings, *form).output


def test_what_the_clean_copy_gives_too_is_not_caused(registry: Registry, findings: str) -> None:
    scored = run(registry, findings, "--clean", findings, "--scorer", "same_file", "--json")
    assert json.loads(scored.output)["caused"] == 0
