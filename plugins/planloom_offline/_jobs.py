"""What the analyst can be asked, by the name of the wanted schema. Each job is plain work on a text and some rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ._analysis import RuleFailed, analyse
from ._grouping import report
from ._skeptic import verdicts
from .rules import Rule

__all__ = ["JOBS", "RuleFailed"]


def findings(text: str, rules: Sequence[Rule]) -> dict[str, Any]:
    """Return what every rule finds, each finding with its ``rule``, for all lenses at once."""
    return {"findings": [attrs.asdict(finding) for finding in analyse(text, rules)]}


JOBS: Mapping[str, Callable[[str, Sequence[Rule]], dict[str, Any]]] = {
    "findings": findings,
    "verdicts": verdicts,
    "report": report,
}
