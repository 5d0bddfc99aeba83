"""The tight set: the rules that were worth their false alarms in a trial, with what the trial counted."""

from __future__ import annotations

from . import _accumulators, _extremes, _guards, _loops, _swapped, _unbound
from .rules import Rule

TIGHT_RULES = (
    Rule(
        name="swapped-arguments",
        lens="logic",
        title="Arguments passed in each other's place",
        severity="high",
        check=_swapped.check,
        confirm=_swapped.confirm,
        bugs=9,
        reports=57,
    ),
    Rule(
        name="guard-against-message",
        lens="boundaries",
        title="A guard that contradicts its own message",
        severity="medium",
        check=_guards.check,
        bugs=10,
        reports=107,
    ),
    Rule(
        name="min-max-against-target",
        lens="logic",
        title="A minimum named maximum, or the other way round",
        severity="medium",
        check=_extremes.check,
        bugs=6,
        reports=36,
    ),
    Rule(
        name="use-before-definition",
        lens="state",
        title="A local name read before it is assigned",
        severity="high",
        check=_unbound.check,
        bugs=2,
        reports=5,
    ),
    Rule(
        name="extreme-accumulator",
        lens="state",
        title="A running extreme that no value can pass",
        severity="high",
        check=_accumulators.check,
    ),
    Rule(
        name="loop-direction",
        lens="boundaries",
        title="A loop that steps away from its end",
        severity="high",
        check=_loops.check,
    ),
)
