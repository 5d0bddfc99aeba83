"""How a run is going, in one line, from what any process can read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ._pauses import AT_THE_BUDGET, AT_THE_STORES_BUDGET
from .money import show_credits
from .stores import RunHolder, RunProgress, RunRow, Store, UncertainCall
from .wording import counted

__all__ = [
    "ENDED",
    "UNDER_WAY",
    "cancelling_fact",
    "cancelling_now",
    "cancelling_text",
    "driven_text",
    "has_ended",
    "holes_now",
    "lasted_s",
    "left_off",
    "left_waiting",
    "paid_now",
    "status_line",
    "status_now",
    "uncertain_text",
    "was_refused",
    "workers_now",
]

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
    return "interrupted" if newest is None or left_off(store, newest) else newest.status


def left_off(store: Store, row: RunRow) -> bool:
    """Whether a run that nobody drives came to no end, as one does whose process died."""
    return row.status == "running" or (row.status == "paused" and _waits(store, row.id))


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


def was_refused(row: RunRow) -> bool:
    """Whether a run was refused before anything of it was paid for: there is nothing to look at but the reason."""
    return row.status == "refused" and not row.facts.get("cost", {}).get("paid")


def status_line(store: Store, row: RunRow) -> str:
    """Return the line that answers "how is it going?", while a run is under way and afterwards."""
    status, progress = status_now(store, row), store.progress(row.id)
    workers = workers_now(store, row, status, progress)
    waiting = workers.pop("waiting")
    for_money = " for money" if _is_out_of_money(row, status) else ""
    holes = holes_now(store, row, status, progress)
    parts = [
        row.id,
        status,
        *_phase(progress),
        ", ".join(f"{number} {what}" for what, number in workers.items()),
        f"{show_credits(paid_now(store, row, status) or 0)} credits",
        f"{lasted_s(store, row, status, progress):.1f} s",
        *([f"{waiting} waiting{for_money}"] if waiting else []),
        *([f"HOLES {holes}"] if holes else []),
        *([f"PAUSED at {row.facts['paused_at']}"] if status == "paused" and row.facts.get("paused_at") else []),
        *(["BEING CANCELLED"] if cancelling_now(row, status) else []),
    ]
    return " | ".join(parts)


def workers_now(store: Store, row: RunRow, status: str, progress: RunProgress) -> dict[str, int]:
    """Return how many workers are ``running``, ``done``, ``failed``, ``dropped`` and ``waiting``; see
    :func:`left_waiting`.

    Where the run ended its record says what they came to. Rows of workers that no longer had to begin when it went on,
    as those that lose a race by then, are still there.
    """
    threads, is_over = progress.threads, has_ended(store, row, status)
    phases = row.facts.get("phases") if is_over else None
    running = threads.get("running", 0) if status in _DRIVEN and not _is_out_of_money(row, status) else 0
    came_to = {
        name: threads.get(name, 0) if phases is None else sum(phase.get(name, 0) for phase in phases)
        for name in ("done", "failed", "dropped")
    }
    return {"running": running, **came_to, "waiting": 0 if is_over else left_waiting(row, status, progress)}


def holes_now(store: Store, row: RunRow, status: str, progress: RunProgress) -> int:
    """Return what a run lacks: as its record says where it ended, else what its store counts of it by now."""
    counts = row.facts.get("counts", {}) if has_ended(store, row, status) else {}
    return int(counts.get("holes", progress.holes))


def has_ended(store: Store, row: RunRow, status: str) -> bool:
    """Whether nothing went on since the record said how the run ended, if it ever did."""
    return status not in UNDER_WAY or (status == "paused" and store.driver(row.id) is None)


def left_waiting(row: RunRow, status: str, progress: RunProgress) -> int:
    """Return how many workers of a run wait for a slot, for another's answer or for money.

    While it waits for money nothing of it is in flight, so that all that have begun and not ended wait for that.
    """
    if status not in _DRIVEN:
        return 0
    threads = progress.threads
    begun = threads.get("running", 0) if _is_out_of_money(row, status) else 0
    return threads.get("waiting", 0) + begun


def _is_out_of_money(row: RunRow, status: str) -> bool:
    return status == "paused" and row.facts.get("paused_at") in (AT_THE_BUDGET, AT_THE_STORES_BUDGET)


def lasted_s(store: Store, row: RunRow, status: str, progress: RunProgress) -> float:
    """Return the seconds of a run; the last event of one that waits may be long ago."""
    holder = store.driver(row.id) if status in _DRIVEN else None
    since_s = 0.0 if holder is None else (datetime.now(UTC) - holder.alive_since).total_seconds()
    return max(progress.t, since_s)


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


def cancelling_fact(row: RunRow, calls: int, drain_s: float) -> dict[str, Any]:
    """Return what a run's record keeps of a cancel that is under way: of which start of it, and what is waited for.

    :param calls: how many are in flight. :param drain_s: the seconds that they have to end.
    """
    until = datetime.now(UTC) + timedelta(seconds=drain_s)
    return {"start": row.facts.get("starts"), "calls": calls, "until": until.isoformat(timespec="seconds")}


def cancelling_now(row: RunRow, status: str) -> Mapping[str, Any] | None:
    """Return what is kept of the cancel that is under way, ``None`` where none is; an earlier start's is over."""
    kept: Mapping[str, Any] | None = row.facts.get("cancelling")
    return kept if kept and status in _DRIVEN and kept["start"] == row.facts.get("starts") else None


def cancelling_text(run_id: str, cancelling: Mapping[str, Any]) -> str:
    """Return that a run is being cancelled, what is waited for, and how to have it end at once."""
    until = datetime.fromisoformat(cancelling["until"])
    have, them, is_ = ("has", "it", "which was") if cancelling["calls"] == 1 else ("have", "them", "which were")
    return (
        f"a cancel is under way: {counted(cancelling['calls'], 'call')}, {is_} in flight then, {have} until "
        f"{until:%H:%M:%S} UTC to end; another `planloom cancel {run_id}` ends {them} at once, charged as of unknown "
        "outcome"
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
