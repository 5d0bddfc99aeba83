"""Reading the one JSON value that fits a schema out of what a model wrote."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom._structured import read_answer, repair_request
from planloom.workers import Schema

FINDINGS = Schema(
    name="findings",
    shown={"type": "object", "properties": {"findings": {"type": "array"}}, "required": ["findings"]},
)
ANY_OBJECT = Schema(name="any", shown={"type": "object"})
ITEMS = Schema(
    name="items",
    shown={
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "object", "required": ["a"]}}},
        "required": ["items"],
    },
)


MENDED = Schema(name="mended", shown=FINDINGS.shown, read={"type": "object", "required": ["findings"]})


def test_a_number_too_large_spoils_no_whole_answer_of_those_that_are_mended_part_by_part() -> None:
    reading = read_answer(f'{{"findings": [{{"line": {10**40}}}, {{"line": 2}}]}}', MENDED)
    assert reading.value == {"findings": [{"line": 1e40}, {"line": 2}]}
    assert not read_answer(f'{{"findings": [{"9" * 400}]}}', MENDED).ok


def nested(depth: int) -> list[Any]:
    """Return empty lists in one another."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


READ = {
    "alone": ('{"findings": []}', {"findings": []}),
    "in prose": ('I looked. {"findings": []} That is all.', {"findings": []}),
    "in a fence": ('```json\n{"findings": [1]}\n```', {"findings": [1]}),
    "in a fence without a name": ('Here:\n~~~\n{"findings": [1]}\n~~~\nDone.', {"findings": [1]}),
    "in a fence that never ends": ('```json\n{"findings": [1]}', {"findings": [1]}),
    "r47 backticks in prose and in a text": (
        'Here is `the` result: {"findings": [{"why": "use `<=`"}]}',
        {"findings": [{"why": "use `<=`"}]},
    ),
    "a fence inside a text": (
        '{"findings": [{"why": "```py\\nx = {}\\n```"}]}',
        {"findings": [{"why": "```py\nx = {}\n```"}]},
    ),
    "r49 a draft while thinking": ('<think>maybe {"findings": [1]}</think>\n{"findings": []}', {"findings": []}),
    "thinking that never ends comes after": ('{"findings": []}\n<think>was {"findings": [1]}', {"findings": []}),
    "a tag inside a text": ('{"findings": ["<think>x</think>"]}', {"findings": ["<think>x</think>"]}),
    "an example that does not fit first": ('{"like": "this"} so: {"findings": [2]}', {"findings": [2]}),
    "the same twice": ('{"findings": [1]}\nAgain: {"findings": [ 1 ]}', {"findings": [1]}),
    "braces in prose": ('The set {1, 2} is {empty}: {"findings": []}', {"findings": []}),
    "an answer, and half of another remark": ('{"findings": []} As {"is": "sa', {"findings": []}),
    "a byte order mark": ('\ufeff{"findings": []}', {"findings": []}),
    "half a pair of surrogates": (r'{"findings": ["\ud800", "\ud83d\ude00"]}', {"findings": ["\ufffd", "\U0001f600"]}),
    "what only looks like one": (r'{"findings": ["\\ud800"]}', {"findings": [r"\ud800"]}),
    "the largest integer": ('{"findings": [9223372036854775807]}', {"findings": [2**63 - 1]}),
    "the smallest integer": ('{"findings": [-9223372036854775808]}', {"findings": [-(2**63)]}),
    "as deep as a plan can hold": ('{"findings": ' + "[" * 99 + "]" * 99 + "}", {"findings": nested(99)}),
}


@pytest.mark.parametrize(("text", "value"), READ.values(), ids=READ.keys())
def test_the_answer_is_found_where_models_put_it(text: str, value: Any) -> None:
    assert read_answer(text, FINDINGS).value == value


