"""What a person sees of a job in a terminal: prices, the question for approval, progress, how it ended."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
from rich.console import Console, Group
from rich.live import Live
from rich.table import Column, Table
from rich.text import Text

from ._errors import PlanHeld, PlanRefused
from ._phases import Phases
from ._way_on import way_on, what_frees
from .control import RunControl
from .gates import Decision, held_advice
from .listeners import Listener
from .money import micro_of, show_credits
from .processes import seldom_collected
from .stores import Event
from .wording import counted

if TYPE_CHECKING:
    from .jobs import PricedPlan
    from .outcomes import Outcome
    from .rehearsal import Rehearsal

__all__ = [
    "EventLines",
    "Progress",
    "approve",
    "event_text",
    "interactive",
    "outcome_line",
    "run_cancellable",
    "show_rehearsal",
]

T = TypeVar("T")

_FAILURES_SHOWN = 3
_DROPPED_TOLD = 3
_NO_WORKER = "no worker"
# Windows knows no SIGHUP.
_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def interactive() -> bool:
    """Return whether a person can be asked: standard input and error are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def show_rehearsal(console: Console, rehearsal: Rehearsal, heading: str) -> None:
    """Print what a plan would need."""
    low, middle, high = rehearsal.credits_p10, rehearsal.credits_p50, rehearsal.credits_p90
    console.print(Text(heading, style="bold"))
    table = Table("phase", Column("workers", justify="right"), box=None, pad_edge=False)
    for name, workers in rehearsal.phases.items():
        table.add_row(Text(name or "(no phase)"), f"{workers:,}")
    if rehearsal.phases:
        console.print(table)
    console.print(
        f"{counted(rehearsal.agents, 'worker')}, {counted(rehearsal.calls, 'call')}, {rehearsal.tokens:,} tokens; "
        f"{show_credits(middle)} credits ({show_credits(low)} to {show_credits(high)} in "
        f"{counted(rehearsal.takes, 'rehearsal')})",
    )
    roles = (f"{n:,} as {role} for {show_credits(price)}" for role, (n, price) in rehearsal.roles.items())
    if rehearsal.roles:
        console.print(f"by role: {', '.join(roles)} credits")
    for line in rehearsal.advice:
        console.print(Text(f"worth knowing: {line}"))


def approve(
    console: Console, priced: PricedPlan, decision: Decision, *, yes: bool, confirm: Callable[[str], bool]
) -> Decision:
    """Return the decision that stands: the policy's, or a person's where the policy holds the plan.

    A person sees the plan before they are asked.

    :param yes: the person said so beforehand. :param confirm: asks a person, where there is one.
    :raises PlanRefused: the gate refused it. :raises PlanHeld: it needs a person and there is none, or they said no.
    """
    if decision.verdict == "approved":
        return decision
    if decision.verdict == "refused":
        raise PlanRefused(f"the plan was refused: {decision.reason}")
    if yes:
        return attrs.evolve(decision, verdict="approved", who="person")
    advice = decision.advice or held_advice(priced.rehearsal.credits_p90)
    if not interactive():
        raise PlanHeld(f"the plan is held for approval: {decision.reason}; {advice}")
    _show_plan(console, priced.source)
    if confirm(f"The plan needs your approval: {decision.reason}. Run it?"):
        return attrs.evolve(decision, verdict="approved", who="person")
    raise PlanHeld(f"the plan was not approved and did not run; {advice}")


def _show_plan(console: Console, source: str) -> None:
    for number, line in enumerate(source.splitlines(), start=1):
        console.print(Text(f"{number:4}  {line}"))


def outcome_line(outcome: Outcome) -> str:
    """Return how a run ended in one line, a line for each of the commonest failures, and how to go on."""
    holes = f" with {counted(outcome.holes, 'hole')}" if outcome.holes else ""
    # Only who lost a run to another process is told that it was interrupted.
    status = "taken over by another process" if outcome.status == "interrupted" else outcome.status
    ended = (
        f"{outcome.run_id}: {status}{holes} | {counted(outcome.agents, 'worker')}, {outcome.asked:,} asked, "
        f"{outcome.reused:,} from the ledger | {_paid(outcome)} | {outcome.seconds:.1f} s"
    )
    return "\n".join([ended, *_failure_lines(outcome), *way_on(outcome)])


def _paid(outcome: Outcome) -> str:
    paid = f"{show_credits(outcome.paid)} credits paid"
    before, elsewhere = outcome.paid_before, outcome.paid_elsewhere
    now = f"{show_credits(outcome.paid - (before or 0) - elsewhere)} now"
    if before is None and not elsewhere:
        paid += " now"
    else:
        parts = [] if before is None else [f"{show_credits(before)} before"]
        others = [f"{show_credits(elsewhere)} by another process"] if elsewhere else []
        paid += f" ({', '.join([*parts, now, *others])})"
    paid += f", {show_credits(outcome.full_price)} at full price"
    if outcome.planning:
        paid += f", {show_credits(outcome.planning)} of it for planning"
    return paid + (f", {show_credits(outcome.uncertain)} for calls of unknown outcome" if outcome.uncertain else "")


def _failure_lines(outcome: Outcome) -> list[str]:
    shown = list(outcome.failures.items())[:_FAILURES_SHOWN]
    lines = [f"{counted(number, 'worker')} failed: {error}" for error, number in shown]
    hidden = sum(outcome.failures.values()) - sum(number for _, number in shown)
    return [*lines, f"and {hidden:,} more: planloom show {outcome.run_id}"] if hidden else lines


