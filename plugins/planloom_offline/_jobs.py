"""What the analyst can be asked, by the name of the wanted schema. Each job is plain work on a text and some rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ._analysis import RuleFailed, analyse
from ._grouping import report
from ._skeptic import verdicts
from .rules import Rule

__all__ = ["FORMS", "JOBS", "RuleFailed", "rules_of", "scan_job"]

FORMS = ("findings", "verdicts", "report")
"""The schemas that an answer can be asked to satisfy."""
_SCAN = FORMS[0]
_WIDE_SCAN = "findings, wide"


def scan_job(*, wide: bool) -> str:
    """Return the job that runs the tight set, or the wide set too."""
    return _WIDE_SCAN if wide else _SCAN


def rules_of(job: str, rules: Sequence[Rule]) -> Sequence[Rule]:
    """Return the rules that a job runs over all it is sent; none for one that looks again at single reports."""
    if job == _SCAN:
        return [rule for rule in rules if not rule.wide]
    return rules if job == _WIDE_SCAN else ()


def _findings(text: str, rules: Sequence[Rule]) -> dict[str, Any]:
    return _wide_findings(text, rules_of(_SCAN, rules))


def _wide_findings(text: str, rules: Sequence[Rule]) -> dict[str, Any]:
    """What every rule finds, each finding with its ``rule``, for all lenses at once."""
    return {"findings": [attrs.asdict(finding) for finding in analyse(text, rules)]}


JOBS: Mapping[str, Callable[[str, Sequence[Rule]], dict[str, Any]]] = {
    _SCAN: _findings,
    _WIDE_SCAN: _wide_findings,
    "verdicts": verdicts,
    "report": report,
}
