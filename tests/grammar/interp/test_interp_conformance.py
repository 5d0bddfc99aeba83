"""Programs whose values are known, and programs that would never end in plain Python."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pytest

from planlang import PlanError, PlanFailed, PlanLimitError

CASES = Path(__file__).parent.parent / "cases"


def read(name: str) -> list[Any]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def plain(value: Any) -> Any:
    if isinstance(value, set):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("case", read("valid_programs.jsonl"))
def test_a_valid_program_gives_what_python_gives(case: Any, run: Any) -> None:
    outcome = run(case["source"])
    assert plain(outcome.result) == case["expected"]
    assert json.loads(outcome.to_json()) == case["expected"]


def ending(run: Any, source: str) -> PlanError | None:
    try:
        run(source)
    except PlanError as error:
        return error
    return None


@pytest.mark.parametrize("case", read("bounded_programs.jsonl"))
def test_a_bomb_is_stopped_by_name_in_little_memory(case: Any, run: Any) -> None:
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = ending(run, case["source"])
    assert error is None or not isinstance(error, PlanLimitError) or error.line >= 1
    assert not isinstance(error, PlanFailed) or error.kind in ("RuntimeError", "TypeError")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 250_000
