"""``planloom audit PATH``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import click
from rich.text import Text

from planloom import Misuse
from planloom.cli.app import App, app_command, say_console, trust_option
from planloom.cli.running import (
    CAP_OPTION,
    approval_options,
    begin_detached,
    confirm,
    refresh_option,
    repeat_option,
    run_options,
    with_approval,
    wrap_up,
)
from planloom.terminal import interactive
from planloom.trust import require_trust
from planloom.wording import counted

__all__ = ["audit"]


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
@click.option("--new-plan", is_flag=True, help="Have the lead write another plan than the one it wrote before.")
@click.option("--job", "text", metavar="TEXT", default="", help="Tell the lead in your words what to look for.")
@CAP_OPTION
@click.option(
    "--include", multiple=True, metavar="PATTERN", help="Only files that match, as in .gitignore; may be repeated."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out files that match; may be repeated.")
@click.option("--wide", is_flag=True, help="Run the offline rules with more false alarms too.")
@repeat_option
@refresh_option
@run_options
@approval_options
@trust_option
@app_command
def audit(
    app: App,
    path: Path,
    out: Path | None,
    plan: str | None,
    new_plan: bool,
    text: str,
    cap: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    wide: bool,
    repeat: int,
    refresh: bool,
    at_cap: str | None,
    detach: bool,
    yes: bool,
    approve_up_to: int | None,
    trust_config: bool,
) -> int:
    """Audit the Python code below PATH for behaviour bugs.

    Without a model configured it runs on offline rules: free, and nothing leaves this machine.
    """
    from .auditing import AuditOptions, plan_audit, run_audit
    from .work import open_work

    settings = with_approval(app.settings, approve_up_to)
    require_trust(settings, path, given=trust_config, ask=confirm if interactive() else None)
    _check_out(out)
    _check_text(text)
    _check_together(wide and not settings.offline, new_plan, text, plan)
    console = say_console()
    patterns = {"include": include, "exclude": exclude}
    with console.status(Text(f"reading {path}")):
        work = open_work(str(path), {**patterns, "wide": wide})
    tree = work.tree
    console.print(
        f"{counted(len(tree.files), 'file')}, {counted(tree.lines, 'line')}, {counted(tree.tokens, 'token')}; "
        f"{len(tree.skipped)} not read"
    )
    options = AuditOptions(
        target=path,
        patterns=patterns,
        wide=wide,
        plan=plan,
        new_plan=new_plan,
        text=text,
        cap=settings.cap if cap is None else cap,
        yes=yes,
        repeat=repeat - 1,
        refresh=refresh,
        out=out,
        on_cap="wait" if at_cap == "wait" else "stop",
    )
    app = attrs.evolve(app, settings=settings)
    desk, chosen = plan_audit(app.registry, settings, work, options, console, confirm)
    if detach:
        return begin_detached(app, desk.leave(chosen), at_cap)
    return wrap_up(desk, chosen, run_audit(desk, chosen))


def _check_together(wide_with_models: bool, new_plan: bool, text: str, plan: str | None) -> None:
    """:raises Misuse: one option takes away what another is about."""
    if wide_with_models:
        raise Misuse("--wide is about offline rules, and models are configured for this audit; leave it out")
    if new_plan and plan is not None:
        raise Misuse("--new-plan has the lead write a plan, and --plan names one; leave one of them out")
    if text and plan is not None:
        raise Misuse("--job is told to the lead, and with --plan no lead is asked; leave one of them out")


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
