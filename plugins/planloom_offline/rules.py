"""What a rule is: a check of parsed code, and what is known about how often such a check is right.

The numbers come from one trial: 216 bugs planted in three copies of a library of 1,373 files, one-line edits that a
doctest proves wrong. A report counted as right when it stood in the bug's function within five lines of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from .parsed import ParsedFile

__all__ = ["Hit", "Rule"]

UNMEASURED_CONFIDENCE = 0.05
"""For a rule without a measurement: below every measured one, since nothing speaks for it yet."""


@attrs.frozen(kw_only=True)
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


@attrs.frozen(kw_only=True)
class Rule:
    """A check of code for one kind of mistake.

    :ivar name: kebab case; stands in brackets at the head of every claim.
    :ivar lens: the lens whose scans run it; scans with another lens than the rules know run all rules.
    :ivar title: heads the group of its findings in a report.
    :ivar severity: critical, high, medium or low, by what a caller of the code would suffer.
    :ivar check: finds the places in one file. A function at the top level of a module: it runs in another process.
    :ivar confirm: whether a claim (its text and line) holds in code cut out of its file; by default ``check`` is asked.
    :ivar wide: run only where the wide set is asked for.
    :ivar slow: starts a program: never run where it would hold up an event loop, nor to judge what others reported.
    :ivar bugs: how many of its reports in a trial were planted bugs.
    :ivar reports: how many reports it made in that trial; 0 when it made none.
    """

    name: str
    lens: str
    title: str
    severity: str
    check: Callable[[ParsedFile], Iterable[Hit]] = attrs.field(validator=_importable)
    confirm: Callable[[ParsedFile, str, int], bool] | None = attrs.field(default=None, validator=_importable)
    wide: bool = False
    slow: bool = False
    bugs: int = 0
    reports: int = 0

    @property
    def record(self) -> str:
        """What a trial says about the rule, as every finding cites it."""
        if not self.reports:
            return f"offline rule {self.name}: never fired in a trial, so how often it is right is not known"
        return f"offline rule {self.name}: {self.bugs} of {self.reports} such reports were planted bugs in a trial"

    @property
    def confidence(self) -> float:
        """The share of its reports that were right, 0 to 1."""
        return round(self.bugs / self.reports, 2) if self.reports else UNMEASURED_CONFIDENCE
