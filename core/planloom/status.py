"""How a run is going, in one line, from what any process can read of it."""

from __future__ import annotations

from collections import Counter

from .money import show_credits
from .processes import is_gone
from .stores import Event, RunRow, Store

__all__ = ["status_line", "status_now"]

_PAUSES = ("run.budget_paused", "run.budget_raised")


def status_now(row: RunRow) -> str:
    """Return a run's status; a run whose process is gone without a word does not run, but was interrupted."""
    driver = row.facts.get("driver")
    gone = driver is not None and is_gone(driver["machine"], driver["pid"])
    return "interrupted" if row.status == "running" and gone else row.status


def status_line(store: Store, row: RunRow) -> str:
    """Return the line that answers "how is it going?", while a run is under way and afterwards."""
    status, events = status_now(row), store.events(row.id)
    threads = Counter(thread.status for thread in store.threads(row.id))
    running = threads["running"] if status in ("running", "paused") else 0
    happened = Counter(event.type for event in events)
    dropped = happened["run.dropped"]
    holes = row.facts.get("counts", {}).get("holes", threads["failed"] + dropped + happened["run.undecided"])
    parts = [
        row.id,
        status,
        *_phase(events),
        f"{running} running, {threads['done']} done, {threads['failed']} failed, {dropped} dropped",
        f"{show_credits(store.money(row.id)['spent'])} credits",
        f"{events[-1].t if events else 0.0:.1f} s",
        *([f"HOLES {holes}"] if holes else []),
        *_pause(events),
    ]
    return " | ".join(parts)


def _phase(events: list[Event]) -> list[str]:
    begun = [event.data for event in events if event.type == "run.phase_started"]
    return [f"phase {begun[-1]['index']}: {begun[-1]['phase']}"] if begun else []


def _pause(events: list[Event]) -> list[str]:
    last = next((event.type for event in reversed(events) if event.type in _PAUSES), None)
    return ["PAUSED at the budget"] if last == "run.budget_paused" else []
