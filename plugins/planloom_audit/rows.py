"""Findings as plans hold them, and how a row that a word gave away is read when the plan hands it on.

A plan may have changed a row, or made it up, so that a word reads each as it reads a worker's item: the path is
resolved, the line looked up in the file. Of ten thousand findings that takes a quarter of a second, in one turn of the
event loop. Most come back as they were given: what they mean is remembered, and they are only compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from planloom_code import Finding

__all__ = ["FindingRows", "finding_as_data", "workers_behind"]

# About 60 MB. The memory that a plan may use holds fewer rows.
_MOST_HELD = 100_000


def finding_as_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as plans hold it."""
    return {
        "file": finding.file,
        "line": finding.line,
        "end_line": finding.end_line,
        "function": finding.function,
        "claim": finding.claim,
        "failing_call": finding.failing_call,
        "expected": finding.expected,
        "confidence": finding.confidence,
        "source": finding.source,
        # One text, not a list: a plan hands findings from word to word, and flat ones are copied four times as fast.
        "sources": "\n".join(finding.sources),
        "reports": finding.reports,
        "key": finding.place.key,
    }


def workers_behind(raw: Mapping[Any, Any], source: str) -> dict[str, Any]:
    """Return the workers behind a finding where it is a plan's own copy of one, which names them."""
    if not isinstance(raw.get("sources"), str):
        return {}
    return {"sources": tuple(raw["sources"].split("\n")), "source": str(raw.get("source", source))}


class FindingRows:
    """The rows that words of one run gave to its plan, each with the finding that it means when it comes back."""

    def __init__(self) -> None:
        self._held: dict[tuple[Any, ...], tuple[dict[str, Any], Finding]] = {}
        # The same, found by what a finding is, not by what it says, in a fifth of the time.
        self._rows: dict[int, tuple[dict[str, Any], Finding]] = {}

    def given(self, finding: Finding) -> dict[str, Any]:
        """Return a finding as a row for the plan; nobody else may change it."""
        known = self._rows.get(id(finding))
        if known is not None:
            return known[0]
        row = finding_as_data(finding)
        if max(len(self._held), len(self._rows)) >= _MOST_HELD:
            self._held.clear()
            self._rows.clear()
        # A row does not say from which line its finding was moved.
        meant = finding if finding.moved_from is None else attrs.evolve(finding, moved_from=None)
        self._rows[id(meant)] = self._held[row["key"], finding.line, finding.source, finding.claim] = row, meant
        return row

    def found(self, item: Any) -> Finding | None:
        """Return what an item means that is a row as it was given, more keys or none; ``None`` for any other."""
        if type(item) is not dict:
            return None
        try:
            held = self._held.get((item["key"], item["line"], item["source"], item["claim"]))
        except (KeyError, TypeError):
            return None
        if held is None:
            return None
        row, finding = held
        if item != row and not row.items() <= item.items():
            return None
        # True is equal to 1, and neither a line nor a confidence.
        return None if type(item["line"]) is bool or type(item["confidence"]) is bool else finding
