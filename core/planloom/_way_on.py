"""What a person can do next with a run: said where it ends, and by whoever looks at it from another terminal."""

from __future__ import annotations

from ._pauses import AT_THE_BUDGET, AT_THE_STORES_BUDGET
from .money import micro_of, show_credits, show_enough
from .outcomes import Outcome, outcome_of
from .status import cancelling_now, cancelling_text, driven_text, left_waiting, status_now
from .stores import RunProgress, RunRow, Store
from .wording import counted

__all__ = ["way_on", "way_on_now", "what_frees"]

_UNDER_A_LIMIT = (AT_THE_BUDGET, AT_THE_STORES_BUDGET)


def way_on(outcome: Outcome) -> list[str]:
    """Return how to go on with a run that ended; nothing where nothing is missing."""
    run = outcome.run_id
    if outcome.status == "interrupted":
        return [f"this process drives it no longer: `planloom follow {run}` shows how it goes"]
    if outcome.status == "runaway":
        return [f"`planloom resume {run} --workers N` goes on with more of them, and asks nothing twice"]
    if outcome.status == "failed" and _may_have_more(outcome.error):
        return [f"`planloom resume {run}` then goes on, and asks nothing twice"]
    if outcome.status == "failed" and not outcome.holes and _is_plan_fault(outcome.error):
        return [
            f"whatever is asked again, this plan fails there: mend it, and `planloom resume {run} --plan FILE "
            "--as-new-run` pays for no answer that still fits"
        ]
    if not (outcome.holes or outcome.status in ("paused", "cancelled", "failed")):
        return []
    if _all_answered(outcome):
        return ["all that it asked was answered, so a resume asks nothing: the same command with --refresh asks anew"]
    more = ", with a higher --cap," if outcome.status == "paused" and outcome.paused_at == AT_THE_BUDGET else ""
    if any(phase.get("dropped") for phase in outcome.phases):
        more = ", with --workers N,"
    return [f"`planloom resume {run}`{more} asks what is missing, and nothing twice"]


def _is_plan_fault(error: str | None) -> bool:
    from .job import is_plan_fault  # brings all that runs one, which is there where one ended just now

    return is_plan_fault(error)


def _may_have_more(error: str | None) -> bool:
    from .job import may_have_more

    return may_have_more(error)


def _all_answered(outcome: Outcome) -> bool:
    """Whether every question has its answer, also where that did not fit: going on would ask nothing."""
    dropped = any(phase.get("dropped") for phase in outcome.phases)
    return outcome.status == "completed" and not dropped and all(e.startswith("schema: ") for e in outcome.failures)


def way_on_now(store: Store, row: RunRow) -> list[str]:
    """Return what a run waits for, who drives it, and how to go on with it, as it stands in the store."""
    status, run = status_now(store, row), row.id
    holder = store.driver(run)
    if holder is not None and status in ("running", "paused"):
        cancelling = cancelling_now(row, status)
        if cancelling is not None:
            return [cancelling_text(run, cancelling)]
        return [*_waits(store, row, status), driven_text(run, holder)]
    if status in ("created", "running", "interrupted"):
        if not row.plan:
            return ["it has no plan yet: the command that began it goes on"]
        return [f"nobody drives it: `planloom resume {run}` goes on, and asks nothing twice"]
    if status == "held":
        return [
            f"`planloom resume {run}` asks again, `planloom resume {run} --yes` approves it, `planloom show {run} "
            "--plan` prints its plan"
        ]
    if status == "refused":
        again = f"`planloom resume {run} --as-new-run`"
        return [f"{again} tries it with another --cap or --workers, or with a mended --plan FILE"]
    said = "`planloom resume" in (row.error or "") or not row.plan
    return [] if said else way_on(outcome_of(row))


def _waits(store: Store, row: RunRow, status: str) -> list[str]:
    """Return what a run waits for that asks nothing now, and what frees it."""
    progress, at = store.progress(row.id), row.facts.get("paused_at")
    if status != "paused":
        waiting = left_waiting(row, status, progress)
        if not waiting or progress.threads.get("running"):
            return []
        wait = "waits" if waiting == 1 else "wait"
        return [f"{counted(waiting, 'worker')} {wait} for slots that other runs hold, or for answers that they ask for"]
    if at in _UNDER_A_LIMIT:
        return [_money_waited_for(store, row, progress)]
    pause = progress.pause
    if pause is None or "reason" not in pause.data:  # on its way to the store
        return []
    until = f" at {pause.data['until']}" if pause.data.get("until") else " once it can"
    return [f"it is paused at {at}: {pause.data['reason']}; it goes on by itself{until}"]


def _money_waited_for(store: Store, row: RunRow, progress: RunProgress) -> str:
    whole = store.store_books() if row.facts["paused_at"] == AT_THE_STORES_BUDGET else None
    books = whole or store.books(row.budget)
    spent, waiting = books.spent + books.uncertain, left_waiting(row, "paused", progress)
    wait = "waits" if waiting == 1 else "wait"
    who = f"{counted(waiting, 'worker')} {wait}" if waiting else "it waits"  # who waits is written down after a second
    said = f"{who} for money: {show_credits(spent)} of {show_credits(books.cap)} credits are spent"
    if progress.pause is None or "asked" not in progress.pause.data:  # on its way to the store
        return said
    asked = micro_of(progress.pause.data["asked"])
    said += (
        f", and the next call may cost {show_credits(asked)}; {what_frees(row.id, spent + asked, whole is not None)}"
    )
    return f"{said}, {show_enough(spent + waiting * asked)} all of them at that price" if waiting > 1 else said


def what_frees(run: str, enough: int, of_store: bool) -> str:
    """Return what lets a run go on that waits for money.

    :param enough: the lowest cap that does, in micro-credits. :param of_store: whether it is the store's.
    """
    command = "store cap" if of_store else f"raise {run} --cap"
    return f"`planloom {command} {show_enough(enough)}` or more lets the next go on"
