"""The gate: a policy, written before any plan is priced, that passes, holds or refuses a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import attrs

from .data_classes import frozen
from .money import show_credits, show_enough

if TYPE_CHECKING:
    from ._room import Room
    from .rehearsal import Rehearsal
    from .settings import GateSettings

__all__ = ["Decision", "Gate", "Verdict", "default_gate", "held_advice", "held_at_store", "named_after_store"]

Verdict = Literal["approved", "held", "refused"]


@frozen(kw_only=True)
class Decision:
    """What the gate decided about one plan; stored with the plan's hash.

    :ivar who: ``policy``, ``rule`` (a standing rule written beforehand) or ``person``.
    :ivar advice: how a held plan is brought to run, where its price alone does not say it.
    """

    verdict: Verdict
    reason: str
    who: str = "policy"
    advice: str = ""


@frozen(kw_only=True)
class Gate:
    """An approval policy.

    :ivar decide: judges a rehearsal against the budget in micro-credits (the smaller of the job's cap and what a cap of
        the store leaves for it) and the gate's settings. What the store may not be able to pay for is asked about the
        job's cap alone, and held where that approves it.
    """

    name: str
    summary: str
    decide: Callable[[Rehearsal, int, GateSettings], Decision]


def _judge(rehearsal: Rehearsal, cap: int, settings: GateSettings) -> Decision:
    if rehearsal.problems:
        return Decision(verdict="refused", reason=rehearsal.problems[0])
    price = rehearsal.credits_p90
    alone = min(settings.pass_credits, int(cap * settings.pass_share))
    if price == 0:
        return Decision(verdict="approved", reason="it costs nothing")
    shown = f"at most {show_credits(price)} credits in 9 of 10 rehearsals"
    if price > cap:
        return Decision(verdict="refused", reason=f"{shown}, above the whole budget of {show_credits(cap)}")
    if price <= alone:
        return Decision(verdict="approved", reason=f"{shown}, within the {show_credits(alone)} that pass by themselves")
    if settings.approve_up_to is not None and price <= settings.approve_up_to:
        reason = f"{shown}, within the standing approval of {show_credits(settings.approve_up_to)}"
        return Decision(verdict="approved", reason=reason, who="rule")
    return Decision(verdict="held", reason=f"{shown}, above the {show_credits(alone)} that pass by themselves")


default_gate = Gate(
    name="default",
    summary="passes up to 40 credits and a third of the budget, whichever is less; above it a person decides",
    decide=_judge,
)


def held_at_store(price: int, room: Room) -> Decision:
    """Return that a plan of that price (micro-credits) is held, since the store's cap leaves less."""
    left, cap = show_credits(room.left), show_credits(room.store_cap)
    reason = (
        f"at most {show_credits(price)} credits in 9 of 10 rehearsals, above the {left} that are left for it of the "
        f"{cap} credits that all jobs of the store together may spend"
    )
    enough = show_enough(room.enough(price))
    advice = f"`planloom store cap {enough}` or more makes room, or --yes runs it as far as that goes"
    return Decision(verdict="held", reason=reason, advice=advice)


def named_after_store(decision: Decision, room: Room) -> Decision:
    """Return a decision that rests on what the store's cap leaves, saying so where the plan does not pass."""
    if decision.verdict == "approved":
        return decision
    whose = f"its budget is the {show_credits(room.budget)} credits that `planloom store cap` leaves for it"
    return attrs.evolve(decision, reason=f"{decision.reason}; {whose}")


def held_advice(price: int) -> str:
    """Return how to approve a held plan of that price (micro-credits)."""
    return f"approve it with --yes, or with --approve-up-to {show_enough(price)}"
