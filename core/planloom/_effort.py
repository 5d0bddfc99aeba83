"""What a worker's calls took so far: its time, its attempts, and what they may have cost without an answer.

Only time in which something is asked counts: sending, reading, and the pauses between attempts. Waiting for a slot, for
money, for an account or for another worker's call does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from ._deadline import Deadline
from .clients import PermanentError
from .money import show_credits

__all__ = ["Effort", "OutOfTime"]

T = TypeVar("T")


class OutOfTime(PermanentError):
    """A worker has used up its time."""


class Effort:
    """One worker's effort; changed by its calls.

    :param worker_s: how long it may take in all.
    :ivar attempts: requests that were sent. :ivar uncertain: worst prices of those that may have been billed although
        they brought no answer, in micro-credits.
    """

    __slots__ = ("_left_s", "_worker_s", "attempts", "uncertain")

    def __init__(self, worker_s: float) -> None:
        self.attempts = self.uncertain = 0
        self._worker_s = self._left_s = worker_s

    async def within(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the time that is left.

        :raises OutOfTime: it took longer, and was cancelled.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        limit = Deadline(began + self._left_s)
        try:
            with limit:
                return await work
        except TimeoutError as error:
            if not limit.expired:
                raise
            raise self._out_of_time() from error
        finally:
            self._left_s = max(0.0, self._left_s - (clock() - began))

    def _out_of_time(self) -> OutOfTime:
        return OutOfTime(
            f"the worker had no answer within its {self._worker_s:g} s; ask for less at once, or raise "
            "`limits.worker_timeout_s`",
            error_class="timeout",
            maybe_billed=True,
        )

    def told(self) -> str:
        """Return what the attempts came to, for the text of a failure: empty when there was just one and no doubt."""
        unsure = f"up to {show_credits(self.uncertain)} credits may have been billed" if self.uncertain else ""
        count = f"after {self.attempts} attempts" if self.attempts > 1 else ""
        return ", ".join(filter(None, (count, unsure)))
