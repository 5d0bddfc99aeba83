"""How an audit ends: its report shown and written, after the audit itself and whenever its run goes on.

An audit that was stopped or failed is reported too, so that what was paid for is seen: what its scans reported and
nobody judged yet stands there as undecided. One that failed before it had anything leaves earlier reports alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from planloom.clients import ClientPlugin
from planloom.kits import Finished
from planloom.money import micro_of, show_credits
from planloom.outcomes import Outcome
from planloom.targets import target_of
from planloom.terminal import outcome_line
from planloom.visible import visible
from planloom.wording import counted
from planloom_code import GRAMMAR

from .report import AuditReport, Bug, Unread
from .reporting import build_report
from .work import AuditRun, AuditWork
from .writing import write_report

if TYPE_CHECKING:
    from planloom_code import Skipped

__all__ = ["report_on"]

_UNPARSABLE = "unparsable"
_REPORTED = ("completed", "paused", "cancelled")
_REPORTED_WITH_SOMETHING = ("failed", "runaway")
_MOST_ROWS = 50
_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "unranked": "dim"}
_OFFLINE = (
    "Found by offline rules, with no model asked: each finding names its rule and how often such reports were right "
    "when measured."
)
_OFFLINE_WITHOUT_FINDING = "Only offline rules looked, with no model asked: they know few kinds of bugs."


def report_on(finished: Finished) -> int:
    """Show and write the report of an audit that ended or was stopped; return the exit code of its command.

    :raises Misuse: a file of the report cannot be written. :raises PlanloomError: an exporter failed.
    """
    outcome, work = finished.outcome, finished.work
    assert isinstance(work, AuditWork)
    lost = [row for row in work.tree.skipped if row.lost]
    report = _report(finished, work) if _is_reported(outcome) else None
    out = _near(Path(finished.row.facts["out"])) if finished.row.facts.get("out") else None
    # Files first: who reads what is shown may leave before its end.
    files = None if report is None or out is None else write_report(finished.registry, report, out)
    if report is not None:
        _show(finished.out, report, _with_models(finished), lost)
    finished.say.print(Text(outcome_line(outcome)))
    if outcome.error:
        finished.say.print(Text(outcome.error))
    if files is not None:
        if files.told:
            finished.say.print(Text(files.told))
        files.check()
    return _exit_code(outcome, report, lost)


def _is_reported(outcome: Outcome) -> bool:
    if outcome.status not in _REPORTED_WITH_SOMETHING:
        return outcome.status in _REPORTED
    state = outcome.states.get("audit")
    return bool(outcome.full_price or (isinstance(state, AuditRun) and state.reported))


def _near(path: Path) -> Path:
    """Return a path from the working folder, where it lies below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _exit_code(outcome: Outcome, report: AuditReport | None, lost: Sequence[Skipped]) -> int:
    """Code that nobody examined is a hole too: an audit without it never looks whole."""
    whole = outcome.exit_code == 0
    return 3 if whole and report is not None and (lost or report.coverage.unseen) else outcome.exit_code


def _report(finished: Finished, work: AuditWork) -> AuditReport:
    row, state = finished.row, finished.outcome.states["audit"]
    assert isinstance(state, AuditRun)
    return build_report(
        finished.outcome,
        state,
        finished.settings,
        target=Path(target_of(row.facts)),
        named=row.facts.get("named", row.facts["target"]),
        plan=row.facts["plan_name"],
        plan_hash=row.plan_hash,
        cap=row.facts["cap"],
        unparsable=_unparsable(finished, work),
        notes=list(_notes(finished, state)),
    )


def _unparsable(finished: Finished, work: AuditWork) -> list[Unread]:
    """Return the files that this Python cannot parse. Parsing a large tree takes seconds, so it is done once."""

    def parse() -> list[list[str]]:
        return [[problem.path, problem.reason] for problem in work.tree.unparsable()]

    rows = finished.work_out(_UNPARSABLE, f"{GRAMMAR} {work.digest()}", parse)
    return [Unread(path, reason) for path, reason in rows]


