"""planlang: plans written by models, checked before they run and metered while they do.

A plan is a short Python program that calls the words a host gives it. :func:`check` says everything that is wrong with
one, :func:`compile` makes a :class:`Program` of one that passes, :meth:`Program.run` runs it within :class:`Limits`.

What they take and return are named tuples: attrs takes as long to import as all that a first check needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import PlanAborted, PlanError, PlanFailed, PlanLimitError, PlanRejected
from ._limits import DEFAULT_RULES, Limits, Rules
from ._problems import Problem
from ._vocabulary import Call, Function, Opaque, Value, Vocabulary, Word

if TYPE_CHECKING:
    from ._brief import brief
    from ._check import check
    from ._codes import codes, explain
    from ._program import Outcome, Program, compile  # noqa: A004 - named as Python names it

__all__ = [
    "DEFAULT_RULES",
    "Call",
    "Function",
    "Limits",
    "Opaque",
    "Outcome",
    "PlanAborted",
    "PlanError",
    "PlanFailed",
    "PlanLimitError",
    "PlanRejected",
    "Problem",
    "Program",
    "Rules",
    "Value",
    "Vocabulary",
    "Word",
    "brief",
    "check",
    "codes",
    "compile",
    "explain",
]

_LAZY = {
    "Outcome": "_program",
    "Program": "_program",
    "brief": "_brief",
    "check": "_check",
    "codes": "_codes",
    "compile": "_program",
    "explain": "_codes",
}


def __getattr__(name: str) -> Any:
    """Import a part when it is first asked for: those who check need nothing of what runs plans, and so on."""
    if name not in _LAZY:
        raise AttributeError(f"module 'planlang' has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    return globals()[name]
