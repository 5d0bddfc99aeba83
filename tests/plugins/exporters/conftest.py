"""A whole report for the tests of exporters, whose every text can be replaced by hostile ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

import pytest

from planloom_audit.report import AuditReport, Bug, Cost, Coverage, Unread

LINES = (
    "def moving_average(values, size):",
    "    total = sum(values[:size])",
    "    averages = [total / size]",
    "    for index in range(size, len(values) - 1):",
    "        total += values[index] - values[index - size]",
    "        averages.append(total / size)",
    "    return averages",
)


@pytest.fixture(scope="session")
def report_of() -> Callable[[Sequence[str]], AuditReport]:
    """Make a report of one fixed shape whose texts are taken from the list in turn."""
    return _report_of


@pytest.fixture(scope="session")
def bug() -> Bug:
    return Bug(
        file="shelf/windows.py",
        line=44,
        function="moving_average",
        claim="The loop stops one value early, so the last window is missing.",
        failing_call="moving_average([1, 2, 3, 4], 2)",
        expected="[1.5, 2.5, 3.5]",
        confidence=0.86,
        severity="high",
        title="The last window is lost",
        group=1,
        votes=2,
        answers=3,
        reports=2,
        sources=("scan:boundaries:shelf#0", "scan:logic:shelf#0"),
        lens="boundaries",
        fingerprint="9f2c1e77ab03d5c8",
        code=tuple(enumerate(LINES, 41)),
    )


@pytest.fixture(scope="session")
def report(bug: Bug) -> AuditReport:
    return AuditReport(
        target="shelf",
        title="Audit of shelf",
        run_id="audit-of-shelf-3f9a",
        created_at="2026-11-29T17:02:00+00:00",
        version="0.1.0",
        status="completed",
        holes=0,
        offline=False,
        models={"worker": "small-coder", "lead": "large"},
        plan="fixed",
        plan_hash="ab" * 32,
        summary="One defect loses data.",
        bugs=(bug,),
        coverage=Coverage(files=41, lines=5_210, tokens=61_233, covered=41, by_lens={"logic": 41, "boundaries": 40}),
        grammar="Python 3.11",
        cost=Cost(paid=3.1, full_price=10.1, planning=0.5, cap=150.0),
        seconds=125.2,
        agents=49,
        phases=({"name": "Scan", "started": 42, "done": 42},),
    )


def _report_of(texts: Sequence[str]) -> AuditReport:
    source = cycle(texts)
    bugs = tuple(
        _bug(source, severity, line) for severity, line in (("critical", 1), ("medium", None), ("unranked", 0))
    )
    return AuditReport(
        target=next(source),
        title=next(source),
        run_id=next(source),
        created_at=next(source),
        version=next(source),
        status=next(source),
        holes=3,
        offline=False,
        models={next(source): next(source)},
        plan=next(source),
        plan_hash=next(source),
        summary=next(source),
        bugs=bugs,
        undecided=(_bug(source, "low", 2),),
        coverage=Coverage(files=3, lines=9, tokens=27, covered=2, by_lens={next(source): 2}, unseen=(next(source),)),
        skipped=(Unread(next(source), next(source)),),
        unparsable=(Unread(next(source), next(source)),),
        grammar=next(source),
        cost=Cost(paid=0.0, full_price=0.0),
        phases=({"name": next(source), "started": 1},),
        notes=(next(source),),
    )


def _bug(source: cycle[str], severity: str, line: int | None) -> Bug:
    return Bug(
        file=next(source),
        line=line,
        end_line=3,
        function=next(source),
        claim=next(source),
        failing_call=next(source),
        expected=next(source),
        severity=severity,
        title=next(source),
        group=1,
        sources=(next(source),),
        lens=next(source),
        rule=next(source),
        fingerprint=next(source),
        code=((1, next(source)), (2, next(source))),
        reason=next(source),
    )
