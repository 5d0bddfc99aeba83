"""The offline report: rows grouped by rule, nothing lost, and honest about what it is."""

from __future__ import annotations

import jsonschema

from planloom_audit.schemas import REPORT
from planloom_offline import TIGHT_RULES
from planloom_offline._grouping import report

ROWS = """C1 | a.py:3 | f | 2 votes | [swapped-arguments] `area(h, w)` passes
C2 | b.py:9 | - | 2 votes | [guard-against-message] the guard
C3 | c.py:1 | g | 3 votes | [swapped-arguments] another
C4 | d | e.py:7 | h | 2 votes | a claim that a model wrote
"""


def test_rows_of_one_rule_make_one_group_and_the_most_severe_comes_first() -> None:
    groups = [(bug["ids"], bug["severity"]) for bug in report(ROWS, TIGHT_RULES)["bugs"]]
    assert groups == [(["C1", "C3"], "high"), (["C2"], "medium"), (["C4"], "medium")]


def test_a_report_has_the_form_of_the_schema() -> None:
    jsonschema.validate(report(ROWS, TIGHT_RULES), dict(REPORT.shown))


def test_a_summary_says_that_rules_made_it_and_how_often_they_are_right() -> None:
    summary = report(ROWS, TIGHT_RULES)["summary"]
    assert "offline rules, with no model" in summary
    rule = next(rule for rule in TIGHT_RULES if rule.name == "swapped-arguments")
    assert f"swapped-arguments {rule.bugs} of {rule.reports}" in summary


def test_a_summary_of_every_rule_keeps_to_a_hundred_words() -> None:
    rows = "\n".join(f"C{n} | a.py:1 | f | 2 votes | [{rule.name}] x" for n, rule in enumerate(TIGHT_RULES))
    assert len(report(rows, TIGHT_RULES)["summary"].split()) <= 100


def test_a_row_given_twice_is_listed_once() -> None:
    assert report(ROWS + ROWS, TIGHT_RULES)["bugs"][0]["ids"] == ["C1", "C3"]


def test_no_rows_make_no_groups() -> None:
    assert report("Group these.", TIGHT_RULES)["bugs"] == []
