"""Benchmarks, keys and reports are read with care; what is wrong is named with what to do next."""

import gzip
import json
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import planloom_data
from planloom_bench import (
    BadBenchmark,
    BadFindings,
    Reported,
    bench_command,
    load_bench,
    load_report,
    read_report,
    render_score,
    score,
    to_json,
    to_markdown,
)
from planloom_code import FileNames

SHELF = load_bench(planloom_data.shelf_benchmark())
NAMES = FileNames(["a.py", "pack/b.py"])
JSON_NAMES = ("file", "line", "function", "confidence", "findings", "location", "range", "start", "rule")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(JSON_NAMES), inner, max_size=5),
    max_leaves=12,
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(planloom_data.shelf_benchmark(), tmp_path / "copy"))


def change_key(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "hidden" / "answer_key.json"
    key = json.loads(path.read_text(encoding="utf-8"))
    change(key["entries"][0])
    path.write_text(json.dumps(key), encoding="utf-8")


def test_a_plain_list_and_an_object_with_findings_say_the_same() -> None:
    items = [{"file": "a.py", "line": 3, "claim": "x"}]
    assert read_report(items, NAMES) == read_report({"findings": items, "summary": ""}, NAMES)


@pytest.mark.parametrize("spelling", ["pack/b.py", "./pack/b.py", "/pack/b.py", "audited/pack/b.py", "pack\\b.py"])
def test_a_path_means_the_file_whatever_its_spelling(spelling: str) -> None:
    assert read_report([{"file": spelling, "line": 1}], NAMES).findings == (Reported("pack/b.py", 1),)


@pytest.mark.parametrize("line", [7, 7.0, "7", " 7 "])
def test_a_line_is_read_from_whole_numbers_of_any_form(line: object) -> None:
    assert read_report([{"file": "a.py", "line": line}], NAMES).findings[0].line == 7


@pytest.mark.parametrize("line", [None, 0, -1, True, 1.5, "x", [7], "7-9", float("nan")])
def test_an_item_without_a_line_is_set_aside_and_counted(line: object) -> None:
    report = read_report([{"file": "a.py", "line": line}, {"file": "a.py", "line": 1}], NAMES)
    assert (len(report.findings), report.set_aside) == (1, 1)


def test_the_surest_findings_come_first() -> None:
    items = [{"file": "a.py", "line": line, "confidence": sure} for line, sure in ((1, 0.2), (2, 0.9), (3, "high"))]
    assert [finding.line for finding in read_report(items, NAMES).findings] == [2, 3, 1]


@given(st.lists(JSON, max_size=5))
@settings(max_examples=30)  # the first looks at every file of the shelf
def test_any_list_is_a_report_that_can_be_scored(items: list[object]) -> None:
    report = read_report(items, SHELF.names)
    assert len(report.findings) + report.set_aside == len(items)
    assert score(report, SHELF).reported == len(report.findings)


@pytest.mark.parametrize("raw", [None, 3, "text", {"bugs": []}, {"findings": {}}])
def test_what_holds_no_list_of_findings_is_refused(raw: object) -> None:
    with pytest.raises(BadFindings, match="expected a list of findings"):
        read_report(raw, NAMES)


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ([{"filename": "pack/b.py", "code": "F401", "location": {"column": 1, "row": 7}}], "F401"),
        ({"errors": [], "results": [{"filename": "./pack/b.py", "line_number": 7, "test_id": "B101"}]}, "B101"),
        ({"messages": [{"path": "pack/b.py", "line": 7, "message-id": "E0601"}]}, "E0601"),
        ({"generalDiagnostics": [{"file": "/x/pack/b.py", "rule": "r", "range": {"start": {"line": 6}}}]}, "r"),
        ({"results": [{"path": "pack/b.py", "check_id": "py.x", "start": {"line": 7, "col": 2}}]}, "py.x"),
        ([{"check_name": "c", "location": {"path": "pack/b.py", "lines": {"begin": 7, "end": 8}}}], "c"),
    ],
)
def test_reports_of_other_tools_are_read_where_they_keep_file_and_line(raw: object, rule: str) -> None:
    assert read_report(raw, NAMES).findings == (Reported("pack/b.py", 7, rule=rule),)


