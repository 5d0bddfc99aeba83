"""Schemas that stand in a plan are judged by the check, in the words with which the rehearsal would refuse it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlang import Vocabulary, check
from planlang import compile as compile_program
from planloom import PlanloomError
from planloom._plain_schemas import TYPES, is_plainly_right
from planloom._schemas import check_schema, judge_schema
from planloom.jobs import default_price
from planloom.money import MICRO
from planloom.plugins import Registry, load_plugins
from planloom.rehearsal import rehearse
from planloom.settings import offline_settings
from planloom.words import build_vocabulary


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


NO_JUDGES = {
    '{"$ref": "http://127.0.0.1:1/answer"}': "refers to `http://127.0.0.1:1/answer`, which is not in it",
    '{"properties": {"a": {"$ref": "#/$defs/missing"}}}': "refers to `#/$defs/missing`",
    '{"$id": "http://x/y", "$ref": "#/z"}': "refers to what is not in it: PointerToNowhere: '/z'",
    '{"$ref": "#"}': "refers to itself without end",
    '{"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}': "the pattern '^(a+)+$' in `schema`",
    '{"type": ["string", "nul"]}': "type: ['string', 'nul'] is no type",
    '{"properties": {"n": {"minimum": "0"}}}': "properties.n.minimum: '0' is not of type 'number'",
    "{3: {}}": "`schema` holds the key 3, which is no text",
}


@pytest.fixture(scope="module")
def vocabulary(registry: Registry) -> Vocabulary:
    return build_vocabulary(registry, offline_settings(), [])


def told(vocabulary: Vocabulary, source: str) -> list[str]:
    return [problem.render(source) for problem in check(source, vocabulary) if problem.severity == "problem"]


@pytest.mark.parametrize("schema", NO_JUDGES)
def test_the_check_says_of_a_schema_in_a_plan_what_the_rehearsal_would_refuse_it_for(
    registry: Registry, vocabulary: Vocabulary, schema: str
) -> None:
    (problem,) = [p for p in check(f'result = agent("q", schema={schema})\n', vocabulary) if p.severity == "problem"]
    assert (problem.code, problem.line) == ("PL126", 1)
    assert NO_JUDGES[schema] in problem.message
    program = compile_program(f'result = agent("q", schema=dict([*{schema}.items()]))\n', vocabulary)
    rehearsed = rehearse(
        program, registry=registry, settings=offline_settings(), works={}, prices=default_price, budget=10 * MICRO
    )
    assert rehearsed.problems[0].startswith(f"rehearsal: line 1: ValueError: {problem.message}")


def test_what_is_wrong_in_a_schema_is_marked_where_it_stands(vocabulary: Vocabulary) -> None:
    source = (
        'row = {"type": "strng"}\n'
        'rows = {"type": "array", "items": row}\n'
        'result = parallel([lambda p=p: agent(p, schema=rows) for p in ["a", "b"]])\n'
    )
    assert told(vocabulary, source) == [
        "plan:1:16: PL126 `schema` is not a JSON Schema: items.type: 'strng' is no type\n"
        '    1 | row = {"type": "strng"}\n'
        "      |                ^^^^^^^\n"
        "   Next: write one of array, boolean, integer, null, number, object, string, or a list of some."
    ]


@pytest.mark.parametrize(
    "before",
    [
        's["type"] = "string"\n',
        's.update({"type": "string"})\n',
        's |= {"type": "string"}\n',
        's = {"type": "string"}\n',
        't = s\nt["type"] = "string"\n',
        'for t in [s]:\n    t["type"] = "string"\n',
        't = [s]\nt[0]["type"] = "string"\n',
        'def mend(t):\n    t["type"] = "string"\nmend(s)\n',
        't = dict(a=s)\nt["a"]["type"] = "string"\n',
    ],
)
def test_nothing_is_said_of_a_schema_that_the_plan_may_change_before_it_is_used(
    vocabulary: Vocabulary, before: str
) -> None:
    assert told(vocabulary, f's = {{"type": "strng"}}\n{before}result = agent("q", schema=s)\n') == []


def test_a_value_that_doubles_with_each_name_is_not_written_out(vocabulary: Vocabulary) -> None:
    lines = [f'n{i} = {{"anyOf": [n{i - 1}, n{i - 1}]}}\n' for i in range(1, 60)]
    assert told(vocabulary, f"n0 = {{}}\n{''.join(lines)}result = agent('q', schema=n59)\n") == []


def test_names_within_names_without_end_are_not_followed(vocabulary: Vocabulary) -> None:
    chain = "; ".join(f"n{i} = n{i - 1}" for i in range(1, 200))
    nested = "; ".join(f"m{i} = [m{i - 1}]" for i in range(1, 150))
    source = f'n0 = {{}}; m0 = {{}}\n{chain}\n{nested}\nresult = agent("q", schema={{"a": [n199, m149]}})\n'
    assert told(vocabulary, source) == []


KEYWORDS = (
    *("type", "properties", "required", "items", "additionalProperties", "anyOf", "enum", "examples", "const"),
    *("default", "title", "description", "minimum", "maximum", "minLength", "maxItems", "uniqueItems"),
    *("$ref", "$id", "$defs", "pattern", "format", "patternProperties", "not", "if"),
)
scalars = st.one_of(
    st.sampled_from([*TYPES, "strng", "a", "#", "#/x", "\ud800", 0, 1, -1, 2**60, 1.5, float("inf"), True, None]),
    st.text(max_size=3),
)
schemas = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*KEYWORDS, "a", 3]), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(schema=st.dictionaries(st.sampled_from(KEYWORDS), schemas, max_size=4))
def test_what_is_said_of_a_schema_is_what_a_call_with_it_would_raise(schema: dict[str, Any]) -> None:
    said = judge_schema(schema)
    raised = ""
    try:
        check_schema(schema)
    except (ValueError, PlanloomError) as error:
        raised = str(error)
    assert bool(raised) == (said is not None)
    assert raised.startswith(said[0] if said else "")


ORDINARY = """{
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["yes", "no"]},
        "score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "rows": {"type": "array", "items": {"type": "object", "additionalProperties": False}, "maxItems": 9},
    },
    "required": ["verdict"],
}"""


def test_an_ordinary_schema_is_judged_without_what_takes_long_to_import() -> None:
    code = (
        "import sys; from planloom._schemas import judge_schema; "
        f"assert judge_schema({ORDINARY}) is None; print('jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_an_ordinary_schema_lacks_is_said_all_the_same() -> None:
    assert is_plainly_right({"type": "object", "required": ["a", "b"]})
    assert not is_plainly_right({"type": "object", "required": ["a", "a"]})
    said = judge_schema({"type": "object", "required": ["a", "a"]})
    assert said == (
        "`schema` is not a JSON Schema: required: ['a', 'a'] has non-unique elements",
        "mend it there, or leave `schema` out: the answer is a text then.",
        ["required"],
    )
