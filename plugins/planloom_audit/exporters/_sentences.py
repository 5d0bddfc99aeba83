"""What a report says in words, once for all formats: its basis, state, coverage and price, each finding's votes.

A report must not look better than it is. Holes, files that nobody read and rules in the place of a model are said in
plain sentences wherever the report is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planloom.wording import counted
from planloom_audit.report import SEVERITIES, AuditReport, Bug, Cost

from ._foreign import one_line

__all__ = [
    "also_at",
    "basis",
    "caveats",
    "cost",
    "coverage",
    "credits_text",
    "duration",
    "heading_of",
    "headline",
    "place",
    "ranked",
    "same_bug",
    "severity_of",
    "state",
    "votes",
]

_LONGEST_HEADING = 120
_MOST_ALSO = 10
_ASKED_MODELS = ("scan", "skeptic", "called it real")
_UNRANKED = "unranked"


def severity_of(bug: Bug) -> str:
    """One of ``SEVERITIES``: a word that is none of them ranks nothing."""
    return bug.severity if bug.severity in SEVERITIES else _UNRANKED


def ranked(bugs: Iterable[Bug]) -> list[Bug]:
    """The findings, the most severe first, otherwise in the report's order."""
    return sorted(bugs, key=lambda bug: SEVERITIES.index(severity_of(bug)))


def same_bug(bugs: Iterable[Bug]) -> dict[int, list[Bug]]:
    """The findings by group, for groups of two and more: several places of one bug."""
    groups: dict[int, list[Bug]] = {}
    for bug in bugs:
        if bug.group:
            groups.setdefault(bug.group, []).append(bug)
    return {group: members for group, members in groups.items() if len(members) > 1}


def also_at(bug: Bug, together: Mapping[int, list[Bug]]) -> list[Bug]:
    """Other reports of the same bug, as many as people look at."""
    others = together.get(bug.group, [])[: _MOST_ALSO + 1]
    return [other for other in others if other is not bug][:_MOST_ALSO]


def heading_of(bug: Bug) -> str:
    """A line that names the finding: its title, else the start of its claim."""
    text = one_line(bug.title) or one_line(bug.claim) or "Finding without a claim"
    return text if len(text) <= _LONGEST_HEADING else f"{text[: _LONGEST_HEADING - 1].rstrip()}…"


def place(bug: Bug) -> str:
    """``file:line``, or the file alone for a finding about the whole of it."""
    file = one_line(bug.file)
    if bug.line is None:
        return file
    if bug.end_line is None or bug.end_line <= bug.line:
        return f"{file}:{bug.line}"
    return f"{file}:{bug.line}-{bug.end_line}"


def votes(bug: Bug) -> str:
    """How many scans reported it and how many skeptics believed it; rules that agree with a rule are no skeptics."""
    scan, doubter, believed = ("offline scan", "offline check", "agreed") if bug.rule else _ASKED_MODELS
    found = f"reported by {counted(bug.reports, scan)}"
    if not bug.answers:
        return f"{found}; no {doubter} answered"
    return f"{found}; {bug.votes} of {counted(bug.answers, doubter)} {believed}"


def headline(report: AuditReport) -> str:
    """What was found, in one sentence that never reads as a clean bill when something is missing."""
    found = counted(len(report.bugs), "finding") if report.bugs else "No finding"
    undecided = f" and {counted(len(report.undecided), 'undecided report')}" if report.undecided else ""
    seen = report.coverage
    return f"{found}{undecided}, with {seen.covered:,} of {counted(seen.files, 'file')} seen by a scan that answered."


def basis(report: AuditReport) -> str:
    """Who looked: the models by role, or offline rules and no model."""
    if report.offline:
        return "Offline rules, no model: static checks of the code found what is here; no model read it."
    if not report.models:
        return "Models: none is named in this report."
    named = (f"{one_line(role)} {one_line(model)}" for role, model in sorted(report.models.items()))
    return f"Models: {', '.join(named)}."


def state(report: AuditReport) -> str:
    """The run's status, and what its outcome lacks."""
    status = one_line(report.status) or "unknown"
    if report.holes:
        return f"{status}, with {counted(report.holes, 'hole')}"
    return f"{status}, whole" if status == "completed" else status


def caveats(report: AuditReport) -> list[str]:
    """Everything that makes this report less than the whole truth, worst first; empty when nothing does."""
    said = []
    if report.status != "completed":
        said.append(f"The run is {one_line(report.status) or 'unknown'}, not completed: more may be found once it is.")
    if report.holes:
        said.append(
            f"{counted(report.holes, 'hole')}: so many workers or questions failed, were dropped or stayed undecided. "
            "What they would have found is not here."
        )
    if report.coverage.unseen:
        said.append(
            f"No scan that answered has seen {counted(len(report.coverage.unseen), 'file')}: nothing is known there."
        )
    if report.skipped:
        said.append(f"Not read, so not examined: {counted(len(report.skipped), 'file')}.")
    return said


def coverage(report: AuditReport) -> str:
    """On what basis "no finding" is said of a file that has none."""
    seen = report.coverage
    return (
        f"{seen.covered:,} of {counted(seen.files, 'file')} were seen by a scan that answered; "
        f"all of them together hold {counted(seen.lines, 'line')} and {counted(seen.tokens, 'token')}."
    )


def cost(price: Cost) -> str:
    """What was paid now, and what it is worth without the ledger's stored answers."""
    parts = [f"{credits_text(price.paid)} paid now", f"{credits_text(price.full_price)} at full price"]
    if price.planning:
        parts.append(f"{credits_text(price.planning)} of it for planning")
    if price.uncertain:
        parts.append(f"up to {credits_text(price.uncertain)} more if every lost call was billed")
    if price.cap:
        parts.append(f"cap {credits_text(price.cap)}")
    return "; ".join(parts) + "."


def credits_text(amount: float) -> str:
    """An amount such as ``13.80 credits``; four digits below a cent, so that little does not look like nothing."""
    return f"{amount:,.4f} credits" if 0 < abs(amount) < 0.01 else f"{amount:,.2f} credits"


def duration(seconds: float) -> str:
    """A time such as ``2 min 5 s``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
