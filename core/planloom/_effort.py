"""What a worker's calls took so far: its time, its attempts, and what they may have cost without an answer.

Only time in which something is asked counts: sending, reading, and the pauses between attempts. Waiting for a slot, for
money, for an account or for another worker's call does not.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

from ._deadline import Deadline
from .clients import PermanentError, was_unsent
from .money import show_credits

__all__ = ["Effort", "OutOfTime"]


class OutOfTime(PermanentError):
    """A worker has used up its time."""


class Effort:
    """One worker's effort; changed by its calls.

    :param worker_s: how long it may take in all.
    :ivar left_s: how much of that is left.
    :ivar attempts: requests that were sent. :ivar uncertain: worst prices of those that may have been billed although
        they brought no answer, in micro-credits.
    """

    __slots__ = ("_worker_s", "attempts", "left_s", "uncertain")

    def __init__(self, worker_s: float) -> None:
        self.attempts = self.uncertain = 0
        self._worker_s = self.left_s = worker_s

    def limit(self) -> _Limit:
        """Return what ends the body of a ``with`` when the time that is left is up, and counts the time it took.

        It raises :class:`OutOfTime` then; what was awaited there is cancelled.
        """
        return _Limit(self)

    def out_of_time(self, *, maybe_billed: bool) -> OutOfTime:
        """Return how it fails when its time is up.

        :param maybe_billed: whether something may have been sent.
        """
        return OutOfTime(
            f"the worker had no answer within its {self._worker_s:g} s; ask for less at once, or raise "
            "`limits.worker_timeout_s`",
            error_class="timeout",
            maybe_billed=maybe_billed,
        )

    def told(self) -> str:
        """Return what the attempts came to, for the text of a failure: empty when there was just one and no doubt."""
        unsure = f"up to {show_credits(self.uncertain)} credits may have been billed" if self.uncertain else ""
        count = f"after {self.attempts} attempts" if self.attempts > 1 else ""
        return ", ".join(filter(None, (count, unsure)))


class _Limit(Deadline):
    __slots__ = ("_began", "_effort")

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._began = asyncio.get_running_loop().time()
        super().__init__(self._began + effort.left_s)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        effort = self._effort
        effort.left_s = max(0.0, effort.left_s - (asyncio.get_running_loop().time() - self._began))
        try:
            super().__exit__(kind, error, trace)
        except TimeoutError as late:
            raise effort.out_of_time(maybe_billed=not was_unsent(late.__cause__)) from late
