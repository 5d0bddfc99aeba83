"""``planloom resume`` and ``replay``: a stored run goes on, or is played again."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import click
from rich.text import Text

from planloom._errors import Misuse
from planloom._given_plan import Plan
from planloom._proposals import Proposal
from planloom.api import Planloom, open_with
from planloom.data_classes import frozen
from planloom.money import credits_of, show_credits
from planloom.status import uncertain_text
from planloom.stores import UncertainCall
from planloom.terminal import interactive
from planloom.trust import require_trust
from planloom.wording import counted

from ._check import given_plan
from .app import CREDITS, App, app_command, argument_options, read_arguments, say_console, trust_option
from .running import approval_options, begin_detached, confirm, desk_of, run_options, tell, with_approval, wrap_up

__all__ = ["replay", "resume"]


@frozen(kw_only=True)
class _Wanted:
    """What a person asks of a run that goes on.

    :ivar driver: the status that the run must still have, for the process that drives a detached run.
    """

    args: Mapping[str, Any]
    plan: Plan | None
    cap: int | None
    workers: int | None
    release_uncertain: bool
    as_new_run: bool
    at_cap: str | None
    detach: bool
    yes: bool
    as_json: bool
    driver: str | None

    def changed(self) -> dict[str, Any]:
        """Return what is no longer as it was, as a run takes it that goes on."""
        cap = None if self.cap is None else credits_of(self.cap)
        return {"cap": cap, "workers": self.workers, "args": self.args, "plan": self.plan}

    def for_driver(self) -> list[str]:
        """Return the options for the process that drives a detached run; all else is done before it begins."""
        return ["--workers", str(self.workers)] if self.workers is not None else []


@click.command()
@click.argument("run")
@click.option("--cap", type=CREDITS, help="The budget in credits from now on (default: as before).")
@click.option("--workers", metavar="N", type=click.IntRange(1), help="How many workers it may have from now on.")
@click.option("--release-uncertain", is_flag=True, help="Free what calls of unknown outcome keep charged.")
@argument_options
@click.option("--plan", metavar="NAME|FILE", type=click.Path(), help="The plan, if it changed.")
@click.option("--as-new-run", is_flag=True, help="Make a new run of what is there now; known answers stay free.")
@run_options
@approval_options
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--driver", hidden=True)
@app_command
def resume(
    app: App,
    run: str,
    pairs: tuple[str, ...],
    args_file: Path | None,
    plan: str | None,
    approve_up_to: int | None,
    trust_config: bool,
    **given: Any,
) -> int:
    """Go on with a run that is not whole; nothing is asked twice.

    RUN is an id that `planloom runs` lists, or its beginning: of a run that was stopped, cancelled, killed, held
    or failed, or that completed with holes.
    """
    args, now = read_arguments(pairs, args_file), None if plan is None else given_plan(app, plan)
    wanted = _Wanted(args=args, plan=now, **given)
    app = attrs.evolve(app, settings=with_approval(app.settings, approve_up_to))
    if wanted.driver is not None:
        # The terminal that it was begun from may close.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    desk = desk_of(app, yes=wanted.yes, at_cap=wanted.at_cap)
    run_id, target = desk.do(partial(_found, run=run), read_only=True)  # who looks for it makes no store
    if target:
        require_trust(app.settings, Path(target), given=trust_config, ask=confirm if interactive() else None)
    make = _renewed if wanted.as_new_run else _reopened
    proposal = desk.do(partial(make, run_id=run_id, wanted=wanted))
    if proposal is None:
        click.echo(f"{run_id} is whole: nothing is missing; `planloom replay {run_id}` gives its result again")
        return 0
    desk.show(proposal)
    proposal = desk.approve(proposal)
    if wanted.detach:
        return begin_detached(app, desk.leave(proposal), wanted.at_cap, wanted.for_driver())
    return wrap_up(desk, proposal, desk.run(proposal), as_json=wanted.as_json)


async def _found(loom: Planloom, *, run: str) -> tuple[str, str]:
    """Return a run's id, and what it works on."""
    found = loom.run(run)
    return found.id, found.target


async def _renewed(loom: Planloom, *, run_id: str, wanted: _Wanted) -> Proposal | None:
    return await loom.renew(run_id, **wanted.changed())


async def _reopened(loom: Planloom, *, run_id: str, wanted: _Wanted) -> Proposal | None:
    """Return the run ready to go on, with what is known said; ``None`` when nothing is missing."""
    run = loom.run(run_id)
    status = run.record.status
    if wanted.driver not in (None, status) and not run.driven:
        raise Misuse(
            f"the run {run_id} is {status} by now, and was not begun; `planloom show {run_id}` tells how it is"
        )
    uncertain = run.uncertain
    proposal = await loom.reopen(run_id, **wanted.changed(), release_uncertain=wanted.release_uncertain)
    if proposal is not None:
        _say_known(proposal)
    _say_uncertain(uncertain, released=wanted.release_uncertain)
    return proposal


def _say_known(proposal: Proposal) -> None:
    """Say what is known of a run that was begun before."""
    former = proposal.former
    if former is not None and former.seq:
        say_console().print(
            f"{former.row.id}: {counted(former.calls, 'question')} asked so far, "
            f"{counted(len(former.versions), 'answer')} known, "
            f"{show_credits(former.paid + proposal.planned.paid)} credits paid"
        )


def _say_uncertain(calls: Sequence[UncertainCall], *, released: bool) -> None:
    """Say what calls of unknown outcome keep charged, or that they were released."""
    if not calls:
        return
    said = uncertain_text(calls, "--release-uncertain")
    if released:
        counted_calls, charged = counted(len(calls), "call"), show_credits(sum(call.worst for call in calls))
        said = f"released {counted_calls} of unknown outcome: {charged} credits are free again"
    say_console().print(said)


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@app_command
def replay(app: App, run: str, as_json: bool) -> int:
    """Play a run again from what is stored, and compare results.

    Nothing is asked and nothing is written. RUN is an id that `planloom runs` lists, or its beginning.
    """

    async def main() -> int:
        async with open_with(app.registry, app.settings, read_only=True) as loom:
            replayed = await loom.replay(run)
        if as_json:
            tell(json.dumps({"equal": replayed.equal, "result": replayed.outcome.result}, indent=2))
        say_console().print(Text(replayed.said))
        return 0 if replayed.equal else 1

    return asyncio.run(main())
