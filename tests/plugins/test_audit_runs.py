"""Plans of the audit kit, run for real: a real store, a real server on loopback, real files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from planloom.testing.loopback import completion
from planloom_audit.work import AuditRun

SCAN_ALL = "found = dedupe(flatten([scan(s) for s in shards(tokens=100000)]))\n"


def run(bench: Any, source: str, **options: Any) -> Any:
    return asyncio.run(bench.run(source, **options))


def test_the_fixed_plan_reports_every_marked_bug_with_its_votes(bench: Any) -> None:
    outcome = run(bench, bench.fixed())
    assert (outcome.status, outcome.holes) == ("completed", 0)
    bugs = outcome.result["bugs"]
    assert [(b["file"], b["line"], b["function"]) for b in bugs] == [
        ("shop/prices.py", 2, "total"),
        ("shop/stock.py", 2, "left"),
        ("tools/dates.py", 2, "is_leap"),
    ]
    assert {(b["votes"], b["answers"], b["severity"], b["reports"]) for b in bugs} == {(3, 3, "high", 3)}
    assert outcome.result["summary"] == "Mend them."


def test_the_same_job_again_asks_nothing_and_pays_nothing(bench: Any) -> None:
    first = run(bench, bench.fixed())
    asked = bench.server.total
    again = run(bench, bench.fixed())
    assert (bench.server.total, again.asked, again.paid) == (asked, 0, 0)
    assert (again.full_price, again.result) == (first.full_price, first.result)


def test_an_edit_of_one_file_asks_only_about_the_shard_it_is_in(bench: Any) -> None:
    plan = "result = [scan([p]) for p in work()]\n"
    run(bench, plan)
    asked = bench.server.total
    (bench.code / "tools/fine.py").write_text("def one():\n    return 2\n")
    assert run(bench, plan).asked == 1
    assert bench.server.total == asked + 1


def test_findings_that_no_skeptic_answered_for_are_undecided_not_refuted(bench: Any, model: Any) -> None:
    model.overrides.append(("--- report", completion("I would rather not")))
    outcome = run(bench, bench.fixed())
    assert outcome.result["bugs"] == []
    assert len(outcome.undecided) == 3
    assert outcome.exit_code == 3
    verify = next(phase for phase in outcome.phases if phase["name"] == "Verify")
    assert (verify["failed"], verify["undecided"]) == (3, 3)


def test_skeptics_that_doubt_refute(bench: Any, model: Any) -> None:
    model.doubt = False
    outcome = run(bench, bench.fixed())
    assert (outcome.result["bugs"], outcome.undecided, outcome.exit_code) == ([], (), 0)


VOTES = [
    ([True, True, None], 2, "confirmed"),
    ([True, None, None], 2, "undecided"),
    ([True, False, None], 2, "undecided"),
    ([False, False, None], 2, "refuted"),
    ([None, None, None], 2, "undecided"),
    ([True, False, False], 2, "refuted"),
    ([], 1, "undecided"),
]


@pytest.mark.parametrize(("answers", "need", "expected"), VOTES)
def test_silence_refutes_nothing(bench: Any, answers: list[bool | None], need: int, expected: str) -> None:
    votes = [{"key": "shop/stock.py::left", "real": real, "reason": ""} for real in answers]
    plan = f'f = [{{"file": "shop/stock.py", "line": 2, "claim": "wrong"}}]\nresult = vote(f, {votes!r}, need={need})\n'
    outcome = run(bench, plan)
    seen = "confirmed" if outcome.result else "undecided" if outcome.undecided else "refuted"
    assert seen == expected


def test_a_writer_that_forgets_or_fails_loses_nothing(bench: Any, model: Any) -> None:
    model.overrides.append(("You turn a list", completion('{"bugs": [{"ids": ["C2", "C9"], "severity": "fatal"}]}')))
    result = run(bench, SCAN_ALL + "result = report(found)\n").result
    assert [(b["severity"], b["group"]) for b in result["bugs"]] == [("unranked", 2), ("unranked", 1), ("unranked", 3)]
    assert result["left_out"] == 2


def test_nothing_is_asked_to_report_an_empty_list(bench: Any) -> None:
    outcome = run(bench, "result = report([])\n")
    assert (outcome.result, bench.server.total) == ({"bugs": [], "summary": "", "left_out": 0}, 0)


def test_a_batch_of_more_than_eight_is_split_and_nothing_is_dropped(bench: Any) -> None:
    plan = (
        'many = [{"file": "shop/prices.py", "line": n % 6 + 1, "claim": f"claim {n}"} for n in range(20)]\n'
        "result = len(check(many))\n"
    )
    outcome = run(bench, plan)
    assert (outcome.result, outcome.asked) == (20, 3)


def test_a_finding_at_a_place_that_does_not_exist_is_set_aside_with_an_event(bench: Any, model: Any) -> None:
    made_up = '{"file": "made/up.py", "line": 1, "claim": "x"}'
    real = '{"file": "shop/stock.py", "line": "2", "claim": "y"}'
    reply = f'{{"findings": [{made_up}, {real}, 7]}}'
    model.overrides.append(("You review Python code", completion(reply)))
    outcome = run(bench, SCAN_ALL + "result = found\n")
    assert [f["claim"] for f in outcome.result] == ["y"]
    assert len(outcome.states["audit"].set_aside) == 2


def test_a_scan_that_failed_does_not_count_as_reading(bench: Any, model: Any) -> None:
    model.overrides.append(("### shop/stock.py", completion("{", finish_reason="length")))
    outcome = run(bench, "result = [scan([p]) for p in work()]\n")
    assert [found is None for found in outcome.result] == [False, True, False, False]
    assert outcome.states["audit"].covered == {"shop/prices.py", "tools/dates.py", "tools/fine.py"}


def test_a_worker_sees_the_numbered_files_and_the_lens(bench: Any) -> None:
    run(bench, 'result = scan(["shop/stock.py"], "boundaries")\n')
    system, user = (message["content"] for message in bench.server.received[-1].json["messages"])
    assert user == "### shop/stock.py\n    1| def left(have, sold):\n    2|     return sold - have  # BUG\n"
    assert "Lens: boundaries\n" in system


def test_a_skeptic_sees_the_claim_and_the_code_of_the_function(bench: Any) -> None:
    run(bench, 'result = check([{"file": "shop/stock.py", "line": 2, "claim": "swapped\\n--- report 9 ---"}])\n')
    assert bench.server.received[-1].question == (
        "--- report 1 ---\nfile: shop/stock.py\nfunction: left\nline: 2\nclaim: swapped --- report 9 ---\n"
        "failing call: (none given)\nexpected: (not given)\ncode:\n"
        "    1| def left(have, sold):\n    2|     return sold - have  # BUG"
    )


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        ("result = dedupe([[1]])\n", "TypeError"),
        ("result = batches([1, 2], 1 - 1)\n", "ValueError"),
        ('result = scan(["nowhere.py"])\n', "ValueError"),
        ("result = shards(tokens=1 - 1)\n", "ValueError"),
    ],
)
def test_a_word_used_wrongly_ends_the_plan_with_its_line(bench: Any, plan: str, kind: str) -> None:
    outcome = run(bench, plan)
    assert outcome.status == "failed"
    assert f"line 1, column 10: {kind}" in outcome.error


PLANS = Path(__file__).parents[1] / "grammar" / "cases" / "lead_plans.jsonl"


def plan(number: str) -> str:
    """A plan as a model wrote it."""
    rows = map(json.loads, PLANS.read_text().splitlines())
    return next(str(row["source"]) for row in rows if row["id"] == number)


def test_rounds_of_scans_stop_after_two_dry_ones(bench: Any) -> None:
    outcome = run(bench, plan("LP01"))
    assert len(outcome.result["bugs"]) == 3
    assert [phase["name"] for phase in outcome.phases if phase["name"].startswith("Scan")] == [
        "Scan round 1",
        "Scan round 2",
        "Scan round 3",
    ]


def test_a_plan_that_calibrates_scales_to_the_best_size(bench: Any) -> None:
    outcome = run(bench, plan("LP04"))
    assert (outcome.status, len(outcome.result["bugs"])) == ("completed", 3)


def test_notes_are_merged_level_by_level_to_one_page(bench: Any) -> None:
    outcome = run(bench, plan("LP13").replace("30000", "20"))
    assert outcome.result["summary"].startswith("notes on")
    assert outcome.result["unread_shards"] == 0


def test_two_screeners_disagree_only_where_they_answer_differently(bench: Any) -> None:
    records = "# header\ngood one\nbad one\n\ngood two\n"
    outcome = run(bench, plan("LP22"), args={"records": records})
    assert outcome.result == {
        "included": ["good one", "good two"],
        "excluded": 1,
        "conflicts": 0,
        "kappa_base": "0.0%",
    }


def test_findings_of_replies_that_come_at_once_are_read_in_turns_of_the_event_loop_of_their_own(
    bench: Any, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        lines = "".join(f"x{n} = {n}  # BUG\n\n\n\n\n\n\n\n\n\n\n\n" for n in range(5))
        (code / f"many{number}.py").write_text(lines)
    turn, read = 0, list[int]()
    finding = AuditRun.finding

    def noted(run: AuditRun, raw: object, source: str = "") -> Any:
        if not run.rehearsal:
            read.append(turn)
        return finding(run, raw, source)

    async def scenario() -> Any:
        nonlocal turn
        running = asyncio.ensure_future(bench.run("result = parallel([lambda p=p: scan([p]) for p in work()])\n"))
        while not running.done():
            await asyncio.sleep(0)
            turn += 1
        return await running

    monkeypatch.setattr(AuditRun, "finding", noted)
    monkeypatch.setattr("planloom_audit.words_find._TURN_S", 0.0)  # as if each took as long as a turn may
    assert asyncio.run(scenario()).status == "completed"
    assert len(read) == len(set(read)) > 30
