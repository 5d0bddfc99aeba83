"""The phases of a run, and how many of its workers were asked, answered, failed, dropped or left undecided in each."""

from __future__ import annotations

from typing import Any

import attrs

__all__ = ["Phase", "Phases"]

NO_PHASE = ""


@attrs.define
class Phase:
    """One phase; changed only by the run that owns it.

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
    dropped: int = 0
    undecided: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    full_price: int = 0
    idle_s: float = 0.0

    @property
    def holes(self) -> int:
        """What is missing from its outcome."""
        return self.failed + self.dropped + self.undecided

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data, for the run's record."""
        return attrs.asdict(self)


class Phases:
    """The phases of one run by name, in the order they were opened."""

    def __init__(self) -> None:
        self._by_name: dict[str, Phase] = {}

    def open(self, name: str, seconds: float) -> tuple[Phase, bool]:
        """Return the phase of that name, opened now if there was none or it had ended, and whether it was."""
        phase = self._by_name.get(name)
        if phase is None:
            phase = self._by_name[name] = Phase(name, len(self._by_name) + 1, seconds)
            return phase, True
        if phase.ended_s is not None:
            phase.ended_s = None
            return phase, True
        return phase, False

    def get(self, name: str, seconds: float) -> Phase:
        """Return the phase of that name for counting, made silently where a worker belongs to none."""
        return self._by_name.get(name) or self.open(name, seconds)[0]

    def all(self) -> list[Phase]:
        """Return the phases in the order they were opened."""
        return list(self._by_name.values())

    def opened(self) -> list[Phase]:
        """Return the named phases that have not ended."""
        return [phase for phase in self._by_name.values() if phase.ended_s is None and phase.name != NO_PHASE]
