"""The wide set: rules with more false alarms than the tight set, run when a person asks for them."""

from __future__ import annotations

from ._late import Late
from .rules import Rule

WIDE_RULES = (
    Rule(
        name="clone-difference",
        lens="logic",
        title="A copy that differs from its like in one place",
        severity="medium",
        check=Late("_clones"),
        confirm=Late("_clones", "confirm"),
        wide=True,
    ),
    Rule(
        name="words",
        lens="logic",
        title="Code that does the opposite of its words",
        severity="medium",
        check=Late("_spoken"),
        wide=True,
        bugs=0,
        reports=1,
    ),
    Rule(
        name="start-value",
        lens="state",
        title="A running sum or product that starts at another value than the neutral one",
        severity="medium",
        check=Late("_starts"),
        wide=True,
        bugs=1,
        reports=1,
    ),
    Rule(
        name="unused-local",
        lens="state",
        title="A value that is named and never read",
        severity="low",
        check=Late("_unused"),
        wide=True,
        bugs=3,
        reports=22,
    ),
    Rule(
        name="same-operands",
        lens="logic",
        title="One value on both sides of an operator",
        severity="medium",
        check=Late("_same_operands"),
        wide=True,
    ),
    Rule(
        name="no-progress",
        lens="state",
        title="A loop that may never end",
        severity="high",
        check=Late("_progress"),
        wide=True,
    ),
    Rule(
        name="short-range",
        lens="boundaries",
        title="A loop over indices that is one short or one long",
        severity="medium",
        check=Late("_ranges"),
        wide=True,
    ),
    Rule(
        name="inferred-types",
        lens="logic",
        title="Types that do not fit where none is written, says a type checker",
        severity="medium",
        check=Late("_types", "check_inferred"),
        confirm=Late("_types", "confirm"),
        wide=True,
        slow=Late("_types", "always"),
        bugs=8,
        reports=117,
    ),
)
