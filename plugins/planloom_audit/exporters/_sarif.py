"""findings.sarif: one SARIF 2.1.0 run, as GitHub code scanning reads it.

GitHub fails a whole upload for one line number below 1, cuts a file above 25,000 results without regard to severity
and shows little of what a run says about itself. So regions are written only where they are true, results are ranked
and cut here with a note, and everything else goes into ``properties`` as well.
"""

from __future__ import annotations

import json
import re
from typing import Any

from planloom_audit.report import AuditReport, Bug

from . import _sentences
from ._foreign import clipped, plain_data
from ._json import finding
from ._notices import NOTICE_KINDS, notices
from ._rules import level_of, rule_id, rules_of
from ._uris import uri_of

__all__ = ["FINGERPRINT_KEY", "LONGEST_RUN", "log_text"]

LONGEST_RUN = 25_000
"""Results that GitHub takes in one run (its documentation of SARIF support)."""

FINGERPRINT_KEY = "planloomFinding/v1"
"""Our own key: GitHub's ``primaryLocationLineHash`` means its own algorithm, which it runs where that key is absent."""

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LONGEST_MESSAGE = 4_000


def log_text(report: AuditReport, longest: int = LONGEST_RUN) -> str:
    """The SARIF log as indented JSON, ending with a line feed; of more results than ``longest`` the most severe."""
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report, longest)]}
    return json.dumps(plain_data(log), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _run(report: AuditReport, longest: int) -> dict[str, Any]:
    bugs = _sentences.ranked(report.bugs)[:longest]
    rules = rules_of(bugs)
    positions = {rule["id"]: index for index, rule in enumerate(rules)}
    return {
        "tool": {"driver": _driver(report, rules)},
        "automationDetails": {"id": _category(report)},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the repository that was audited."}}},
        "invocations": [_invocation(report, left_out=len(report.bugs) - len(bugs))],
        "results": [_result(report, bug, positions) for bug in bugs],
        "properties": _facts(report),
    }


def _driver(report: AuditReport, rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": "planloom", "version": report.version, "rules": rules, "notifications": NOTICE_KINDS}


def _category(report: AuditReport) -> str:
    """The plan, then the run: uploads of one plan replace each other, those of two plans do not."""
    return f"planloom-audit/{_slug(report.plan) or 'plan'}/{_slug(report.run_id) or 'run'}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-")


def _invocation(report: AuditReport, left_out: int) -> dict[str, Any]:
    return {
        "executionSuccessful": report.status == "completed",
        "toolExecutionNotifications": notices(report, left_out),
    }


def _result(report: AuditReport, bug: Bug, positions: dict[str, int]) -> dict[str, Any]:
    result = {
        "ruleId": rule_id(bug),
        "ruleIndex": positions[rule_id(bug)],
        "level": level_of(_sentences.severity_of(bug)),
        "message": {"text": _message(bug)},
        "locations": [_location(report, bug)],
        "properties": finding(bug),
    }
    if bug.fingerprint:
        result["partialFingerprints"] = {FINGERPRINT_KEY: bug.fingerprint}
    return result


def _message(bug: Bug) -> str:
    """The claim first, since GitHub shows the first sentence where room is short."""
    parts = [bug.claim or _sentences.heading_of(bug)]
    if bug.failing_call:
        parts.append(f"Fails: {bug.failing_call}")
    if bug.expected:
        parts.append(f"Expected: {bug.expected}")
    parts.append(f"({_sentences.votes(bug).capitalize()}.)")
    # `[f](1)` in a message would be a link; a blank keeps it code
    return clipped("\n".join(parts), _LONGEST_MESSAGE).replace("](", "] (")


def _location(report: AuditReport, bug: Bug) -> dict[str, Any]:
    physical: dict[str, Any] = {
        "artifactLocation": {"uri": uri_of(bug.file, below=report.below), "uriBaseId": "%SRCROOT%"}
    }
    if bug.line is not None and bug.line >= 1:
        physical["region"] = _region(bug, bug.line)
    location: dict[str, Any] = {"physicalLocation": physical}
    if bug.function:
        location["logicalLocations"] = [{"fullyQualifiedName": bug.function, "kind": "function"}]
    return location


def _region(bug: Bug, line: int) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": line}
    last = bug.end_line if bug.end_line is not None and bug.end_line > line else line
    if last > line:
        region["endLine"] = last
    snippet = [text for number, text in bug.code if line <= number <= last]
    if snippet:
        region["snippet"] = {"text": "\n".join(snippet)}
    return region


def _facts(report: AuditReport) -> dict[str, Any]:
    """What SARIF has no place for, under plain names."""
    return {
        "target": report.target,
        "title": report.title,
        "runId": report.run_id,
        "createdAt": report.created_at,
        "status": report.status,
        "holes": report.holes,
        "offline": report.offline,
        "basis": _sentences.basis(report),
        "models": report.models,
        "plan": report.plan,
        "planHash": report.plan_hash,
        "summary": report.summary,
        "cost": report.cost,
        "coverage": report.coverage,
        "seconds": report.seconds,
        "agents": report.agents,
        "undecided": [finding(bug) | {"reason": bug.reason} for bug in _sentences.ranked(report.undecided)],
    }
