"""The tight set: rules worth their false alarms, run by every offline audit."""

from __future__ import annotations

from ._late import Late
from .rules import Rule

TIGHT_RULES = (
    Rule(
        name="swapped-arguments",
        lens="logic",
        title="Arguments passed in each other's place",
        severity="high",
        check=Late("_swapped"),
        confirm=Late("_swapped", "confirm"),
        bugs=2,
        reports=2,
    ),
    Rule(
        name="guard-against-message",
        lens="boundaries",
        title="A guard that contradicts its own message",
        severity="medium",
        check=Late("_guards"),
        bugs=1,
        reports=3,
    ),
    Rule(
        name="min-max-against-target",
        lens="logic",
        title="A minimum named maximum, or the other way round",
        severity="medium",
        check=Late("_extremes"),
        bugs=1,
        reports=2,
    ),
    Rule(
        name="use-before-definition",
        lens="state",
        title="A local name read before it is assigned",
        severity="high",
        check=Late("_unbound"),
    ),
    Rule(
        name="extreme-accumulator",
        lens="state",
        title="A running extreme that no value can pass",
        severity="high",
        check=Late("_accumulators"),
    ),
    Rule(
        name="loop-direction",
        lens="boundaries",
        title="A loop that steps away from its end",
        severity="high",
        check=Late("_loops"),
    ),
)

TYPE_CHECKER = Rule(
    name="type-checker",
    lens="logic",
    title="Types that do not fit, says a type checker",
    severity="high",
    check=Late("_types"),
    confirm=Late("_types", "confirm"),
    slow=Late("_types", "says_types"),
    bugs=11,
    reports=12,
)
"""Run with the tight set where a type checker is installed; it speaks of annotated code."""
