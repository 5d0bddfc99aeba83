"""Every plan that fuzzing broke something with, named for the cause: each still gets an answer, and a run that ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PLANS = Path(__file__).parents[2] / "plans" / "found"


def found() -> list[Any]:
    return [pytest.param(path.read_bytes(), id=path.stem) for path in sorted(PLANS.glob("*.plan"))]


@pytest.mark.parametrize("plan", found())
def test_a_plan_that_once_broke_a_promise_keeps_them_all(plan: bytes, hold_to_promises: Any) -> None:
    hold_to_promises(plan.decode("utf-8", "surrogateescape"))
