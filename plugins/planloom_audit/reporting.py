"""From a run's outcome to the report that exporters read."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs

from planloom.loom import Outcome
from planloom.money import credits_of
from planloom.settings import Settings
from planloom.wording import counted
from planloom_code import GRAMMAR, Finding, shown_path

from .report import SEVERITIES, AuditReport, Bug, Cost, Coverage, Unread
from .work import AuditRun, AuditWork

__all__ = ["build_report", "severity_rank"]

_LINES_AROUND = 4
_SHOWN_RESULT = 200
_MISSING_NAMED = 5
_PHASE_KEYS = ("name", "started", "done", "failed", "dropped", "undecided")
_RULE = re.compile(r"\[([a-z][a-z0-9-]*)\] ")


def severity_rank(severity: str) -> int:
    """Return a severity's place, 0 for the worst."""
    return SEVERITIES.index(severity)


def build_report(
    outcome: Outcome,
    run: AuditRun,
    settings: Settings,
    *,
    target: Path,
    named: str,
    plan: str,
    plan_hash: str,
    cap: int,
    unparsable: Sequence[Unread],
    notes: Sequence[str] = (),
) -> AuditReport:
    """Return the report of a run that ended, or was stopped.

    :param target: what was audited, and ``named`` what the person called it.
    :param cap: the job's budget in micro-credits.
    """
    work = run.work
    result = outcome.result if isinstance(outcome.result, Mapping) else {}
    items = _items(outcome.result)
    offline = settings.offline
    confirmed, unshown = _bugs(work, items, offline)
    bugs = _with_fingerprints(confirmed)
    undecided, lost = _bugs(work, _open_reports(run, outcome), offline)
    return AuditReport(
        target=named,
        below=_below_repository(target),
        title=f"Audit of {shown_path(target.resolve().name)}",
        run_id=outcome.run_id,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("planloom"),
        status=outcome.status,
        holes=outcome.holes,
        offline=offline,
        models={name: role.model for name, role in settings.roles.items()},
        plan=plan,
        plan_hash=plan_hash,
        summary=str(result.get("summary") or ""),
        bugs=tuple(sorted(bugs, key=lambda bug: (severity_rank(bug.severity), bug.group, bug.file, bug.line or 0))),
        undecided=tuple(_with_fingerprints(undecided)),
        coverage=_coverage(run),
        skipped=tuple(Unread(row.path, row.reason) for row in work.tree.skipped),
        unparsable=tuple(unparsable),
        grammar=GRAMMAR,
        cost=Cost(
            paid=credits_of(outcome.paid),
            full_price=credits_of(outcome.full_price),
            planning=credits_of(outcome.planning),
            uncertain=credits_of(outcome.uncertain),
            cap=credits_of(cap),
        ),
        seconds=outcome.seconds,
        agents=outcome.agents,
        phases=tuple({key: phase[key] for key in _PHASE_KEYS} for phase in outcome.phases),
        notes=(*notes, *_missing(outcome), *_about_result(outcome, [*unshown, *lost])),
    )


def _open_reports(run: AuditRun, outcome: Outcome) -> list[Mapping[str, Any]]:
    """Return what nobody decided: where an audit was stopped, all that its scans reported."""
    if outcome.status == "completed":
        return list(run.undecided.values())
    reason = f"the audit is {outcome.status}: nobody has judged this report yet"
    return list({**{key: row | {"reason": reason} for key, row in run.reported.items()}, **run.undecided}.values())


def _below_repository(target: Path) -> str:
    """Return where the audited folder lies in its repository, so that code scanning finds the files; empty for none."""
    folder = target.resolve() if target.is_dir() else target.resolve().parent
    for above in (folder, *folder.parents):
        if (above / ".git").exists():
            below = folder.relative_to(above).as_posix()
            return "" if below == "." else below
    return ""