REFUSED = {
    "nothing there": ("I found no bug.", "there is no JSON object in the reply"),
    "empty": ("", "there is no JSON object in the reply"),
    "cut in a key": ('{"findings": [{"path": "a.py", "li', "the JSON breaks off before its end"),
    "cut between items, whole ones before": ('{"findings": [{"findings": []}, ', "the JSON breaks off before its end"),
    "cut in a literal": ('So: {"findings": [tru', "the JSON breaks off before its end"),
    "cut before the last brace": ('```json\n{"findings": []', "the JSON breaks off before its end"),
    "r57 NaN": ('{"findings": [], "confidence": NaN}', "NaN is not a JSON number"),
    "infinity": ('{"findings": [-Infinity]}', "-Infinity is not a JSON number"),
    "too large a number": ('{"findings": [1e999]}', "1e999 is too large a number"),
    "an integer of 65 bits": ('{"findings": [9223372036854775808]}', "9223372036854775808 is too large a number"),
    "one of 65 bits below zero": ('{"findings": [-9223372036854775809]}', "-9223372036854775809 is too large a number"),
    "one of 5,000 digits": (f'{{"findings": [{"7" * 5_000}]}}', f"{'7' * 20} is too large a number"),
    "deeper than a plan can hold": ('{"findings": ' + "[" * 100 + "]" * 100 + "}", "the JSON is nested too deeply"),
    "surrogates that make two keys one": (r'{"findings": [], "\ud800": 1, "\ud801": 2}', "stands twice in one object"),
    "one key twice": ('{"findings": [], "findings": [1]}', "the key `findings` stands twice in one object"),
    "one key twice, deep": ('{"findings": [{"a": 1, "a": 1}]}', "the key `a` stands twice in one object"),
    "r57 two that differ": ('{"findings": [1]} {"findings": [2]}', "two different JSON values both fit the schema"),
    "a field missing": ('{"bugs": []}', "top level: 'findings' is a required property"),
    "of another type": ('{"findings": 3}', "findings: 3 is not of type 'array'"),
    "an array for an object": ("[1, 2]", "top level: [1, 2] is not of type 'object'"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_answer_is_told_with_its_reason(text: str, problem: str) -> None:
    reading = read_answer(text, FINDINGS)
    assert not reading.ok
    assert problem in "\n".join(reading.problems)


def test_true_and_one_are_two_different_answers() -> None:
    assert not read_answer('{"a": 1} or {"a": true}', ANY_OBJECT).ok


def test_the_answer_is_judged_by_the_lenient_schema_where_there_is_one() -> None:
    lenient = Schema(name="f", shown={"type": "object", "required": ["findings", "more"]}, read=FINDINGS.shown)
    assert read_answer('{"findings": []}', lenient).ok


def test_problems_name_the_path_of_what_is_wrong() -> None:
    assert read_answer('{"items": [{"a": 1}, {"b": 2}]}', ITEMS).problems == ("items.1: 'a' is a required property",)


def test_a_repair_request_lists_at_most_eight_short_problems() -> None:
    reading = read_answer(json.dumps({"items": [{"x" * 300: 1}] * 20 + [3]}), ITEMS)
    lines = repair_request(reading.problems).splitlines()
    listed = [line for line in lines if line.startswith("- ")]
    assert len(listed) == 8
    assert max(map(len, listed)) <= 122


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4),
    st.sampled_from(["{}", "```json\n{}\n```", "So: {}!"]),
)
def test_any_object_comes_back_as_it_was_written(value: dict[str, Any], around: str) -> None:
    assert read_answer(around.replace("{}", json.dumps(value)), ANY_OBJECT).value == value


@given(st.text(max_size=200))
def test_no_text_makes_reading_fail(text: str) -> None:
    reading = read_answer(text, FINDINGS)
    assert reading.ok != bool(reading.problems)


@given(st.text('{}[]":,<think>/`1e\\n', max_size=200))
def test_no_text_that_is_nearly_json_makes_reading_fail(text: str) -> None:
    reading = read_answer(text, ANY_OBJECT)
    assert reading.ok != bool(reading.problems)


MEGABYTE = 1_000_000
HOSTILE = {
    "opening brackets": "[" * MEGABYTE,
    "opening braces": '{"a":' * (MEGABYTE // 5),
    "brackets before numbers": "[" * 200 + "1," * (MEGABYTE // 2),
    "deep and whole": "[" * 900 + "]" * 900,
    "a little too deep": '{"findings": ' + "[" * 985 + "]" * 985 + "}",
    "small objects": "{}[]" * (MEGABYTE // 4),
    "thinking": "<think>" * (MEGABYTE // 7),
    "half tags": "<thin" * (MEGABYTE // 5),
    "closing tags": "<think></thinking>" * (MEGABYTE // 18),
    "fences": "```\n" * (MEGABYTE // 4),
    "long text that never ends": '{"a": "' + "x" * MEGABYTE,
    "backslashes": '{"a": "' + "\\" * MEGABYTE,
    "one key twice among many": "{" + ",".join(f'"k{i}":1' for i in range(80_000)) + ',"k79999":2}',
    "bad items": json.dumps({"items": [{"b": i} for i in range(90_000)]}),
    "bad numbers": '{"items": [' + "NaN," * (MEGABYTE // 4) + "1]}",
    "a number of a million digits": '{"items": ' + "1" * MEGABYTE + "}",
    "white space": " " * MEGABYTE,
    "keys": "{" * 10 + '"a":1,' * (MEGABYTE // 6),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_megabyte_is_judged_in_well_under_a_second(text: str) -> None:
    began = time.process_time()
    read_answer(text, ITEMS)
    assert time.process_time() - began < 0.8
