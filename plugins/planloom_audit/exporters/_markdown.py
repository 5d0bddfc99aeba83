"""report.md: the report for a maintainer, in Markdown that any renderer shows the same way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planloom.wording import counted
from planloom_audit.report import SEVERITIES, AuditReport, Bug, Unread

from . import _sentences
from ._foreign import code_line
from ._markdown_text import code_or_prose, code_span, fenced, inline, paragraph

__all__ = ["page"]


def page(report: AuditReport) -> str:
    """The whole page, ending with a line feed."""
    blocks = [
        *_head(report),
        *_summary(report),
        *_findings(report),
        *_undecided(report),
        *_not_examined(report),
        *_how(report),
    ]
    return "\n\n".join(blocks) + "\n"


def _head(report: AuditReport) -> Iterator[str]:
    yield f"# {inline(report.title) or f'Audit of {inline(report.target)}'}"
    yield f"**{inline(_sentences.headline(report))}**"
    yield _bullets(
        [
            f"What: {code_span(report.target)}",
            f"When: {inline(report.created_at) or 'not recorded'}",
            f"Run: {code_span(report.run_id)}, by planloom {inline(report.version)}",
            inline(_sentences.basis(report)),
            f"Plan: {inline(report.plan)} ({code_span(report.plan_hash[:12])})",
            f"Status: {inline(_sentences.state(report))}",
            f"Coverage: {inline(_sentences.coverage(report))}",
            f"Cost: {inline(_sentences.cost(report.cost))}",
            *(paragraph(note) for note in report.notes),
        ]
    )
    missing = _sentences.caveats(report)
    if missing:
        yield "**What is missing**"
        yield _bullets(paragraph(text) for text in missing)


def _summary(report: AuditReport) -> Iterator[str]:
    yield "## Summary"
    paragraphs = [paragraph(text) for text in report.summary.split("\n\n")]
    yield "\n\n".join(text for text in paragraphs if text) or "No summary was written."


def _findings(report: AuditReport) -> Iterator[str]:
    yield "## Findings"
    if not report.bugs:
        yield "None. Read this together with the coverage: it says nothing about files that were not examined."
    together = _sentences.same_bug(report.bugs)
    for severity in SEVERITIES:
        bugs = [bug for bug in report.bugs if _sentences.severity_of(bug) == severity]
        if bugs:
            yield f"### {severity.capitalize()} ({len(bugs):,})"
        for bug in bugs:
            yield from _finding(bug, _sentences.also_at(bug, together), level=4)


def _finding(bug: Bug, also: Sequence[Bug], level: int) -> Iterator[str]:
    yield f"{'#' * level} {paragraph(_sentences.heading_of(bug))}"
    inside = f" in {code_span(bug.function)}" if bug.function else ""
    yield f"{code_span(_sentences.place(bug))}{inside}"
    yield paragraph(bug.claim) or "No claim was written."
    yield _bullets(_details(bug, also))
    if bug.code:
        yield "\n".join(fenced(list(_code(bug))))


def _details(bug: Bug, also: Sequence[Bug]) -> Iterator[str]:
    yield f"Failing call: {code_or_prose(bug.failing_call)}"
    yield f"Expected: {code_or_prose(bug.expected)}"
    yield f"Votes: {inline(_sentences.votes(bug))}; confidence {bug.confidence:.2f}"
    yield f"Offline rule: {code_span(bug.rule)}" if bug.rule else f"Lens: {code_span(bug.lens)}"
    if also:
        yield f"The same bug as at {', '.join(code_span(_sentences.place(other)) for other in also)}"
    if bug.reason:
        yield f"Undecided because: {inline(bug.reason)}"


def _code(bug: Bug) -> Iterator[str]:
    """Numbered lines; the ones that the finding points at are marked by ``>``."""
    first = bug.line if bug.line is not None else 0
    last = max(first, bug.end_line or first)
    width = max(len(str(number)) for number, _ in bug.code)
    for number, text in bug.code:
        mark = ">" if first <= number <= last else " "
        yield f"{mark} {number:>{width}} | {code_line(text)}".rstrip()


def _undecided(report: AuditReport) -> Iterator[str]:
    if not report.undecided:
        return
    yield f"## Undecided ({len(report.undecided):,})"
    yield "Too few skeptics answered to confirm or refute these. They count as holes, not as findings."
    for bug in _sentences.ranked(report.undecided):
        yield from _finding(bug, (), level=3)


def _not_examined(report: AuditReport) -> Iterator[str]:
    if report.coverage.unseen:
        yield "## Files that no scan has seen"
        yield "No scan that answered has seen these, so nothing is known about them."
        yield _bullets(code_span(path) for path in report.coverage.unseen)
    if report.skipped:
        yield "## Files that were not read"
        yield _bullets(_unread(file) for file in report.skipped)
    if report.unparsable:
        grammar = f" of {inline(report.grammar)}" if report.grammar else ""
        yield "## Files that do not parse"
        yield f"Workers read these as text; the grammar{grammar} does not accept them."
        yield _bullets(_unread(file) for file in report.unparsable)


def _how(report: AuditReport) -> Iterator[str]:
    yield "## How the run went"
    yield f"{counted(report.agents, 'worker')} in {_sentences.duration(report.seconds)}."
    if report.coverage.by_lens:
        rows = [(inline(lens), f"{read:,}") for lens, read in sorted(report.coverage.by_lens.items())]
        yield _table(("Lens", "Files read"), rows)
    if report.phases:
        columns = list(dict.fromkeys(key for phase in report.phases for key in phase))
        cells = ([inline(str(phase.get(column, ""))) for column in columns] for phase in report.phases)
        yield _table([inline(column).capitalize() for column in columns], cells)


def _unread(file: Unread) -> str:
    return f"{code_span(file.path)}: {inline(file.reason) or 'no reason given'}"


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
