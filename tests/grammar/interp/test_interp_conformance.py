"""Programs whose values are known, and programs that would never end in plain Python."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Any

import pytest
from planlang import PlanFailed, PlanLimitError, PlanRejected

CASES = Path(__file__).parent.parent / "cases"


def seconds_allowed() -> float:
    """Return five seconds of a machine that counts to a million in 0.06 s, in seconds of this one."""
    started_at = time.process_time()
    total = 0
    for number in range(300_000):
        total += number
    return 5 * max(1.0, (time.process_time() - started_at) / 0.02)


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


@pytest.mark.parametrize("case", read("bounded_programs.jsonl"))
def test_a_bomb_is_stopped_soon_and_by_name(case: Any, run: Any) -> None:
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    allowed_s = seconds_allowed()
    started_at = time.process_time()
    try:
        run(case["source"])
    except PlanLimitError as error:
        assert error.limit
        assert error.line >= 1
    except PlanFailed as error:
        assert error.kind in ("RuntimeError", "TypeError", "ValueError", "OverflowError")
    except PlanRejected as error:
        assert error.problems
    assert time.process_time() - started_at < allowed_s
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 250_000
