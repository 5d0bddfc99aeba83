"""The audit's stand-in: what a rehearsal's workers say, from a hash of their question.

The rates are made up until a store has measured better ones: none, one or two findings a scan; two skeptics in five say
yes; every finding is a group of its own. The hash covers lens and sample too, or three lenses would "find" the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planloom.stand_ins import StandIn, StandInAnswer

if TYPE_CHECKING:
    import random

    from planloom.workers import WorkerRequest

    from .work import AuditRun

__all__ = ["AUDIT_STAND_IN"]

_YES_RATE = 0.4
_FINDING_TOKENS = 110
_VERDICT_TOKENS = 45
_GROUP_TOKENS = 35
_FRAME_TOKENS = 15


def _answer(request: WorkerRequest, state: object, rng: random.Random) -> StandInAnswer | None:
    from .work import AuditRun

    assert isinstance(state, AuditRun)
    if request.word == "scan":
        return _findings(state, str(request.identity[0]), rng)
    if request.word == "check":
        return _verdicts(len(request.identity[2]), rng)
    return _groups(str(request.identity[1]).count("\n") + 1)


def _findings(run: AuditRun, digest: str, rng: random.Random) -> StandInAnswer:
    names = [name for name in run.work.names(digest) if name in run.work.tree]
    found = []
    for _ in range(rng.randint(0, 2) if names else 0):
        path = rng.choice(names)
        line = rng.randint(1, max(1, run.work.tree.info(path).lines))
        found.append({"file": path, "line": line, "claim": "made up in a rehearsal", "confidence": rng.random()})
    return StandInAnswer(value={"findings": found}, completion_tokens=_FRAME_TOKENS + _FINDING_TOKENS * len(found))


def _verdicts(count: int, rng: random.Random) -> StandInAnswer:
    said: list[dict[str, Any]] = [
        {"report": number, "real": rng.random() < _YES_RATE, "reason": "made up"} for number in range(1, count + 1)
    ]
    return StandInAnswer(value={"verdicts": said}, completion_tokens=_FRAME_TOKENS + _VERDICT_TOKENS * count)


def _groups(count: int) -> StandInAnswer:
    groups = [{"ids": [f"C{number}"], "severity": "medium", "title": "made up"} for number in range(1, count + 1)]
    return StandInAnswer(
        value={"bugs": groups, "summary": "made up in a rehearsal"}, completion_tokens=150 + _GROUP_TOKENS * count
    )


AUDIT_STAND_IN = StandIn(name="audit", words=("scan", "check", "report"), answer=_answer)