def _notes(finished: Finished, run: AuditRun) -> Iterator[str]:
    outcome, attempts = finished.outcome, finished.row.facts.get("planning", ())
    yield from _bases(finished)
    if run.unasked:
        yield f"{counted(len(run.unasked), 'question')} could not be asked: {run.unasked[0]}"
    if run.set_aside:
        yield f"{counted(len(run.set_aside), 'item')} of workers' replies could not be used: {run.set_aside[0]}"
    if attempts:
        tokens = sum(attempt["prompt_tokens"] or 0 for attempt in attempts)
        yield (
            f"the lead wrote the plan at attempt {len(attempts)}, reading {tokens:,} prompt tokens, for "
            f"{show_credits(sum(attempt['price'] for attempt in attempts))} credits at full price"
        )
    if outcome.holes:
        yield f"{counted(outcome.holes, 'hole')}: workers or questions are missing from this outcome"
    if outcome.status != "completed":
        yield (
            f"the audit is {outcome.status} and its plan came to no result: what its scans reported so far is listed "
            f"as undecided; `planloom resume {outcome.run_id}{_further(outcome)}` goes on, and writes this report again"
        )
    if outcome.status in _REPORTED_WITH_SOMETHING and outcome.error:
        yield f"it ended so: {outcome.error}"


def _bases(finished: Finished) -> Iterator[str]:
    """Yield what answers rest on that depend on the machine."""
    settings = finished.settings
    for name in sorted({settings.endpoints[role.endpoint].client for role in settings.roles.values()}):
        basis = finished.registry.get("client", name, ClientPlugin).basis
        if basis is not None:
            yield basis()


def _further(outcome: Outcome) -> str:
    return " --workers N" if outcome.status == "runaway" else ""


def _with_models(finished: Finished) -> int | None:
    """Return what the plan would cost with models, where it ran offline."""
    kept = finished.row.facts.get("worked_out", {}).get("estimate", {}).get("value", {}).get("estimate_with_models")
    return micro_of(kept["credits"]["p50"]) if kept else None


def _show(console: Console, report: AuditReport, with_models: int | None, lost: Sequence[Skipped]) -> None:
    for bug in report.bugs[:_MOST_ROWS]:
        console.print(_heading(bug))
        console.print(Padding(Text(visible(bug.claim)), (0, 0, 0, 10), expand=False), soft_wrap=False)
    if len(report.bugs) > _MOST_ROWS:
        console.print(f"and {len(report.bugs) - _MOST_ROWS} more; --out DIR writes them all")
    console.print(_basis(report))
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        console.print(f"Not examined, though it should have been: {lost[0].path} ({lost[0].reason}){more}.")
    for note in report.notes:
        console.print(f"Note: {note.removesuffix('.')}.")
    if report.offline:
        console.print(_OFFLINE if report.bugs else _OFFLINE_WITHOUT_FINDING)
        if with_models is not None:
            console.print(
                f"With models this plan costs about {show_credits(with_models)} credits at the default prices; "
                "`planloom init` writes the configuration that names them."
            )


def _heading(bug: Bug) -> Text:
    text = Text()
    text.append(f"{bug.severity:<10}", style=_STYLES[bug.severity])
    text.append(f"{bug.file}:{bug.line}", style="bold")
    text.append(f"  {bug.function or '(no function)'}  {_ground(bug)}", style="dim")
    return text


def _ground(bug: Bug) -> str:
    if bug.rule:
        return f"rule {bug.rule}"
    return f"{bug.votes} of {bug.answers} skeptics" if bug.answers else "no skeptic was asked"


def _basis(report: AuditReport) -> str:
    coverage = report.coverage
    found = counted(len(report.bugs), "finding") if report.bugs else "No finding"
    undecided = f", {len(report.undecided)} undecided" if report.undecided else ""
    unseen = f"; {len(coverage.unseen)} seen by no scan that answered" if coverage.unseen else ""
    unread = f"; {len(report.skipped)} not read" if report.skipped else ""
    empty = coverage.files - coverage.covered - len(coverage.unseen)
    read = f"{coverage.covered} of them read" + (f", {empty} empty" if empty else "")
    return f"{found}{undecided} in {counted(coverage.files, 'file')}, {read}{unseen}{unread}."
