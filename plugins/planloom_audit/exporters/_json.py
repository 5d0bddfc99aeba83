"""findings.json: the whole report for programs, in a shape that a schema fixes and versions.

Lists keep the report's order by severity and mappings are sorted, so that two reports of one code base differ only
where their findings do.
"""

from __future__ import annotations

import json
from typing import Any

from planloom_audit.report import AuditReport, Bug

from . import _sentences
from ._foreign import plain_data

__all__ = ["SCHEMA_ID", "document_text", "finding"]

SCHEMA_ID = "planloom-findings/1"
"""Named by every file; the number grows when a reader of the old shape would misread the new one."""


def document_text(report: AuditReport) -> str:
    """The report as indented JSON, ending with a line feed."""
    return json.dumps(plain_data(_document(report)), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def finding(bug: Bug) -> dict[str, Any]:
    """The finding without its code, in the order in which people read it."""
    return {
        "file": bug.file,
        "line": bug.line,
        "end_line": bug.end_line,
        "function": bug.function,
        "claim": bug.claim,
        "failing_call": bug.failing_call,
        "expected": bug.expected,
        "confidence": bug.confidence,
        "severity": _sentences.severity_of(bug),
        "title": bug.title,
        "group": bug.group,
        "votes": bug.votes,
        "answers": bug.answers,
        "reports": bug.reports,
        "sources": bug.sources,
        "lens": bug.lens,
        "rule": bug.rule,
        "fingerprint": bug.fingerprint,
    }


def _document(report: AuditReport) -> dict[str, Any]:
    return {
        "schema": SCHEMA_ID,
        "tool": {"name": "planloom", "version": report.version},
        "target": report.target,
        "title": report.title,
        "offline": report.offline,
        "basis": _sentences.basis(report),
        "caveats": _sentences.caveats(report),
        "run": _run(report),
        "models": dict(sorted(report.models.items())),
        "cost": report.cost,
        "coverage": _coverage(report),
        "summary": report.summary,
        "notes": report.notes,
        "findings": [_with_code(bug) for bug in _sentences.ranked(report.bugs)],
        "undecided": [_with_code(bug) | {"reason": bug.reason} for bug in _sentences.ranked(report.undecided)],
        "skipped": report.skipped,
        "unparsable": report.unparsable,
    }


def _run(report: AuditReport) -> dict[str, Any]:
    return {
        "id": report.run_id,
        "created_at": report.created_at,
        "status": report.status,
        "holes": report.holes,
        "plan": report.plan,
        "plan_hash": report.plan_hash,
        "seconds": report.seconds,
        "agents": report.agents,
        "phases": report.phases,
        "grammar": report.grammar,
    }


def _coverage(report: AuditReport) -> dict[str, Any]:
    seen = plain_data(report.coverage)
    return {**seen, "by_lens": dict(sorted(seen["by_lens"].items()))}


def _with_code(bug: Bug) -> dict[str, Any]:
    return finding(bug) | {"code": [{"line": number, "text": text} for number, text in bug.code]}
