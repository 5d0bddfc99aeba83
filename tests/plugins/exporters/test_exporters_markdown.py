"""report.md: what a maintainer reads."""

from __future__ import annotations

import attrs

from planloom_audit.exporters import report_markdown
from planloom_audit.report import AuditReport, Bug, Unread


def test_the_head_says_who_looked_at_what_and_at_what_price(report: AuditReport) -> None:
    head = report_markdown(report).partition("## Summary")[0]
    for said in (
        "What: `shelf`",
        "Models: lead large, worker small-coder.",
        "Status: completed, whole",
        "41 of 41 files were seen",
        "3.10 credits paid now; 10.10 credits at full price",
    ):
        assert said in head


def test_an_offline_report_names_no_model(report: AuditReport) -> None:
    head = report_markdown(attrs.evolve(report, offline=True)).partition("## Summary")[0]
    assert "Offline rules, no model" in head
    assert "small-coder" not in head


def test_holes_are_said_before_any_finding(report: AuditReport) -> None:
    page = report_markdown(attrs.evolve(report, holes=1))
    assert page.index("1 hole: ") < page.index("## Findings")


def test_a_finding_shows_place_claim_call_expectation_and_votes(report: AuditReport) -> None:
    page = report_markdown(report)
    for said in (
        "#### The last window is lost",
        "`shelf/windows.py:44` in `moving_average`",
        "- Failing call: `moving_average([1, 2, 3, 4], 2)`",
        "- Expected: `[1.5, 2.5, 3.5]`",
        "2 of 3 skeptics called it real",
    ):
        assert said in page


def test_the_line_of_a_finding_is_marked_in_its_code(report: AuditReport) -> None:
    marked = [line for line in report_markdown(report).splitlines() if line.startswith("> ")]
    assert marked == ["> 44 |     for index in range(size, len(values) - 1):"]


def test_code_with_fences_gets_a_longer_fence(report: AuditReport, bug: Bug) -> None:
    page = report_markdown(attrs.evolve(report, bugs=(attrs.evolve(bug, code=((44, "````"),)),)))
    assert "\n`````text\n> 44 | ````\n`````\n" in page


def test_code_between_backticks_in_a_claim_stays_code(report: AuditReport, bug: Bug) -> None:
    page = report_markdown(attrs.evolve(report, bugs=(attrs.evolve(bug, claim="Uses `a_b[0]`, not `*c`."),)))
    assert "\nUses `a_b[0]`, not `*c`.\n" in page


def test_undecided_reports_stand_apart_with_their_reason(report: AuditReport, bug: Bug) -> None:
    page = report_markdown(attrs.evolve(report, undecided=(attrs.evolve(bug, reason="2 of 3 skeptics failed"),)))
    assert "Undecided because: 2 of 3 skeptics failed" in page.partition("## Undecided (1)")[2]


def test_two_places_of_one_bug_name_each_other(report: AuditReport, bug: Bug) -> None:
    page = report_markdown(attrs.evolve(report, bugs=(bug, attrs.evolve(bug, file="other.py"))))
    assert "The same bug as at `other.py:44`" in page


def test_no_finding_is_not_sold_as_a_clean_bill(report: AuditReport) -> None:
    page = report_markdown(attrs.evolve(report, bugs=()))
    assert "**No finding, with 41 of 41 files seen by a scan that answered.**" in page
    assert "it says nothing about files that were not examined" in page


def test_files_that_were_not_read_are_listed_with_the_reason(report: AuditReport) -> None:
    page = report_markdown(attrs.evolve(report, skipped=(Unread("data`x.py", "holds NUL"),)))
    assert "- ``data`x.py``: holds NUL" in page


def test_an_expectation_that_is_a_sentence_is_not_set_as_code(report: AuditReport, bug: Bug) -> None:
    page = report_markdown(attrs.evolve(report, bugs=(attrs.evolve(bug, expected="`a` and `b` the other way round"),)))
    assert "- Expected: `a` and `b` the other way round\n" in page


def test_agreement_of_offline_rules_is_not_called_a_vote_of_skeptics(report: AuditReport, bug: Bug) -> None:
    page = report_markdown(attrs.evolve(report, bugs=(attrs.evolve(bug, rule="swapped-arguments"),)))
    assert "reported by 2 offline scans; 2 of 3 offline checks agreed" in page
