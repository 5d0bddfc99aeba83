"""Skeptics that die: what they would have said is neither yes nor no, wherever they were lost."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from jsonschema import Draft202012Validator

from planloom.exporting import event_line
from planloom.loom import open_loom
from planloom.testing.loopback import Received, json_answer
from planloom_audit.exporters import report_markdown
from planloom_audit.reporting import build_report
from planloom_audit.work import AuditRun
from planloom_data import schema

REFUSED = json_answer({"error": {"message": "content refused"}}, status=400)
FOUND = 'found = dedupe(flatten([scan([p], "logic") for p in work()]))\n'


def run(bench: Any, source: str) -> Any:
    return asyncio.run(bench.run(source))


def test_a_hundred_findings_that_no_skeptic_answered_for_are_unverified_and_the_report_says_so_first(
    bench: Any, model: Any, code: Path
) -> None:
    for number in range(9):
        lines = "".join(f"x{n} = {n}  # BUG\n\n\n\n\n\n\n\n\n\n\n\n" for n in range(12))
        (code / f"many{number}.py").write_text(lines)
    model.overrides.append(("--- report", REFUSED))
    plan = (
        'phase("Scan")\n'
        "found = dedupe(flatten(parallel([lambda p=p: scan([p]) for p in work()])))\n"
        'phase("Verify")\n'
        "asked = [lambda b=b, i=i: check(b, sample=i) for b in batches(found, 6) for i in range(2)]\n"
        "verdicts = flatten(parallel(asked))\n"
        "result = vote(found, verdicts, need=2)\n"
    )
    outcome = run(bench, plan)
    assert (outcome.status, outcome.exit_code, outcome.result) == ("completed", 3, [])
    assert len(outcome.undecided) == 111
    report = build_report(
        outcome,
        outcome.states["audit"],
        bench.settings,
        target=code,
        named="code",
        plan="a plan",
        plan_hash="0" * 64,
        cap=150_000_000,
        unparsable=(),
    )
    head = report_markdown(report)[:1_500]
    assert (len(report.bugs), len(report.undecided)) == (0, 111)
    assert "111" in head
    assert "Verify: 0 of 38 workers answered" in report_markdown(report)


@pytest.mark.parametrize("alive", range(3))
@pytest.mark.parametrize("doubt", [True, False])
def test_below_quorum_a_finding_is_unverified_whoever_of_its_skeptics_died(
    bench: Any, model: Any, alive: int, doubt: bool
) -> None:
    model.doubt = doubt
    skeptics = itertools.count()

    def script(request: Received) -> Any:
        judged = "--- report 1 ---" in str(request.json)
        return REFUSED if judged and next(skeptics) != alive else model(request)

    bench.server.answer = script
    outcome = run(bench, FOUND + "result = vote(found, flatten([check(found, sample=i) for i in range(3)]), need=2)\n")
    assert (outcome.result, len(outcome.undecided), outcome.exit_code) == ([], 3, 3)


def test_a_vote_says_how_many_were_asked_answered_and_said_yes_and_no(bench: Any) -> None:
    votes = [{"key": "shop/stock.py::left", "real": real, "reason": ""} for real in (True, True, False, None)]
    plan = f'f = [{{"file": "shop/stock.py", "line": 2, "claim": "wrong"}}]\nresult = vote(f, {votes!r}, need=2)\n'
    (bug,) = run(bench, plan).result
    assert [bug[key] for key in ("asked", "answers", "votes", "no")] == [4, 3, 2, 1]


LOST = """
f = [{"file": "shop/stock.py", "line": 2, "claim": "wrong"}]
def judge(i):
    verdicts = check(f, sample=i)
    return verdicts if i < KEPT else verdicts[9]

result = vote(f, flatten(parallel([lambda i=i: judge(i) for i in range(3)])), need=2)
"""


@pytest.mark.parametrize(("kept", "doubt", "expected"), [(0, False, "undecided"), (1, False, "undecided"),
                                                         (2, False, "refuted"), (1, True, "undecided"),
                                                         (2, True, "confirmed")])  # fmt: skip
def test_a_skeptic_whose_task_broke_counts_as_dead(
    bench: Any, model: Any, kept: int, doubt: bool, expected: str
) -> None:
    model.doubt = doubt
    outcome = run(bench, LOST.replace("KEPT", str(kept)))
    seen = "confirmed" if outcome.result else "undecided" if outcome.undecided else "refuted"
    assert seen == expected


def test_a_skeptic_whose_task_broke_further_out_counts_as_dead_too(bench: Any, model: Any) -> None:
    model.doubt = False
    plan = """
f = [{"file": "shop/stock.py", "line": 2, "claim": "wrong"}]
def judge(i):
    rows = parallel([lambda: check(f, sample=i), lambda: check(f, sample=i + 10)])
    return rows if i else rows[9]

result = vote(f, flatten(flatten(parallel([lambda i=i: judge(i) for i in range(2)]))), need=2)
"""
    outcome = run(bench, plan)
    assert len(outcome.undecided) == 1
    state = outcome.states["audit"]
    assert isinstance(state, AuditRun)
    assert state.lost_verdicts == {"shop/stock.py::left": 2}


def test_a_skeptic_that_broke_in_a_saved_plan_counts_as_dead(bench: Any, model: Any, tmp_path: Path) -> None:
    model.doubt = False
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "judge.plan").write_text('result = check(args["f"], sample=args["i"])[9]\n')
    project = attrs.evolve(bench, settings=attrs.evolve(bench.settings, source=tmp_path / "planloom.toml"))
    plan = """
f = [{"file": "shop/stock.py", "line": 2, "claim": "wrong"}]
verdicts = [plan("judge", f=f, i=i) for i in range(2)]
result = vote(f, flatten(verdicts), need=2)
"""
    assert len(run(project, plan).undecided) == 1


def test_what_could_not_be_used_and_what_stayed_open_are_events_that_fit_their_schema(bench: Any) -> None:
    outcome = run(bench, 'result = vote([1, {"file": "shop/stock.py", "line": 2, "claim": "x"}], [], need=1)\n')

    async def events() -> list[Any]:
        async with open_loom(bench.registry, bench.settings) as loom:
            return loom.store.events(outcome.run_id)

    stream = asyncio.run(events())
    assert [event.type for event in stream] == ["run.created", "run.malformed", "run.undecided", "run.ended"]
    validator = Draft202012Validator(json.loads(schema("events-1.schema")))
    assert [
        problem.message for event in stream for problem in validator.iter_errors(json.loads(event_line(event)))
    ] == []
