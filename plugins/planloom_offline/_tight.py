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
        name="loop-direction",
        lens="boundaries",
        title="A loop that steps away from its end",
        severity="high",
        check=Late("_loops"),
    ),
    Rule(
        name="missing-value",
        lens="logic",
        title="A use of what is known to be missing",
        severity="high",
        check=Late("_missing"),
        bugs=2,
        reports=2,
    ),
    Rule(
        name="inverted-default",
        lens="state",
        title="A default for what was given and none for what was not",
        severity="high",
        check=Late("_defaults"),
    ),
    Rule(
        name="fixed-condition",
        lens="logic",
        title="A condition that has the same outcome whatever the values are",
        severity="high",
        check=Late("_fixed"),
        bugs=3,
        reports=3,
    ),
    Rule(
        name="same-operands",
        lens="logic",
        title="One value on both sides of an operator",
        severity="medium",
        check=Late("_same_operands"),
    ),
    Rule(
        name="start-value",
        lens="state",
        title="A running sum or product that starts at another value than the neutral one",
        severity="medium",
        check=Late("_starts"),
        bugs=1,
        reports=1,
    ),
    Rule(
        name="idle-continue",
        lens="logic",
        title="A continue without effect",
        severity="low",
        check=Late("_idle"),
        bugs=1,
        reports=1,
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
