"""The tight set: the rules that were worth their false alarms in a trial, with what the trial counted.

Every command knows the rules by name and none but an offline audit runs one, so each is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .rules import Hit, Rule

if TYPE_CHECKING:
    from .parsed import ParsedFile


def _swapped(file: ParsedFile) -> Iterator[Hit]:
    from ._swapped import check

    return check(file)


def _swapped_confirmed(file: ParsedFile, claim: str, line: int) -> bool:
    from ._swapped import confirm

    return confirm(file, claim, line)


def _guards(file: ParsedFile) -> Iterator[Hit]:
    from ._guards import check

    return check(file)


def _extremes(file: ParsedFile) -> Iterator[Hit]:
    from ._extremes import check

    return check(file)


def _unbound(file: ParsedFile) -> Iterator[Hit]:
    from ._unbound import check

    return check(file)


def _accumulators(file: ParsedFile) -> Iterator[Hit]:
    from ._accumulators import check

    return check(file)


def _loops(file: ParsedFile) -> Iterator[Hit]:
    from ._loops import check

    return check(file)


TIGHT_RULES = (
    Rule(
        name="swapped-arguments",
        lens="logic",
        title="Arguments passed in each other's place",
        severity="high",
        check=_swapped,
        confirm=_swapped_confirmed,
        bugs=9,
        reports=57,
    ),
    Rule(
        name="guard-against-message",
        lens="boundaries",
        title="A guard that contradicts its own message",
        severity="medium",
        check=_guards,
        bugs=10,
        reports=107,
    ),
    Rule(
        name="min-max-against-target",
        lens="logic",
        title="A minimum named maximum, or the other way round",
        severity="medium",
        check=_extremes,
        bugs=6,
        reports=36,
    ),
    Rule(
        name="use-before-definition",
        lens="state",
        title="A local name read before it is assigned",
        severity="high",
        check=_unbound,
        bugs=2,
        reports=5,
    ),
    Rule(
        name="extreme-accumulator",
        lens="state",
        title="A running extreme that no value can pass",
        severity="high",
        check=_accumulators,
    ),
    Rule(
        name="loop-direction",
        lens="boundaries",
        title="A loop that steps away from its end",
        severity="high",
        check=_loops,
    ),
)
