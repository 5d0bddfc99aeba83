"""findings.json: the whole report, in a shape that programs can rely on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import attrs
import jsonschema
import pytest

from planloom_audit.exporters import findings_json, own_exporters
from planloom_audit.report import AuditReport, Bug, Unread
from planloom_data import schema


def written(report: AuditReport) -> Any:
    return json.loads(findings_json(report))


@pytest.fixture(scope="module")
def shape() -> Any:
    return json.loads(schema("findings.schema"))


def test_the_shipped_schema_is_one(shape: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(shape)


def test_a_report_fits_the_shipped_schema(report: AuditReport, shape: Any) -> None:
    jsonschema.validate(written(report), shape)


def test_a_finding_with_an_unknown_field_does_not_fit_the_schema(report: AuditReport, shape: Any) -> None:
    document = written(report)
    document["findings"][0]["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate(document, shape)


def test_a_finding_keeps_all_its_fields(report: AuditReport, bug: Bug) -> None:
    found = written(report)["findings"][0]
    kept = attrs.asdict(bug, filter=lambda field, _: field.name not in ("code", "sources", "reason"))
    assert {name: found[name] for name in kept} == kept


def test_code_keeps_its_line_numbers(report: AuditReport) -> None:
    assert written(report)["findings"][0]["code"][3] == {
        "line": 44,
        "text": "    for index in range(size, len(values) - 1):",
    }


def test_findings_come_with_the_most_severe_first(report: AuditReport, bug: Bug) -> None:
    mixed = [attrs.evolve(bug, severity=severity) for severity in ("low", "critical", "unranked", "medium")]
    found = written(attrs.evolve(report, bugs=tuple(mixed)))["findings"]
    assert [each["severity"] for each in found] == ["critical", "medium", "low", "unranked"]


def test_an_undecided_report_is_no_finding_and_says_why(report: AuditReport, bug: Bug) -> None:
    document = written(attrs.evolve(report, bugs=(), undecided=(attrs.evolve(bug, reason="2 skeptics failed"),)))
    assert (document["findings"], document["undecided"][0]["reason"]) == ([], "2 skeptics failed")


def test_an_offline_report_says_so_in_a_sentence(report: AuditReport) -> None:
    document = written(attrs.evolve(report, offline=True))
    assert document["offline"] is True
    assert document["basis"].startswith("Offline rules, no model")


def test_everything_that_is_missing_is_said(report: AuditReport) -> None:
    poor = attrs.evolve(
        report,
        status="interrupted",
        holes=2,
        skipped=(Unread("data.py", "holds NUL"),),
        coverage=attrs.evolve(report.coverage, covered=40, unseen=("huge.py",)),
    )
    assert [said.split(":")[0] for said in written(poor)["caveats"]] == [
        "The run is interrupted, not completed",
        "2 holes",
        "No scan that answered has seen 1 file",
        "Not read, so not examined",
    ]


def test_a_whole_report_has_no_caveats(report: AuditReport) -> None:
    assert written(report)["caveats"] == []


def test_asking_for_the_formats_loads_no_template_engine_and_no_highlighter() -> None:
    code = (
        "import sys; from planloom_audit.exporters import own_exporters; own_exporters(); "
        "print(sorted({'jinja2', 'pygments', 'markupsafe'} & set(sys.modules)))"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == "[]"


def test_formats_differ_in_name_and_in_file_name() -> None:
    formats = own_exporters()
    assert len({each.name for each in formats}) == len({each.file_name for each in formats}) == 4