def _coverage(run: AuditRun) -> Coverage:
    tree = run.work.tree
    covered = run.covered
    return Coverage(
        files=len(tree.files),
        lines=tree.lines,
        tokens=tree.tokens,
        covered=len(covered),
        by_lens={lens: len(paths) for lens, paths in sorted(run.read.items())},
        unseen=tuple(file.path for file in tree.files if file.lines and file.path not in covered),
    )


def _items(result: Any) -> list[Any]:
    """Return what a plan gave back as its findings: the rows of a report, or a list."""
    items = result.get("bugs") if isinstance(result, Mapping) else result
    return items if isinstance(items, list) else []


def _missing(outcome: Outcome) -> list[str]:
    """Return what each phase lacks, and by name the first that are lost."""
    notes = [
        f"{phase['name'] or 'no phase'}: {phase['done']} of {phase['started'] + phase['dropped']} workers answered"
        for phase in outcome.phases
        if phase["failed"] or phase["dropped"]
    ]
    named = [f"{row['kind']} {row['name']} ({row['reason']})" for row in outcome.missing[:_MISSING_NAMED]]
    return [*notes, f"missing: {'; '.join(named)}"] if named else notes


def _about_result(outcome: Outcome, unshown: Sequence[str]) -> list[str]:
    notes: list[str] = []
    result = outcome.result
    rows = result.get("bugs") if isinstance(result, Mapping) else result
    if outcome.status == "completed" and not isinstance(rows, list):
        notes.append(f"the plan gave back no list of findings but {json.dumps(result, default=str)[:_SHOWN_RESULT]}")
    if unshown:
        notes.append(f"{counted(len(unshown), 'item')} of the plan's result cannot be shown as findings: {unshown[0]}")
    return notes


def _bugs(work: AuditWork, items: Iterable[Any], offline: bool) -> tuple[list[Bug], list[str]]:
    """Return the bugs that items mean, and the reasons why some mean none."""
    bugs, reasons = [], []
    for item in items:
        read = work.finding(item)
        if isinstance(read, Finding):
            bugs.append(_bug(work, read, item, offline))
        else:
            reasons.append(read.reason)
    return bugs, reasons


def _bug(work: AuditWork, finding: Finding, item: Mapping[str, Any], offline: bool) -> Bug:
    severity = str(item.get("severity", "unranked"))
    # A model's claim may begin like a rule's; only the offline analyst's does name one.
    rule = _RULE.match(finding.claim) if offline else None
    label = finding.source.split(":")
    return Bug(
        file=finding.file,
        line=finding.line,
        end_line=finding.end_line,
        function=finding.function,
        claim=finding.claim[rule.end() :] if rule else finding.claim,
        failing_call=finding.failing_call,
        expected=finding.expected,
        confidence=finding.confidence,
        severity=severity if severity in SEVERITIES else "unranked",
        title=str(item.get("title") or ""),
        group=_whole(item.get("group")),
        votes=_whole(item.get("votes")),
        answers=_whole(item.get("answers")),
        reports=finding.reports,
        sources=finding.sources,
        lens=label[1] if len(label) > 1 and label[0] == "scan" else "general",
        rule=rule.group(1) if rule else None,
        code=_code(work, finding.file, finding.line),
        reason=str(item.get("reason") or ""),
    )


def _whole(value: Any) -> int:
    return value if type(value) is int else 0


def _code(work: AuditWork, path: str, line: int) -> tuple[tuple[int, str], ...]:
    lines = work.tree.source(path).lines
    first = max(1, line - _LINES_AROUND)
    return tuple((first + offset, text) for offset, text in enumerate(lines[first - 1 : line + _LINES_AROUND]))


def _with_fingerprints(bugs: Sequence[Bug]) -> list[Bug]:
    seen: Counter[tuple[str, ...]] = Counter()
    marked = []
    for bug in bugs:
        statement = " ".join(next((text for number, text in bug.code if number == bug.line), "").split())
        key = (bug.rule or bug.lens, bug.file, bug.function or "", statement)
        digest = hashlib.sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")).hexdigest()
        seen[key] += 1
        marked.append(attrs.evolve(bug, fingerprint=digest))
    return marked
