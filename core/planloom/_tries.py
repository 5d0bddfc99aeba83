"""How often one question is sent until it is given up, and what is waited for in between.

Four attempts are made. One that was refused for the server's load does not count when the endpoint has answered
somebody since: then the number in flight is being found, and the caller only came too early. An answer that cannot be
read may have been billed and mostly comes again: it is asked for once more, and no third time.
"""

from __future__ import annotations

import random

from ._request import FOR_ITS_LOAD
from .clients import ModelError, TransientError

__all__ = ["ATTEMPTS", "Tries", "holding_s"]

ATTEMPTS = 4
UNREADABLE_ATTEMPTS = 2
LONGEST_WAIT_S = 30.0
LONGEST_RETRY_AFTER_S = 120.0


class Tries:
    """The attempts of one call that brought no answer.

    :param answers: how many calls the endpoint had answered when this one began.
    :ivar answers: the same when it was last found to be answering others. :ivar waited_s: before the last one.
    """

    __slots__ = ("_faults", "_refusals", "_unreadable", "answers", "waited_s")

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.waited_s = 0.0
        self._faults = self._refusals = self._unreadable = 0

    def count(self, error: TransientError, answers: int) -> bool:
        """Count one; return whether there is no other.

        :param answers: how many calls the endpoint has answered by now.
        """
        if error.error_class in FOR_ITS_LOAD:
            if answers != self.answers:
                self.begin_again(answers)
            self._refusals += 1
        else:
            self._faults += 1
            self._unreadable += error.error_class == "malformed"
        is_spent = self._unreadable >= UNREADABLE_ATTEMPTS or self._faults + self._refusals >= ATTEMPTS
        return is_spent or _asks_for_too_long(error)

    def may_be_for_others(self, error: TransientError) -> bool:
        """Whether the last one would not count, were a call answered that was sent before it."""
        return error.error_class in FOR_ITS_LOAD and self._faults < ATTEMPTS and not _asks_for_too_long(error)

    def begin_again(self, answers: int) -> None:
        """Forget the refusals: the endpoint has answered others since."""
        self._refusals, self.answers = 0, answers

    def wait_s(self, error: TransientError, spread: random.Random) -> float:
        """Return how long to wait: spread at random, doubling, and at least as long as the server asks."""
        doubled = 2.0 ** (max(1, self._faults + self._refusals) - 1)
        return max(spread.uniform(0, min(LONGEST_WAIT_S, doubled)), holding_s(error) or 0.0)


def holding_s(error: ModelError) -> float | None:
    """Return how long the server asks to wait, when that is short enough to be waited for."""
    asked_s = error.retry_after_s
    return asked_s if asked_s is not None and asked_s <= LONGEST_RETRY_AFTER_S else None


def _asks_for_too_long(error: ModelError) -> bool:
    return (error.retry_after_s or 0) > LONGEST_RETRY_AFTER_S
