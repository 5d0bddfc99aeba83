"""The phases of a run: what their workers were asked and what came of it, and which tasks are in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from .questions import Reply

__all__ = ["NO_PHASE", "Phase", "Phases"]

NO_PHASE = ""


@attrs.define
class Phase:
    """One phase; changed only by the run that owns it.

    :ivar index: from 1, in the order they were opened; 0 for what belongs to no phase.
    :ivar started: workers that were asked; each is running, done, failed or cancelled.
    :ivar unstarted: workers that were still waiting for their turn, for money or for another's answer when the run
        ended, or whose answer was no longer wanted.
    :ivar tasks_failed: tasks of the plan that failed although every worker in them answered.
    :ivar idle_s: worker time lost at barriers, in seconds.
    """

    name: str
    index: int
    began_s: float
    ended_s: float | None = None
    started: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    cancelled: int = 0
    unstarted: int = 0
    dropped: int = 0
    undecided: int = 0
    tasks_failed: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    full_price: int = 0
    idle_s: float = 0.0

    def recall(self, reply: Reply) -> None:
        """Count a worker that came to its value at an earlier start, by this one reply."""
        usage = reply.usage
        self.started += 1
        self.done += 1
        self.calls += 1
        self.prompt_tokens += usage.prompt_tokens or 0
        self.cached_prompt_tokens += usage.cached_prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.full_price += reply.price

    @property
    def holes(self) -> int:
        """What is missing from its outcome."""
        return self.failed + self.dropped + self.undecided + self.tasks_failed

    def came_to(self) -> dict[str, int]:
        """Return what its workers came to, for its last event."""
        names = ("done", "failed", "cancelled", "unstarted", "dropped", "undecided")
        return {**{name: getattr(self, name) for name in names}, "holes": self.holes}

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data, for the run's record."""
        return attrs.asdict(self)


class Phases:
    """The phases of one run by name, in the order they were opened.

    A phase ends with the last task that entered it. Tasks are counted by the group they run in, so that those which end
    without a word leave with their group.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Phase] = {}
        self._inside: dict[str, dict[str, int]] = {}

    def open(self, name: str, seconds: float) -> tuple[Phase, bool]:
        """Return the phase of that name, opened now if there was none or it had ended, and whether it was."""
        phase = self._by_name.get(name)
        if phase is None:
            index = 0 if name == NO_PHASE else 1 + len(self._by_name.keys() - {NO_PHASE})
            phase = self._by_name[name] = Phase(name, index, seconds)
            return phase, True
        if phase.ended_s is not None:
            phase.ended_s = None
            return phase, True
        return phase, False

    def find(self, name: str) -> Phase | None:
        """Return the phase of that name, if there was one."""
        return self._by_name.get(name)

    def get(self, name: str, seconds: float) -> Phase:
        """Return the phase of that name for counting, made silently where a worker belongs to none."""
        return self._by_name.get(name) or self.open(name, seconds)[0]

    def all(self) -> list[Phase]:
        """Return the phases in the order they were opened."""
        return list(self._by_name.values())

    def opened(self) -> list[Phase]:
        """Return the named phases that have not ended."""
        return [phase for phase in self._by_name.values() if phase.ended_s is None and phase.name != NO_PHASE]

    # --- which tasks are in them

    def enter(self, name: str, group: str) -> None:
        """Count one more task of the group in the phase."""
        tasks = self._inside.setdefault(name, {})
        tasks[group] = tasks.get(group, 0) + 1

    def leave(self, name: str, group: str) -> bool:
        """Count one task less; return whether it was the last in the phase."""
        tasks = self._inside.get(name, {})
        if group not in tasks:
            return False
        tasks[group] -= 1
        if not tasks[group]:
            del tasks[group]
        return self._emptied(name)

    def leave_all(self, group: str) -> list[str]:
        """Count all tasks of a group out, which have ended; return the phases that hold none any more."""
        mine = [name for name, tasks in self._inside.items() if tasks.pop(group, 0)]
        return [name for name in mine if self._emptied(name)]

    def is_empty(self, name: str) -> bool:
        """Whether no task is in the phase."""
        return name not in self._inside

    def _emptied(self, name: str) -> bool:
        if self._inside[name]:
            return False
        del self._inside[name]
        return True
