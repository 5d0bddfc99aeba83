"""A rehearsal's host of words: as a run's, and it remembers which tasks and saved plans failed.

A run goes on without them and counts a hole. A rehearsal that finds the same in every take knows it beforehand.
"""

from __future__ import annotations

from typing import Any

from planlang import Call, PlanFailed

from ._plan_mistakes import is_mistake
from .runtime import RunHost

__all__ = ["StageHost", "said_of"]

_MOST_KEPT = 100


def said_of(error: PlanFailed, place: str = "") -> str:
    """Return a failure as a rehearsal tells it: its line, its kind and why."""
    return f"{place}line {error.line}: {error.kind}: {error.detail}"


class StageHost(RunHost):
    """The host of one take.

    :ivar failed: what is said about each task and saved plan that failed, and whether the plan alone is to blame; the
        first hundred that differ.
    """

    def __init__(self, run_id: str, **given: Any) -> None:
        super().__init__(run_id, **given)
        self.failed: dict[str, bool] = {}

    def task_failed(self, call: Call, path: str, error: PlanFailed) -> None:
        """Note a task that failed, as a run does, and remember what it failed on."""
        self._remember(said_of(error, "in a saved plan, " if self._prefix else ""), error)
        super().task_failed(call, path, error)

    def saved_plan_failed(self, call: Call, name: str, error: PlanFailed) -> None:
        """Note a saved plan that failed, as a run does, and remember what it failed on."""
        self._remember(f"line {call.line}: the saved plan `{name}` fails at its {said_of(error)}", error)
        super().saved_plan_failed(call, name, error)

    def _remember(self, said: str, error: PlanFailed) -> None:
        if len(self.failed) < _MOST_KEPT:
            self.failed.setdefault(said, is_mistake(error))
