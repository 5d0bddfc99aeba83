"""How a run ended, as whoever drove it knows it, and as any process can read it from the run's record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from .data_classes import frozen
from .stores import RunRow

__all__ = ["ENDED_FACTS", "Outcome", "ended_facts", "exit_code_of", "outcome_of"]

ENDED_FACTS = ("phases", "cost", "counts", "ended")
"""What a run's record keeps of how it ended; see :func:`ended_facts`."""

_FAILURES_KEPT = 20
# What a run that is not at its end would exit with: held for approval, waiting, stopped, refused.
_EXIT_CODES = {"completed": 0, "held": 4, "refused": 6, "runaway": 9, "cancelled": 130, "failed": 1}
_RESUMABLE = 5
_COUNTS = ("agents", "holes", "asked", "reused")
_COSTS = ("paid", "full_price", "planning", "uncertain")


@frozen(kw_only=True)
class Outcome:
    """How a run ended. Amounts are micro-credits.

    :ivar status: as in the run's record. :ivar exit_code: of a command that ends with it.
    :ivar result: what the plan assigned to ``result``; ``None`` where it did not come that far, as ``error`` says why.
    :ivar seconds: how long the run took, all its starts together. :ivar agents: workers that were started.
    :ivar holes: workers that failed or were dropped, tasks that failed, and questions left undecided.
    :ivar paid: what the job paid, and ``full_price`` what it costs without the ledger; ``planning`` is the part of
        the full price that was spent on the plan.
    :ivar paid_before: the part of ``paid`` from before the run was resumed, ``None`` where this was its first start.
    :ivar uncertain: what calls of unknown outcome may have cost; part of no other amount.
    :ivar paid_elsewhere: the part of ``paid`` that other processes paid since this one started or resumed the run: one
        that took it over, or one that had it before and got an answer late.
    :ivar failures: why workers failed, and how many for that reason, the commonest first.
    :ivar phases: each phase by ``name`` ("" where a worker was in none), in the order they were opened: ``began_s`` and
        ``ended_s`` since the run began, how many workers ``started`` and came to what, their calls and tokens,
        ``full_price``, and ``idle_s``, which workers that had ended waited for the slowest of their group.
    :ivar undecided: the questions left open, each with ``place``, ``reason`` and what the word that asked says of it.
    :ivar missing: the first of what the outcome lacks, each with ``kind`` (worker, task, saved plan), ``name``,
        ``reason``.
    :ivar paused_at: what stopped a run that is paused, in a person's words: ``the budget``.
    :ivar asked: questions that were sent since the run last started. :ivar reused: answers that the ledger gave then.
    :ivar states: each kit's state of the run; empty where another process drove it.
    """

    run_id: str
    status: str
    exit_code: int
    result: Any
    error: str | None
    seconds: float
    agents: int
    holes: int
    paid: int
    paid_before: int | None = None
    paid_elsewhere: int = 0
    full_price: int
    planning: int
    uncertain: int
    asked: int
    reused: int
    phases: tuple[Mapping[str, Any], ...]
    undecided: tuple[Mapping[str, Any], ...]
    failures: Mapping[str, int]
    missing: tuple[Mapping[str, str], ...] = ()
    states: Mapping[str, object] = attrs.field(factory=dict)
    paused_at: str | None = None


def ended_facts(outcome: Outcome) -> dict[str, Any]:
    """Return what a run's record keeps of its outcome, beside status, error and result."""
    return {
        "phases": [dict(phase) for phase in outcome.phases],
        "cost": {name: getattr(outcome, name) for name in _COSTS},
        "counts": {name: getattr(outcome, name) for name in _COUNTS},
        "ended": {
            "exit_code": outcome.exit_code,
            "seconds": outcome.seconds,
            "paid_before": outcome.paid_before,
            "paid_elsewhere": outcome.paid_elsewhere,
            "undecided": [dict(row) for row in outcome.undecided],
            "missing": [dict(row) for row in outcome.missing],
            "failures": dict(list(outcome.failures.items())[:_FAILURES_KEPT]),
        },
    }


def outcome_of(row: RunRow) -> Outcome:
    """Return how a run ended, from its record."""
    counts, cost, ended = (row.facts.get(name, {}) for name in ("counts", "cost", "ended"))
    return Outcome(
        run_id=row.id,
        status=row.status,
        exit_code=exit_code_of(row),
        result=row.result,
        error=row.error,
        paused_at=row.facts.get("paused_at"),
        seconds=ended.get("seconds", 0.0),
        paid_before=ended.get("paid_before"),
        paid_elsewhere=ended.get("paid_elsewhere", 0),
        phases=tuple(row.facts.get("phases", ())),
        undecided=tuple(ended.get("undecided", ())),
        failures=ended.get("failures", {}),
        missing=tuple(ended.get("missing", ())),
        **{name: counts.get(name, 0) for name in _COUNTS},
        **{name: cost.get(name, 0) for name in _COSTS},
    )


def exit_code_of(row: RunRow) -> int:
    """Return the exit code of a command that follows the run to where its record stands."""
    if row.status in ("completed", "failed") and "ended" in row.facts:
        return int(row.facts["ended"]["exit_code"])
    return _EXIT_CODES.get(row.status, _RESUMABLE)
