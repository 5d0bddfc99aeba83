"""Why workers of a run failed, as ``show`` and ``follow`` say it."""

from __future__ import annotations

from collections.abc import Iterator

from planloom.api import Run
from planloom.stores import ThreadRow
from planloom.wording import counted

__all__ = ["failure_lines"]

_FAILED_SHOWN = 20


def failure_lines(run: Run) -> Iterator[str]:
    """Yield why workers failed, a line for each reason, with the first that failed for it."""
    number = run.failed
    failed = run.workers("failed", min(number, _FAILED_SHOWN)) if number else ()
    by_reason: dict[str, list[ThreadRow]] = {}
    for thread in failed:
        by_reason.setdefault(thread.error or "", []).append(thread)
    for reason, threads in by_reason.items():
        first, *others = threads
        if others:
            named = ", ".join(f"{thread.id.rpartition('/')[2]} {thread.label}" for thread in threads)
            yield f"{counted(len(threads), 'worker')} failed: {reason}"
            yield f"  they are {named}"
        else:
            yield f"{first.id} {first.label}: {reason}"
    hidden = number - len(failed)
    if hidden > 0:
        yield f"and {hidden:,} more failed; `planloom export {run.id}` has them all"
