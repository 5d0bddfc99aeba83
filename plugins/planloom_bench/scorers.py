"""When a finding counts for a bug. A scorer answers that for one finding and one bug; the counting is the same for all.

Two ship: the rule of five lines, which the published figures use, and the strict one, which luck helps less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import attrs

if TYPE_CHECKING:
    from ._bench import AuditedFile
    from ._key import KeyEntry
    from ._reports import Reported

__all__ = ["FIVE_LINES", "SAME_STATEMENT", "Reach", "Scorer"]

NEAR_LINES = 5

Reach: TypeAlias = "Callable[[Reported, KeyEntry, AuditedFile], int | None]"


@attrs.frozen(kw_only=True)
class Scorer:
    """A rule for hits.

    :ivar name: what tables and commands call it: snake case.
    :ivar about: one line for people.
    :ivar reach: the distance in lines from a finding to a bug of the same file, or None when the finding does not
        count for it. It must depend on its arguments alone.
    """

    name: str
    about: str
    reach: Reach


def _within_five_lines(finding: Reported, bug: KeyEntry, file: AuditedFile) -> int | None:
    distance = abs(finding.line - bug.line)
    if distance > NEAR_LINES:
        return None
    named = finding.function is not None and _last_part(finding.function) == _last_part(bug.function)
    return distance if named or file.places.function_at(finding.line) == bug.function else None


def _last_part(function: str) -> str:
    """The bare name: models write ``Class.method``, ``module.function`` and ``function()`` alike."""
    return function.partition("(")[0].strip().rpartition(".")[2]


def _in_the_same_statement(finding: Reported, bug: KeyEntry, file: AuditedFile) -> int | None:
    statement = file.statement_at(bug.line)
    same = statement is not None and statement == file.statement_at(finding.line)
    return abs(finding.line - bug.line) if same or finding.line == bug.line else None


FIVE_LINES = Scorer(
    name="five_lines",
    about="within five lines of the bug and in its function, or naming its function",
    reach=_within_five_lines,
)
SAME_STATEMENT = Scorer(
    name="same_statement",
    about="in the very statement that was changed",
    reach=_in_the_same_statement,
)
