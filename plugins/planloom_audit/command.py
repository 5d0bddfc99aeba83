"""``planloom audit PATH``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from rich.padding import Padding
from rich.text import Text

from planloom import Misuse
from planloom.cli.app import CREDITS, App, app_command, out_console, say_console, trust_option
from planloom.exporters import Exporter
from planloom.money import show_credits
from planloom.terminal import interactive, outcome_line
from planloom.trust import require_trust
from planloom.visible import visible

from .report import AuditReport, Bug

if TYPE_CHECKING:
    from planloom_code import Skipped

    from .auditing import Audited

__all__ = ["audit"]

_MOST_ROWS = 50
_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "unranked": "dim"}
_OFFLINE = (
    "Found by offline rules, with no model asked: each finding names its rule and how often such reports were right "
    "in a trial."
)
_OFFLINE_WITHOUT_FINDING = "Only offline rules looked, with no model asked: they know few kinds of bugs."


class _Place(click.Path):
    """A path; an empty one is refused, for an unset variable must not mean the working folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("it is empty; name a folder or a .py file (`.` is the working folder)", param, ctx)
        return super().convert(value, param, ctx)


@click.command()
@click.argument("path", type=_Place(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write the report's files below DIR."
)
@click.option(
    "--plan", metavar="NAME|FILE", help="A saved plan (fixed, fit) or a file; default: the lead's own, else fixed."
)
@click.option("--job", "text", metavar="TEXT", default="", help="Tell the lead in your words what to look for.")
@click.option("--cap", type=CREDITS, help="The budget in credits (default 150).")
@click.option("--include", multiple=True, metavar="PATTERN", help="Audit only files that match (as in .gitignore).")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out files that match.")
@click.option("--yes", is_flag=True, help="Approve the plan whatever it costs within the budget.")
@click.option("--approve-up-to", type=CREDITS, help="Approve the plan up to that many credits.")
@trust_option
@app_command
def audit(
    app: App,
    path: Path,
    out: Path | None,
    plan: str | None,
    text: str,
    cap: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    yes: bool,
    approve_up_to: int | None,
    trust_config: bool,
) -> int:
    """Audit the Python code below PATH for behaviour bugs.

    Without a model configured it runs on offline rules: free, and nothing leaves this machine.
    """
    from .auditing import AuditOptions, audit_tree
    from .work import open_work

    settings = app.settings
    if approve_up_to is not None:
        settings = attrs.evolve(settings, gate=attrs.evolve(settings.gate, approve_up_to=approve_up_to))
    require_trust(settings, path, given=trust_config, ask=_confirm if interactive() else None)
    _check_out(out)
    _check_text(text)
    console = say_console()
    patterns = {"include": include, "exclude": exclude}
    with console.status(Text(f"reading {path}")):
        work = open_work(str(path), patterns)
    tree = work.tree
    console.print(
        f"{_count(len(tree.files), 'file')}, {_count(tree.lines, 'line')}, {_count(tree.tokens, 'token')}; "
        f"{len(tree.skipped)} not read"
    )
    options = AuditOptions(
        target=path,
        patterns=patterns,
        plan=plan,
        text=text,
        cap=settings.cap if cap is None else cap,
        yes=yes,
    )
    audited = audit_tree(app.registry, settings, work, options, console, _confirm)
    lost = [row for row in tree.skipped if row.lost]
    # Files first: who reads what is shown may leave before its end.
    unwritten = _write(app, audited.report, out) if audited.report is not None and out is not None else None
    if audited.report is not None:
        _show(audited.report, audited.with_models, lost)
    console.print(outcome_line(audited.outcome))
    if audited.outcome.error:
        console.print(Text(audited.outcome.error))
    if unwritten is not None:
        raise Misuse(unwritten)
    if audited.report is not None and out is not None:
        console.print(f"wrote {', '.join(e.file_name for e in _exporters(app))} below {out}")
    return _exit_code(audited, lost)


def _exit_code(audited: Audited, lost: Sequence[Skipped]) -> int:
    """Code that nobody examined is a hole too: an audit without it never looks whole."""
    report, code = audited.report, audited.outcome.exit_code
    return 3 if code == 0 and report is not None and (lost or report.coverage.unseen) else code


def _confirm(question: str) -> bool:
    return click.confirm(question, err=True)


def _check_out(out: Path | None) -> None:
    """Make the folder before anything is paid, so that a report never lacks a place."""
    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".planloom-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise Misuse(f"cannot write below {out}: {error.strerror}; name another folder with --out") from error


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Misuse("the text of --job holds bytes that are not UTF-8; write it in UTF-8") from error


def _show(report: AuditReport, with_models: int | None, lost: Sequence[Skipped]) -> None:
    console = out_console()
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
    found = _count(len(report.bugs), "finding") if report.bugs else "No finding"
    undecided = f", {len(report.undecided)} undecided" if report.undecided else ""
    unseen = f"; {len(coverage.unseen)} seen by no scan that answered" if coverage.unseen else ""
    unread = f"; {len(report.skipped)} not read" if report.skipped else ""
    empty = coverage.files - coverage.covered - len(coverage.unseen)
    read = f"{coverage.covered} of them read" + (f", {empty} empty" if empty else "")
    return f"{found}{undecided} in {_count(coverage.files, 'file')}, {read}{unseen}{unread}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _write(app: App, report: AuditReport, out: Path) -> str | None:
    """Write the report's files; return why one cannot be written, if so. No file is ever half of one."""
    for exporter in _exporters(app):
        target = out / exporter.file_name
        part = out / f".{exporter.file_name}.{os.getpid()}.part"
        try:
            part.write_text(exporter.export(report), encoding="utf-8")
            part.replace(target)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            return f"cannot write {target}: {error.strerror}; run the same command with another --out"
    return None


def _exporters(app: App) -> list[Exporter]:
    ours = (e for e in app.registry.all("exporter", Exporter).values() if e.kit == "audit")
    return sorted(ours, key=lambda e: e.file_name)
