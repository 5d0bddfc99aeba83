"""planlang: a small, metered, Python-shaped language for plans."""

from ._errors import PlanAborted, PlanError, PlanFailed, PlanLimitError, PlanRejected
from ._limits import DEFAULT_RULES, Limits, Rules
from ._problems import Problem
from ._vocabulary import Call, Function, Opaque, Value, Vocabulary, Word

__all__ = [
    "DEFAULT_RULES",
    "Call",
    "Function",
    "Limits",
    "Opaque",
    "PlanAborted",
    "PlanError",
    "PlanFailed",
    "PlanLimitError",
    "PlanRejected",
    "Problem",
    "Rules",
    "Value",
    "Vocabulary",
    "Word",
]