def run_cancellable(main: Callable[[RunControl], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine; Ctrl-C, SIGTERM or a closed terminal cancel its run through the control, a second time they cut
    calls in flight. A signal that the caller has ignored, as nohup does, stays ignored."""

    async def guarded() -> T:
        control = RunControl()
        loop = asyncio.get_running_loop()
        heeded = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
        for number in heeded:
            loop.add_signal_handler(number, control.cancel)
        try:
            return await main(control)
        finally:
            for number in heeded:
                loop.remove_signal_handler(number)

    with seldom_collected():
        return asyncio.run(guarded())


def event_text(event: Event, run: str = "") -> str:
    """Return what a person should know of an event in one line; empty for the many that only change counts.

    :param run: the id of its run, for commands that are advised.
    """
    data = event.data
    match event.type:
        case "run.phase_ended":
            return f"{data['phase']}: {_came_to(data)}, {data['seconds']:.1f} s"
        case "run.log":
            return str(data["message"])
        case "run.budget_paused":
            return _paused_text(data, run)
        case "run.budget_raised":
            return f"goes on: {_spent(data)}"
        case "run.breaker":
            if not data["open"]:
                return f"goes on: the account behind {data['endpoint']} answers again"
            until = f" until {data['until']}" if data["until"] else ""
            return f"paused at the account behind {data['endpoint']}{until}: {data['reason']}"
        case "run.disk_full":
            return f"paused at the disk: {data['reason']}" if data["full"] else f"goes on: {data['reason']}"
        case "run.dropped":
            return f"dropped {data['label'] or 'a worker'}: the limit is {data['limit']:,} workers"
    return ""


def _came_to(data: Mapping[str, Any]) -> str:
    """Return what the workers came to that a phase asked for, also those that never had their turn."""
    if "done" not in data:  # an older planloom wrote it
        return counted(data["agents"], "worker") if data["agents"] else _NO_WORKER
    asked = data["agents"] + data["unstarted"] + data["dropped"]
    others = {"cancelled": data["cancelled"], "not started": data["unstarted"]}
    said = [f"{data['done']} of {asked} done"] if asked else [_NO_WORKER]
    said += [f"{number} {what}" for what, number in others.items() if number]
    return ", ".join([*said, f"HOLES {data['holes']}"] if data["holes"] else said)


def _paused_text(data: Mapping[str, Any], run: str) -> str:
    of_store = data.get("of") == "store"
    said = f"paused at the budget{' of the store' if of_store else ''}: {_spent(data)}"
    if not (run and data.get("waits")):
        return said
    return f"{said}; {what_frees(run, micro_of(data['spent']) + micro_of(data['asked']), of_store)}"


class EventLines:
    """The lines of one run's events. Of workers that are dropped only the first few have one: there may be hundreds.

    :param run: the id of the run.
    """

    def __init__(self, run: str = "") -> None:
        self._run = run
        self._dropped = 0

    def line(self, event: Event) -> str:
        """Return an event's line; empty for what a person need not know."""
        if event.type == "run.dropped":
            self._dropped += 1
            if self._dropped > _DROPPED_TOLD:
                return "more workers are dropped, and counted" if self._dropped == _DROPPED_TOLD + 1 else ""
        return event_text(event, self._run)


def _spent(data: Mapping[str, Any]) -> str:
    spent, cap = (show_credits(micro_of(data[name])) for name in ("spent", "cap"))
    return f"{spent} of {cap} credits spent"


class Progress:
    """Live progress of one run: phases, workers, credits and what the kit counts. A context manager.

    A line is printed when a phase ends, which stays; what is still going on is drawn below, on a terminal only. Workers
    are counted as the run counts them: of those that an earlier start of it ended there are no events.

    :param control: a hand on the run. :param found: says what the kit has found so far, empty for nothing to say.
    """

    def __init__(self, console: Console, control: RunControl, found: Callable[[], str] = lambda: "") -> None:
        self._console = console
        self._control = control
        self._found = found
        self._paid = 0
        self._lines: EventLines | None = None
        self._live = Live(get_renderable=self._render, console=console, refresh_per_second=8, transient=True)
        self._shown = console.is_terminal

    def __enter__(self) -> Progress:
        if self._shown:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._live.stop()

    @property
    def listener(self) -> Listener:
        """What to pass to the run."""
        return Listener(name="progress", on_event=self._on)

    def _on(self, run: str, event: Event) -> None:
        match event.type:
            case "run.agent_ended":
                self._paid += micro_of(event.data["credits"])
            case "run.phase_ended" if phase := self._phases().find(event.data["phase"]):
                counts = {"agents": phase.started, **phase.came_to()}
                self._say(f"{phase.name}: {_came_to(counts)}, {event.data['seconds']:.1f} s")
            case _:
                self._lines = self._lines or EventLines(run)
                self._say(self._lines.line(event))

    def _phases(self) -> Phases:
        return self._control.phases or Phases()

    def _say(self, line: str) -> None:
        if line:
            self._console.print(Text(line))

    def _render(self) -> Group:
        table = Table.grid(padding=(0, 2))
        for phase in (phase for phase in self._phases().all() if phase.ended_s is None):
            failed = f"{phase.failed} failed" if phase.failed else ""
            table.add_row(Text(phase.name or "(no phase)"), f"{phase.running} running", f"{phase.done} done", failed)
        tail = [f"{show_credits(self._paid)} credits", self._found(), self._short_of_money()]
        return Group(table, Text(", ".join(part for part in tail if part)))

    def _short_of_money(self) -> str:
        waiting = self._control.door.waiting_for_money if self._control.door is not None else 0
        return f"{counted(waiting, 'worker')} waiting for money" if waiting else ""
