"""Whether the event loop may commit by itself, told by how long its last commits took.

A commit waits some 150 us for a quick disk, and 5 to 30 ms for a slow one, in which the loop serves nobody. One that
waits long says little, since another process may have had the processor. Where the disk is slow all of them do.
"""

from __future__ import annotations

import time

__all__ = ["Pace"]

_QUICK_S = 0.000_5
"""What a quick commit waits for the disk, or for the processor."""
_LONG_S = 0.02
"""What no quick disk takes: one that takes seconds must not have four tries."""
_SHORT_S = 0.01
"""Processor time of a commit that does not hold the loop for long."""
_IN_A_ROW = 4
"""Commits that waited longer, one after the other, where the disk is taken for slow."""

_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 6.4
_PAUSES_A_WAIT = 20
"""The loop waits a twentieth of the time at most, however slow the disk is."""


class Pace:
    """Hears of each commit on the loop; while they are slow it asks for pauses, each twice as long as the last."""

    def __init__(self) -> None:
        self._slow_in_a_row = 0
        self._pause_s = _PAUSE_S
        self._until = float("-inf")

    def allows(self) -> bool:
        """Whether the next commit may be made on the loop."""
        return time.monotonic() >= self._until

    def took(self, seconds: float, *, busy_s: float) -> None:
        """Hear how long a commit held the loop.

        :param busy_s: processor time of its thread meanwhile; the rest was waiting.
        """
        waited = seconds - busy_s
        is_slow = waited > _QUICK_S
        self._slow_in_a_row = self._slow_in_a_row + 1 if is_slow else 0
        if self._slow_in_a_row >= _IN_A_ROW or waited > _LONG_S or busy_s > _SHORT_S:
            self.pause(_PAUSES_A_WAIT * waited)
        elif not is_slow:
            self._pause_s = _PAUSE_S

    def pause(self, at_least_s: float = 0.0) -> None:
        """Make no commit on the loop for a while."""
        self._until = time.monotonic() + max(self._pause_s, at_least_s)
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
