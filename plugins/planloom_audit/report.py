"""The audit's report: what was found, on what basis, at what price. Exporters read this and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planloom.data_classes import frozen

from .schemas import SEVERITIES

__all__ = ["SEVERITIES", "AuditReport", "Bug", "Cost", "Coverage", "Unread"]


@frozen(kw_only=True)
class Bug:
    """One confirmed (or undecided) finding.

    :ivar line: 1-based; ``None`` for a finding about a whole file. :ivar function: qualified, or ``None``.
    :ivar severity: one of :data:`SEVERITIES`. :ivar group: number of the group of rows that are one bug, from 1.
    :ivar votes: skeptics that called it real. :ivar answers: skeptics that answered.
    :ivar reports: scan workers behind it. :ivar sources: their labels (``scan:<lens>:<folder>#<sample>``).
    :ivar lens: the lens of the worker whose words these are; ``rule`` the offline rule, where one found it.
    :ivar code: the lines around it as (number, text), without line ends.
    :ivar fingerprint: stable over edits elsewhere: lens or rule, path, function, statement and occurrence; no line, no
        message.
    :ivar reason: why it is undecided, where it is.
    """

    file: str
    line: int | None
    end_line: int | None = None
    function: str | None = None
    claim: str
    failing_call: str = ""
    expected: str = ""
    confidence: float = 0.5
    severity: str = "unranked"
    title: str = ""
    group: int = 0
    votes: int = 0
    answers: int = 0
    reports: int = 1
    sources: tuple[str, ...] = ()
    lens: str = "general"
    rule: str | None = None
    fingerprint: str = ""
    code: tuple[tuple[int, str], ...] = ()
    reason: str = ""


@frozen(kw_only=True)
class Coverage:
    """On what basis "no finding" is said.

    :ivar files: how many there are. :ivar covered: how many were seen by some scan that answered.
    :ivar by_lens: files read, by lens. :ivar unseen: paths that no scan that answered saw.
    """

    files: int
    lines: int
    tokens: int
    covered: int
    by_lens: Mapping[str, int]
    unseen: tuple[str, ...] = ()


@frozen
class Unread:
    """A file that was not read, or not understood, and why."""

    path: str
    reason: str


@frozen(kw_only=True)
class Cost:
    """Amounts in credits; ``planning`` is part of both ``paid`` and ``full_price``."""

    paid: float
    full_price: float
    planning: float = 0.0
    uncertain: float = 0.0
    cap: float = 0.0


@frozen(kw_only=True)
class AuditReport:
    """Everything an exporter may say.

    :ivar target: what was audited, as the person named it. :ivar below: where that folder lies in its repository, as a
        POSIX path; empty for the repository's root, and where none is known. :ivar status: the run's status.
    :ivar holes: how many workers or questions its outcome lacks.
    :ivar offline: no model was asked: offline rules found what is here. Every format must say so.
    :ivar models: model ids by role. :ivar plan: the plan's name or title, ``plan_hash`` the SHA-256 of its source.
    :ivar skipped: files that were not read. :ivar unparsable: files that were read as text, but that the Python of
        ``grammar`` cannot parse.
    :ivar phases: name, started, done, failed, dropped, undecided of each. :ivar notes: further lines for the head.
    """

    target: str
    title: str
    run_id: str
    created_at: str
    version: str
    status: str
    holes: int
    offline: bool
    models: Mapping[str, str]
    plan: str
    plan_hash: str
    summary: str
    bugs: tuple[Bug, ...]
    undecided: tuple[Bug, ...] = ()
    coverage: Coverage
    skipped: tuple[Unread, ...] = ()
    unparsable: tuple[Unread, ...] = ()
    grammar: str = ""
    cost: Cost
    seconds: float = 0.0
    agents: int = 0
    phases: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    below: str = ""
