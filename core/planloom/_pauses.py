"""What a run waits for that is not an answer: its budget, an account, the disk, each named in a person's words."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["AT_THE_BUDGET", "AT_THE_STORES_BUDGET", "Pauses"]

AT_THE_BUDGET = "the budget"
AT_THE_STORES_BUDGET = "the budget of the store"


class Pauses:
    """The reasons for which a run is paused; it is running when there are none.

    :param report: told the newest reason whenever it changes, and ``None`` when the last one is gone.
    """

    def __init__(self, report: Callable[[str | None], None]) -> None:
        self._report = report
        self._at: list[str] = []

    @property
    def at(self) -> str | None:
        """The newest reason, ``None`` when there is none."""
        return self._at[-1] if self._at else None

    def enter(self, at: str) -> None:
        """Pause the run at something: ``the budget``."""
        if at not in self._at:
            self._at.append(at)
            self._report(at)

    def leave(self, at: str) -> bool:
        """Go on with what waited for it; the run stays paused at what else there is. Return whether it waited."""
        if at not in self._at:
            return False
        shown = self._at[-1]
        self._at.remove(at)
        if at == shown:
            self._report(self.at)
        return True
