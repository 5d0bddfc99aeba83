"""The wide set as a person asks for it: an option of the command, a setting of the kit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.here import Ended, planloom_here

GUARD = "def f(width):\n    if width > 0:\n        raise ValueError('width must be positive')\n"
LENGTH = "def length(first, last):\n    rest = last - first\n    return last\n"
ROLES = ("lead", "worker", "judge", "fast")


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Code with one mistake for each set."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "guard.py").write_text(GUARD)
    (folder / "length.py").write_text(LENGTH)
    return folder


def planloom(folder: Path, *arguments: object) -> Ended:
    return planloom_here(folder, *arguments, env={"XDG_STATE_HOME": str(folder / "state")})


def rules_of(folder: Path, *arguments: object) -> set[str]:
    done = planloom(folder, "audit", *arguments, "--out", "report")
    assert done.returncode == 0, done.stderr
    return {bug["rule"] for bug in json.loads((folder / "report" / "findings.json").read_text())["findings"]}


def test_the_wide_set_runs_only_where_it_is_asked_for_and_stored_answers_are_not_mixed(
    code: Path, tmp_path: Path
) -> None:
    narrow, wide = {"guard-against-message"}, {"guard-against-message", "unused-local"}
    assert [rules_of(tmp_path, code), rules_of(tmp_path, code, "--wide"), rules_of(tmp_path, code)] == [
        narrow,
        wide,
        narrow,
    ]


def test_an_audit_says_whether_a_type_checker_took_part(code: Path, tmp_path: Path) -> None:
    done = planloom(tmp_path, "audit", code, "--out", "report")
    assert "Note: the type checker mypy took part, since it is installed.\n" in done.stdout
    assert "the type checker mypy took part" in (tmp_path / "report" / "report.md").read_text()


def test_a_setting_of_the_kit_asks_for_the_wide_set(code: Path, tmp_path: Path) -> None:
    (tmp_path / "planloom.toml").write_text("[kits.audit]\nwide = true\n")
    assert rules_of(tmp_path, code) == {"guard-against-message", "unused-local"}


def test_a_setting_that_is_no_truth_value_is_named(code: Path, tmp_path: Path) -> None:
    (tmp_path / "planloom.toml").write_text('[kits.audit]\nwide = "yes"\n')
    done = planloom(tmp_path, "audit", code)
    assert (done.returncode, "kits.audit.wide is 'yes'; write true or false" in done.stderr) == (2, True)


def test_the_option_is_refused_where_models_answer(code: Path, tmp_path: Path) -> None:
    roles = "".join(f'[roles.{r}]\nendpoint = "main"\nmodel = "m"\nprice = {{ call = 0.2 }}\n' for r in ROLES)
    (tmp_path / "planloom.toml").write_text(f'[endpoints.main]\nurl = "http://127.0.0.1:9/v1"\n{roles}')
    done = planloom(tmp_path, "audit", code, "--wide", "--trust-config")
    assert (done.returncode, "--wide is about offline rules" in done.stderr) == (2, True)
