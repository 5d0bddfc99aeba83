"""What a rule is: a check of parsed code, and what is known about how often such a check is right.

The numbers come from bugs planted in libraries that nobody looked at while writing rules: one-line edits that a doctest
proves wrong. A report counted as right when it stood in the bug's function within five lines of it. Such code holds
more bugs than most, so that elsewhere fewer reports are right. ``make bench-offline`` counts anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt
from typing import TYPE_CHECKING, Any

import attrs

from planloom.data_classes import frozen

if TYPE_CHECKING:
    from .parsed import ParsedFile

__all__ = ["Hit", "Rule"]

UNMEASURED_CONFIDENCE = 0.05
"""For a rule without a measurement, since nothing speaks for it yet."""


@frozen(kw_only=True)
class Hit:
    """One place where a rule fires.

    :ivar line: line inside the parsed piece, from 1.
    :ivar claim: one sentence of what is wrong.
    :ivar failing_call: the code that shows it.
    :ivar expected: what it should be or do instead.
    """

    line: int
    claim: str
    failing_call: str = ""
    expected: str = ""


def _importable(rule: Rule, attribute: attrs.Attribute[Any], check: Any) -> None:
    name = getattr(check, "__qualname__", "")
    if "<" in name:
        raise ValueError(
            f"offline rule {rule.name}: {attribute.name} is {name}, which cannot be sent to another process; "
            "make it a function at the top level of a module"
        )


@frozen(kw_only=True)
class Rule:
    """A check of code for one kind of mistake.

    :ivar name: kebab case; stands in brackets at the head of every claim.
    :ivar lens: the lens whose scans run it; scans with another lens than the rules know run all rules.
    :ivar title: heads the group of its findings in a report.
    :ivar severity: critical, high, medium or low, by what a caller of the code would suffer.
    :ivar check: finds the places in one file. A function at the top level of a module: it runs in another process.
    :ivar confirm: whether a claim (its text and line) holds in code cut out of its file; by default ``check`` is asked.
    :ivar wide: run only where the wide set is asked for.
    :ivar slow: for a rule that starts a program: whether it may do so for the text of a shard. It then runs where it
        holds up no event loop, and never to judge what others reported.
    :ivar bugs: how many of the places that it named, measured, held a planted bug.
    :ivar reports: how many places it named then; 0 when it named none.
    """

    name: str
    lens: str
    title: str
    severity: str
    check: Callable[[ParsedFile], Iterable[Hit]] = attrs.field(validator=_importable)
    confirm: Callable[[ParsedFile, str, int], bool] | None = attrs.field(default=None, validator=_importable)
    wide: bool = False
    slow: Callable[[str], bool] | None = attrs.field(default=None, validator=_importable)
    bugs: int = 0
    reports: int = 0

    @property
    def record(self) -> str:
        """What was measured of the rule, as every finding cites it."""
        if not self.reports:
            return f"offline rule {self.name}: never fired when measured, so how often it is right is not known"
        low, high = self.interval
        return (
            f"offline rule {self.name}: {self.bugs} of {self.reports} such reports were planted bugs on held-out code, "
            f"95 %: {low:.0%} to {high:.0%}"
        )

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of its reports that are right, by Wilson (1927); 0 to 1 when unmeasured."""
        if not self.reports:
            return 0.0, 1.0
        share, z = self.bugs / self.reports, 1.96
        middle = share + z * z / (2 * self.reports)
        half = z * sqrt(share * (1 - share) / self.reports + (z / (2 * self.reports)) ** 2)
        scale = 1 + z * z / self.reports
        return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)

    @property
    def confidence(self) -> float:
        """The least share of its reports that are right, 0 to 1: the low end of the interval, so that few counts do
        not look like certainty."""
        return round(self.interval[0], 2) if self.reports else UNMEASURED_CONFIDENCE