def test_a_report_of_which_nothing_can_be_read_is_refused_and_not_scored_as_silence(tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    path.write_text('[{"where": "a.py:3"}, {"file": "a.py"}]', encoding="utf-8")
    with pytest.raises(BadFindings, match=r"findings\.json holds 2 items, none with a file and a line"):
        load_report(path, NAMES)
    path.write_text("[]", encoding="utf-8")
    assert load_report(path, NAMES).findings == ()


@pytest.mark.parametrize(
    "packed",
    [
        lambda text: gzip.compress(text.encode()),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-8-sig"),
    ],
)
def test_a_report_is_read_however_a_tool_or_a_shell_has_written_it(
    tmp_path: Path, packed: Callable[[str], bytes]
) -> None:
    path = tmp_path / "findings"
    path.write_bytes(packed('[{"file": "a.py", "line": 3}]'))
    assert load_report(path, NAMES).findings == (Reported("a.py", 3),)


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8b\x08\x00" + bytes(20), b"\xff\xfe\x00", b"\x80"])
def test_a_report_that_is_cut_off_or_no_text_is_refused_with_its_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "findings.json"
    path.write_bytes(data)
    with pytest.raises(BadFindings, match=r"findings\.json"):
        load_report(path, NAMES)


def test_a_report_that_is_no_json_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    path.write_text("no json", encoding="utf-8")
    with pytest.raises(BadFindings, match=r"findings\.json is no JSON"):
        load_report(path, NAMES)


def test_a_report_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFindings, match="cannot be read"):
        load_report(tmp_path / "none.json", NAMES)


def test_a_folder_without_an_audited_part_is_no_benchmark(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match="holds no folder audited/"):
        load_bench(tmp_path)


def test_a_benchmark_without_its_key_is_refused(copy: Path) -> None:
    shutil.rmtree(copy / "hidden")
    with pytest.raises(BadBenchmark, match="cannot be read"):
        load_bench(copy)


def test_a_key_that_does_not_fit_its_schema_is_refused_with_the_place(copy: Path) -> None:
    change_key(copy, lambda entry: entry.update(line="two"))
    with pytest.raises(BadBenchmark, match=r"\$\.entries\[0\]\.line: 'two' is not of type 'integer'"):
        load_bench(copy)


def test_a_key_whose_line_moved_is_refused(copy: Path) -> None:
    change_key(copy, lambda entry: entry.update(line=entry["line"] + 1))
    with pytest.raises(BadBenchmark, match="the key says"):
        load_bench(copy)


def test_a_key_beyond_the_end_of_its_file_is_refused(copy: Path) -> None:
    change_key(copy, lambda entry: entry.update(line=100_000))
    with pytest.raises(BadBenchmark, match="the end of the file"):
        load_bench(copy)


def test_a_key_for_a_file_that_is_not_there_is_refused(copy: Path) -> None:
    change_key(copy, lambda entry: entry.update(path="shelf/none.py"))
    with pytest.raises(BadBenchmark, match=r"shelf/none\.py:\d+ is named by the key .* not in audited/"):
        load_bench(copy)


def test_a_manifest_without_a_name_is_refused(copy: Path) -> None:
    (copy / "manifest.json").write_text("[]", encoding="utf-8")
    with pytest.raises(BadBenchmark, match="no manifest with a name"):
        load_bench(copy)


@pytest.mark.parametrize("content", [b"x = '\xe9'\n", b"def broken(:\n", b"\x00", "\ufeffx = 1\n".encode()])
def test_files_that_python_cannot_read_do_not_stop_a_score(copy: Path, content: bytes) -> None:
    (copy / "audited" / "odd.py").write_bytes(content)
    bench = load_bench(copy)
    report = read_report([{"file": "odd.py", "line": 1}], bench.names)
    assert len(score(report, bench).tally.wrong) == 1


FIRST = {"file": SHELF.key.entries[0].path, "line": SHELF.key.entries[0].line}


def shown(items: list[object]) -> str:
    console = Console(width=100, record=True, file=StringIO())
    console.print(render_score(score(read_report(items, SHELF.names), SHELF)))
    return console.export_text()


def test_the_table_shows_score_strict_score_and_chance_one_below_another() -> None:
    text = shown([FIRST])
    assert [
        name for name in ("five_lines", "same_statement", "chance", "1 of 24", "lower bound") if name not in text
    ] == []


def test_the_table_of_an_empty_report_says_so() -> None:
    assert "Nothing was reported" in shown([])


def test_markdown_has_a_row_for_every_kind() -> None:
    text = to_markdown(score(read_report([], SHELF.names), SHELF))
    assert [entry.kind for entry in SHELF.key.entries if f"| {entry.kind} | 0 | 2 |" not in text] == []


def test_a_score_as_json_holds_the_shares_and_survives_a_round_trip() -> None:
    plain = to_json(score(read_report([FIRST], SHELF.names), SHELF))
    assert json.loads(json.dumps(plain))["strict"]["precision"] == 1.0


def test_the_command_prints_the_folder_of_the_shipped_benchmark() -> None:
    assert CliRunner().invoke(bench_command, ["path"]).output.strip() == str(planloom_data.shelf_benchmark())
