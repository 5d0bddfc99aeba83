"""SARIF of any tool is scored like planloom's own findings, whatever way it writes its paths."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planloom_data
from planloom_bench import BadFindings, Report, Reported, load_bench, load_report, read_report, score
from planloom_code import FileNames

NAMES = FileNames(["a.py", "pack/b.py", "pack/with space#.py"])
AUDITED = Path("/bench/audited")


def log(*results: dict[str, Any], **run: object) -> dict[str, Any]:
    return {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": list(results), **run}]}


def result(uri: object = "pack/b.py", line: object = 3, base: str | None = None, **more: object) -> dict[str, Any]:
    artifact = {"uri": uri} | ({"uriBaseId": base} if base else {})
    location = {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}
    return {"ruleId": "R1", "message": {"text": "x"}, "locations": [location], **more}


def read(*results: dict[str, Any], **run: object) -> Report:
    return read_report(log(*results, **run), NAMES, AUDITED)


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("pack/b.py", "pack/b.py"),
        ("./pack/b.py", "pack/b.py"),
        ("file:///bench/audited/pack/b.py", "pack/b.py"),
        ("/bench/audited/pack/b.py", "pack/b.py"),
        ("/bench/audited/none/a.py", "none/a.py"),
        ("file:///elsewhere/clean/pack/b.py", "pack/b.py"),
        ("audited/pack/b.py", "pack/b.py"),
        ("pack/with%20space%23.py", "pack/with space#.py"),
        ("file:///bench/audited/pack/with%20space%23.py", "pack/with space#.py"),
        ("pack%2Fb.py", "pack/b.py"),
        ("C:/code/bench/audited/pack/b.py", "pack/b.py"),
        ("pack\\b.py", "pack/b.py"),
        ("none.py", "none.py"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_a_uri_means_the_file_however_it_is_written(uri: str, file: str) -> None:
    assert read(result(uri)).findings == (Reported(file, 3, rule="R1"),)


def test_bases_are_put_before_the_uris_that_name_them() -> None:
    bases = {
        "ROOT": {"uri": "file:///bench/"},
        "SRC": {"uri": "audited/pack/", "uriBaseId": "ROOT"},
    }
    report = read(result("b.py", base="SRC"), originalUriBaseIds=bases)
    assert report.findings[0].file == "pack/b.py"


def test_a_base_that_nobody_explains_is_passed_over() -> None:
    assert read(result("pack/b.py", base="%SRCROOT%")).findings[0].file == "pack/b.py"


def test_bases_that_stand_on_each_other_in_a_ring_come_to_an_end() -> None:
    ring = {"A": {"uri": "x", "uriBaseId": "B"}, "B": {"uri": "y", "uriBaseId": "A"}}
    assert len(read(result("pack/b.py", base="A"), originalUriBaseIds=ring).findings) == 1


def test_a_file_may_be_named_by_its_place_in_a_list() -> None:
    named = result()
    named["locations"][0]["physicalLocation"]["artifactLocation"] = {"index": 1}
    artifacts = [{"location": {"uri": "a.py"}}, {"location": {"uri": "pack/b.py"}}]
    assert read(named, artifacts=artifacts).findings[0].file == "pack/b.py"


@pytest.mark.parametrize("line", [None, 0, -1, "x", 10**400])
def test_a_result_without_a_line_is_set_aside(line: object) -> None:
    report = read(result(line=line), result())
    assert (len(report.findings), report.set_aside) == (1, 1)


def test_a_rule_may_be_named_by_its_place_in_a_list() -> None:
    tool = {"driver": {"name": "t", "rules": [{"id": "R0"}, {"id": "R1"}]}}
    named = [result(ruleId=None, ruleIndex=1), result(ruleId=None, rule={"index": 0}), result(ruleId=None, ruleIndex=9)]
    assert [finding.rule for finding in read(*named, tool=tool).findings] == ["R1", "R0", None]


def test_an_older_sarif_is_refused_with_its_version() -> None:
    with pytest.raises(BadFindings, match=r"expected SARIF 2\.1\.0, got 1\.0\.0"):
        read_report(log(result()) | {"version": "1.0.0"}, NAMES, AUDITED)


def test_a_result_on_a_whole_file_is_set_aside() -> None:
    whole = result()
    del whole["locations"][0]["physicalLocation"]["region"]
    assert read(whole, {"message": {"text": "nowhere"}}).set_aside == 2


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "pass"},
        {"kind": "notApplicable"},
        {"baselineState": "absent"},
        {"suppressions": [{"kind": "inSource"}]},
        {"suppressions": [{"kind": "external", "status": "accepted"}]},
    ],
)
def test_what_a_tool_does_not_hold_against_the_code_is_no_finding(more: dict[str, Any]) -> None:
    assert read(result(**more)) == Report((), 0)


@pytest.mark.parametrize("more", [{"kind": "fail"}, {"suppressions": [{"kind": "external", "status": "rejected"}]}])
def test_what_a_tool_holds_against_the_code_is_a_finding(more: dict[str, Any]) -> None:
    assert len(read(result(**more)).findings) == 1


@pytest.mark.parametrize(
    ("more", "confidence"),
    [({"rank": 80}, 0.8), ({"properties": {"confidence": 0.3}, "rank": 80}, 0.3), ({"rank": -1}, 0.5), ({}, 0.5)],
)
def test_how_sure_a_result_is_comes_from_what_it_says_or_from_its_rank(more: dict[str, Any], confidence: float) -> None:
    assert read(result(**more)).findings[0].confidence == confidence


def test_the_function_of_a_result_is_read() -> None:
    named = result()
    named["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": "A.b", "kind": "function"}]
    assert read(named).findings[0].function == "A.b"


def test_all_runs_of_a_log_count() -> None:
    two = log(result())
    two["runs"] += log(result(line=4))["runs"]
    assert [finding.line for finding in read_report(two, NAMES).findings] == [3, 4]


def test_the_shelf_is_scored_by_sarif_as_by_a_plain_list(tmp_path: Path) -> None:
    bench = load_bench(planloom_data.shelf_benchmark())
    entries = bench.key.entries[:5]
    sarif = log(*(result((bench.audited / entry.path).resolve().as_uri(), entry.line) for entry in entries))
    (tmp_path / "t.sarif").write_text("\ufeff" + json.dumps(sarif), encoding="utf-8")
    plain = [{"filename": entry.path, "row": entry.line} for entry in entries]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, plain)), encoding="utf-8")
    scores = [
        score(load_report(tmp_path / name, bench.names, bench.audited), bench).tally for name in ("t.sarif", "t.jsonl")
    ]
    assert [(tally.found, tally.wrong) for tally in scores] == [(5, ()), (5, ())]


KEYS = [
    *("results", "locations", "physicalLocation", "artifactLocation", "uri", "region", "startLine", "rank"),
    *("suppressions", "logicalLocations", "index", "uriBaseId", "properties", "kind"),
]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 200) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(st.lists(ANY, max_size=3), st.dictionaries(st.sampled_from(["artifacts", "originalUriBaseIds"]), ANY))
def test_nothing_that_has_runs_breaks_the_reader(runs: list[object], more: dict[str, Any]) -> None:
    report = read_report({"runs": [*runs, {"results": runs, **more}]}, NAMES, AUDITED)
    assert all(finding.line >= 1 for finding in report.findings)
