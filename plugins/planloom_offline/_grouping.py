"""The report: confirmed rows grouped by the rule that found them, with what was measured of each rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .rules import Rule

_ROW = re.compile(r"(C\d{1,9}) \| .*", re.MULTILINE)
_RULE = re.compile(r" \| \[([a-z0-9-]+)\] ")
_NAMED_IN_SUMMARY = 6
_SEVERITIES = ("critical", "high", "medium", "low")


def report(text: str, rules: Sequence[Rule]) -> dict[str, Any]:
    """Return the rows in groups, one a rule, the most severe first; rows that no rule wrote make the last group."""
    by_name = {rule.name: rule for rule in rules}
    groups: dict[str, list[str]] = {}
    for row, name in _rows(text):
        ids = groups.setdefault(name if name in by_name else "", [])
        if row not in ids:
            ids.append(row)
    named = sorted((by_name[name] for name in groups if name), key=_rank)
    bugs = [{"ids": groups[rule.name], "severity": rule.severity, "title": rule.title} for rule in named]
    if "" in groups:
        bugs.append({"ids": groups[""], "severity": "medium", "title": "Reported by others than the offline rules"})
    return {"bugs": bugs, "summary": _summary(sum(map(len, groups.values())), named)}


def _rows(text: str) -> Iterator[tuple[str, str]]:
    for row in _ROW.finditer(text):
        rule = _RULE.search(row[0])
        yield row[1], rule[1] if rule else ""


def _rank(rule: Rule) -> tuple[int, float, str]:
    return _SEVERITIES.index(rule.severity), -rule.confidence, rule.name


def _summary(rows: int, rules: list[Rule]) -> str:
    """At most 100 words and 600 characters."""
    if not rows:
        return "Made by offline rules, with no model: nothing was confirmed."
    said = "Made by offline rules, with no model: static checks, grouped by rule."
    records = [f"{rule.name} {rule.bugs} of {rule.reports}" for rule in rules if rule.reports]
    if records:
        listed = ", ".join(records[:_NAMED_IN_SUMMARY])
        said += f" Reports that were planted bugs when measured: {listed}."
    return f"{said} A report may be a false alarm, so read the code before acting on it."[:600]
