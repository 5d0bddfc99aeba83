"""How a run is going, in one line, from what any process can read of it."""

from __future__ import annotations

from collections.abc import Sequence

from .money import show_credits
from .stores import RunHolder, RunProgress, RunRow, Store, UncertainCall
from .wording import counted

__all__ = ["ENDED", "UNDER_WAY", "driven_text", "paid_now", "status_line", "status_now", "uncertain_text"]

ENDED = ("completed", "failed", "cancelled", "runaway", "refused")
"""Statuses in which a run needs nothing more by itself."""

_DRIVEN = ("running", "paused")
UNDER_WAY = (*_DRIVEN, "interrupted")
"""Statuses of runs that may have gone on since their record said how they ended, if it ever did."""


def status_now(store: Store, row: RunRow) -> str:
    """Return a run's status; one whose driver is gone without a word does not run, but was interrupted."""
    if row.status not in _DRIVEN or store.driver(row.id) is not None:
        return row.status
    # It may have ended between the two looks.
    newest = store.run(row.id)
    if newest is None or newest.status == "running":
        return "interrupted"
    return "interrupted" if newest.status == "paused" and _waits(store, row.id) else newest.status


def _waits(store: Store, run_id: str) -> bool:
    """Whether a paused run was waiting in its process, and had not stopped to be resumed."""
    seq = store.progress(run_id).seq
    return seq > 0 and store.events(run_id, seq - 1)[0].type != "run.ended"


def paid_now(store: Store, row: RunRow, status: str) -> int | None:
    """Return what a run has cost in micro-credits, its planning included, or ``None`` where nothing says so: until its
    record tells, by its calls."""
    paid: int | None = row.facts.get("cost", {}).get("paid")
    if row.plan and (paid is None or status in UNDER_WAY):
        return int(row.facts.get("planned", {}).get("paid", 0)) + store.money(row.id)["spent"]
    return paid


def status_line(store: Store, row: RunRow) -> str:
    """Return the line that answers "how is it going?", while a run is under way and afterwards."""
    status, progress = status_now(store, row), store.progress(row.id)
    threads = progress.threads
    running = threads.get("running", 0) if status in _DRIVEN else 0
    dropped = threads.get("dropped", 0)
    holes = progress.holes if status in UNDER_WAY else row.facts.get("counts", {}).get("holes", progress.holes)
    parts = [
        row.id,
        status,
        *_phase(progress),
        f"{running} running, {threads.get('done', 0)} done, {threads.get('failed', 0)} failed, {dropped} dropped",
        f"{show_credits(paid_now(store, row, status) or 0)} credits",
        f"{progress.t:.1f} s",
        *([f"HOLES {holes}"] if holes else []),
        *([f"PAUSED at {row.facts['paused_at']}"] if status == "paused" and row.facts.get("paused_at") else []),
    ]
    return " | ".join(parts)


def _phase(progress: RunProgress) -> list[str]:
    begun = progress.phase
    return [f"phase {begun.data['index']}: {begun.data['phase']}"] if begun is not None else []


def driven_text(run_id: str, holder: RunHolder) -> str:
    """Return that somebody drives a run already, and what to do."""
    host, since = holder.machine.split(" ")[0], f"{holder.alive_since:%Y-%m-%d %H:%M:%S} UTC"
    return (
        f"the run {run_id} is driven by process {holder.pid} on {host} since {since}; "
        f"`planloom follow {run_id}` shows how it goes, `planloom cancel {run_id}` ends it"
    )


def uncertain_text(calls: Sequence[UncertainCall], how: str) -> str:
    """Return what calls of unknown outcome keep charged, and why.

    :param how: what frees them.
    """
    keeps, them = ("keeps", "it") if len(calls) == 1 else ("keep", "them")
    charged = show_credits(sum(call.worst for call in calls))
    return (
        f"{counted(len(calls), 'call')} of unknown outcome {keeps} {charged} credits charged, since the provider may "
        f"have billed {them}; {how} frees {them}"
    )
