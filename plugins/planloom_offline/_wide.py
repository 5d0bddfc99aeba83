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
