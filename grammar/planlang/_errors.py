"""The exceptions that can leave this package, and no others.

PlanError
├── PlanRejected      the source is not an acceptable plan; carries every problem
├── PlanFailed        the plan ran and failed as Python would have failed; carries place and kind
├── PlanLimitError    the plan hit one of its limits; carries the limit, the place and the figure
└── PlanAborted       the host ended the program; hosts subclass it
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._limit_texts import limit_text

if TYPE_CHECKING:
    from ._problems import Problem

__all__ = ["PlanAborted", "PlanError", "PlanFailed", "PlanLimitError", "PlanRejected"]


class PlanError(Exception):
    """Anything that can go wrong with a plan."""


class PlanRejected(PlanError):
    """The source is not an acceptable plan.

    :ivar problems: every problem the checker found, sorted by place; advice included.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        blocking = [p for p in self.problems if p.severity == "problem"]
        first = f": {blocking[0].line}:{blocking[0].column}: {blocking[0].message}" if blocking else ""
        super().__init__(f"the plan has {len(blocking)} {'problem' if len(blocking) == 1 else 'problems'}{first}")


class PlanFailed(PlanError):
    """The plan ran and failed as the same Python would have failed.

    :ivar line: 1-based line of the expression that failed.
    :ivar column: 1-based column of it, in characters.
    :ivar kind: the name of the exception CPython raises there, such as ``TypeError``.
    :ivar detail: the message without its place.
    """

    def __init__(self, line: int, column: int, kind: str, detail: str) -> None:
        self.line, self.column, self.kind, self.detail = line, column, kind, detail
        super().__init__(f"{line}:{column}: {kind}: {detail}")


class PlanLimitError(PlanError):
    """The plan hit one of its limits; no plan can catch it and no later step runs.

    :ivar limit: the name of the limit, a field of :class:`planlang.Limits`.
    :ivar value: the figure that was reached or asked for.
    :ivar allowed: what the limit allows; 0 where the machine itself had no more before that.
    :ivar detail: the message without its place.
    """

    def __init__(self, limit: str, line: int, column: int, value: float, allowed: float) -> None:
        self.limit, self.line, self.column, self.value, self.allowed = limit, line, column, value, allowed
        self.detail = limit_text(limit, value, allowed)
        super().__init__(f"{line}:{column}: {self.detail}")


class PlanAborted(PlanError):
    """Raised by a host's word to end the whole program at once.

    It passes through every task untouched: nothing new starts, what runs is left to end, and the first one
    raised leaves :meth:`planlang.Program.run`. Hosts subclass it to say why.
    """
