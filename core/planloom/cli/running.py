"""What commands that run plans share: options, runs in the background, and how one that ended is shown."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import Popen
from typing import Any, TypeVar

import attrs
import click
from rich.text import Text

from planloom._proposals import Proposal
from planloom.api import open_with
from planloom.desk import JobDesk
from planloom.detaching import log_path, start_driver, wait_until_driven
from planloom.kits import Kit
from planloom.outcomes import Outcome, exit_code_of
from planloom.settings import Settings
from planloom.stores import RunRow
from planloom.terminal import outcome_line
from planloom.visible import visible

from ._confirm import confirm
from ._streams import silence
from .app import CREDITS, App, out_console, say_console

__all__ = [
    "CAP_OPTION",
    "approval_options",
    "begin_detached",
    "confirm",
    "desk_of",
    "refresh_option",
    "repeat_option",
    "run_options",
    "show_result",
    "tell",
    "with_approval",
    "wrap_up",
]

_SPEAKS = "planloom: "
_LINES_SHOWN = 5

F = TypeVar("F", bound=Callable[..., Any])


def run_options(function: F) -> F:
    """Give a command ``--at-cap`` and ``--detach``."""
    function = click.option(
        "--at-cap",
        type=click.Choice(["wait", "stop"]),
        help="At the cap: stop, or wait for `planloom raise` (default: stop, or wait with --detach).",
    )(function)
    return click.option("--detach", is_flag=True, help="Run in the background; `planloom follow` shows it.")(function)


CAP_OPTION = click.option("--cap", type=CREDITS, help="The budget in credits (default: the configured one, else 150).")

repeat_option = click.option(
    "--repeat",
    metavar="N",
    type=click.IntRange(1),
    default=1,
    help="Run the N-th repeat of the job, whose answers are its own (default 1).",
)

refresh_option = click.option(
    "--refresh", is_flag=True, help="Ask the workers again, also what is answered already; earlier answers are kept."
)


def approval_options(function: F) -> F:
    """Give a command ``--yes`` and ``--approve-up-to``."""
    function = click.option("--approve-up-to", type=CREDITS, help="Approve a plan that costs no more than that.")(
        function
    )
    return click.option("--yes", is_flag=True, help="Approve the plan whatever it costs within the budget.")(function)


def with_approval(settings: Settings, approve_up_to: int | None) -> Settings:
    """Return the settings with a standing approval, where one was given."""
    if approve_up_to is None:
        return settings
    return attrs.evolve(settings, gate=attrs.evolve(settings.gate, approve_up_to=approve_up_to))


def desk_of(app: App, *, yes: bool, at_cap: str | None) -> JobDesk:
    """Return the desk at which a command's run is proposed, approved and looked on at."""
    return JobDesk(
        registry=app.registry,
        settings=app.settings,
        console=say_console(),
        confirm=confirm,
        yes=yes,
        on_cap="wait" if at_cap == "wait" else "stop",
    )


def begin_detached(app: App, run_id: str, at_cap: str | None, further: Sequence[str] = ()) -> int:
    """Have a process of its own drive a stored run; return when it does, with the exit code of the command.

    :param further: options of ``planloom resume`` for it.
    """
    log = log_path(app.settings.store_path, run_id)
    config = ["--config", str(app.config.absolute())] if app.config is not None else []
    further = [*further, "--store", str(Path(app.settings.store_path).absolute()), *config]

    before = log.stat().st_size if log.exists() else 0

    async def main() -> tuple[Popen[bytes], int | None, str, RunRow]:
        async with open_with(app.registry, app.settings) as loom:
            run = loom.run(run_id)
            status = run.record.status
            arguments = ["resume", run_id, "--driver", status, "--trust-config", "--at-cap", at_cap or "wait"]
            driver = start_driver(log, [*arguments, *further])
            return driver, await wait_until_driven(run, driver, status), status, run.record

    driver, ended, status, row = asyncio.run(main())
    if ended is not None:
        click.echo(_said_in(log, before), err=True)
        return ended if row.status == status else exit_code_of(row)
    # The driver is meant to outlive this process.
    driver.returncode = 0
    click.echo(run_id)
    click.echo(
        f"{run_id} runs in the background; `planloom follow {run_id}` shows it, `planloom cancel {run_id}` ends it; "
        f"its log is {log}",
        err=True,
    )
    return 0


def _said_in(log: Path, before: int) -> str:
    """Return what the driver said at its end: all of its last message, or the last lines where it left none.

    :param before: how many bytes of the log are of earlier drivers.
    """
    try:
        lines = log.read_bytes()[before:].decode("utf-8", errors="replace").splitlines()
    except OSError:
        return visible(f"{_SPEAKS}the run did not begin, and its log {log} cannot be read")
    spoken = [number for number, line in enumerate(lines) if line.startswith(_SPEAKS)]
    return visible("\n".join(lines[spoken[-1] :]) if spoken else _SPEAKS + "\n".join(lines[-_LINES_SHOWN:]))


def wrap_up(desk: JobDesk, proposal: Proposal, outcome: Outcome, *, as_json: bool = False) -> int:
    """Show how a run ended: as its kit reports it, where it is a run of a kit's own command; return the exit code.

    A run that was taken over is reported by whoever drives it, and that report is not to be written over.
    """
    if proposal.reporter and outcome.status != "interrupted":
        return desk.finish(desk.registry.get("kit", proposal.reporter, Kit), proposal, outcome, out_console())
    say_console().print(Text(outcome_line(outcome)))
    if as_json:
        tell(json.dumps({"result": outcome.result, "status": outcome.status, "error": outcome.error}, indent=2))
    elif outcome.result is not None:
        show_result(outcome.result)
    if outcome.error:
        tell(f"planloom: {visible(outcome.error)}", err=True)
    return outcome.exit_code


def show_result(result: Any) -> None:
    """Print a text as it is for programs, and with its hidden characters named for a person."""
    text = result if isinstance(result, str) else json.dumps(result, indent=2)
    tell(visible(text) if sys.stdout.isatty() else text)


def tell(text: str, *, err: bool = False) -> None:
    """Print a text; whoever stops reading it changes nothing of how a run ended, nor its exit code."""
    try:
        # Without `color` click would take escape sequences out of what a program reads.
        click.echo(text, err=err, color=True)
    except BrokenPipeError:
        silence(sys.stderr if err else sys.stdout)
