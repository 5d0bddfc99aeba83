"""What a plan says that nobody can do, whatever its workers answer: a name of nothing, a schema that judges nothing.

A word fails then as Python would, and a task of it alone, since a run goes on without one. A rehearsal refuses the
plan, so what a word raises has a :class:`PlanMistake` among its causes.
"""

from __future__ import annotations

__all__ = ["PlanMistake", "is_mistake"]

_LONGEST_CHAIN = 8


class PlanMistake(Exception):
    """The cause of a failure that the plan alone is to blame for: ``raise ValueError(...) from PlanMistake()``.

    :param because: what it rests on in turn.
    """

    def __init__(self, *said: str, because: Exception | None = None) -> None:
        super().__init__(*said)
        self.__cause__ = because


def is_mistake(error: BaseException) -> bool:
    """Return whether the plan alone is to blame for a failure."""
    cause: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if cause is None or isinstance(cause, PlanMistake):
            break
        cause = cause.__cause__
    return isinstance(cause, PlanMistake)
