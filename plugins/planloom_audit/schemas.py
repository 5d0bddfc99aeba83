"""What workers of an audit are shown as the form of their answers, and how leniently the answers are read.

The outer shape must fit; items are normalised one by one and the bad ones set aside with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planloom.workers import Schema

__all__ = ["FINDINGS", "REPORT", "SEVERITIES", "VERDICTS", "named_schemas"]

SEVERITIES = ("critical", "high", "medium", "low", "unranked")
"""From the worst on; the last is of what the writer of a report said nothing about."""


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": required}


def _list_of(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    return _object({name: {"type": "array", "items": dict(item)}}, [name])


def _lenient(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "array"}}, "required": [name]}


_FINDING = _object(
    {
        "file": {"type": "string"},
        "line": {"type": "integer"},
        "function": {"type": "string"},
        "claim": {"type": "string"},
        "failing_call": {"type": "string"},
        "expected": {"type": "string"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    ["file", "line", "claim"],
)
_VERDICT = _object(
    {"report": {"type": "integer"}, "real": {"type": "boolean"}, "reason": {"type": "string"}}, ["report", "real"]
)
_GROUP = _object(
    {
        "ids": {"type": "array", "items": {"type": "string"}},
        "severity": {"type": "string", "enum": list(SEVERITIES[:-1])},
        "title": {"type": "string"},
    },
    ["ids"],
)

FINDINGS = Schema(name="findings", shown=_list_of("findings", _FINDING), read=_lenient("findings"))
VERDICTS = Schema(name="verdicts", shown=_list_of("verdicts", _VERDICT), read=_lenient("verdicts"))
REPORT = Schema(
    name="report",
    shown=_object({"bugs": {"type": "array", "items": _GROUP}, "summary": {"type": "string"}}, ["bugs"]),
    read=_lenient("bugs"),
)


def named_schemas() -> dict[str, Any]:
    """Return the schemas that plans may use by name."""
    return {"findings": dict(FINDINGS.shown), "verdicts": dict(VERDICTS.shown)}
