"""Fingerprints: everything that is sent is in them, and nothing else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom import Misuse
from planloom.clients import Endpoint
from planloom.questions import (
    KEY_VERSION,
    LONG_CHARACTERS,
    Parameters,
    Part,
    Question,
    Questions,
    Reply,
    canonical_json,
    message_of,
    text_digest,
)
from planloom.testing.store_samples import a_reply
from planloom.workers import Conversation

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
JSON_NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
PARAMETERS = st.dictionaries(TEXT, JSON_NUMBERS | TEXT | st.booleans() | st.none(), max_size=4)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    roles = st.sampled_from(["system", "user", "assistant"])
    messages = draw(st.lists(st.tuples(roles, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=3))
    return Question(
        endpoint=draw(TEXT),
        model=draw(TEXT),
        messages=tuple(message_of(role, *texts) for role, texts in messages),
        parameters=draw(PARAMETERS),
        sample=draw(st.tuples(st.integers(0, 9), st.integers(0, 9))),
    )


def copy_of(question: Question) -> Question:
    return attrs.evolve(
        question, messages=tuple(message_of(m.role, *(p.text for p in m.parts)) for m in question.messages)
    )


def with_last_text(question: Question, text: str) -> Question:
    *before, last = question.messages
    return attrs.evolve(question, messages=(*before, message_of(last.role, *(p.text for p in last.parts[:-1]), text)))


def with_last_role(question: Question, role: str) -> Question:
    *before, last = question.messages
    return attrs.evolve(question, messages=(*before, attrs.evolve(last, role=role)))


CHANGES: dict[str, Callable[[Question], Question]] = {
    "endpoint": lambda q: attrs.evolve(q, endpoint=q.endpoint + "x"),
    "model": lambda q: attrs.evolve(q, model=q.model + "x"),
    "text": lambda q: with_last_text(q, q.messages[-1].parts[-1].text + "x"),
    "role": lambda q: with_last_role(q, "assistant" if q.messages[-1].role == "user" else "user"),
    "one more message": lambda q: attrs.evolve(q, messages=(*q.messages, message_of("user", "x"))),
    "parameter": lambda q: attrs.evolve(q, parameters={**q.parameters, "a new one": 1}),
    "run number": lambda q: attrs.evolve(q, sample=(q.sample[0] + 1, q.sample[1])),
    "sample": lambda q: attrs.evolve(q, sample=(q.sample[0], q.sample[1] + 1)),
}


@given(questions(), st.sampled_from(sorted(CHANGES)))
def test_a_change_of_anything_that_is_sent_changes_the_fingerprint(question: Question, change: str) -> None:
    assert CHANGES[change](question).fingerprint != question.fingerprint


@given(questions(), questions())
def test_two_questions_have_one_fingerprint_only_when_they_are_equal(first: Question, second: Question) -> None:
    def sent(question: Question) -> str:
        parts = [[m.role, [p.text for p in m.parts]] for m in question.messages]
        named = [question.endpoint, question.model, parts, dict(question.parameters), question.sample]
        return json.dumps(named, sort_keys=True)

    assert (first.fingerprint == second.fingerprint) == (sent(first) == sent(second))


@given(questions())
def test_the_same_question_made_twice_has_one_fingerprint(question: Question) -> None:
    assert copy_of(question).fingerprint == question.fingerprint


@given(questions())
def test_a_question_that_is_not_made_has_the_fingerprint_that_it_would_have(question: Question) -> None:
    kind = Questions(question.endpoint, question.model, question.parameters)
    assert kind.fingerprint(question.messages, question.sample) == question.fingerprint
    assert kind.question(question.messages, question.sample) == question


SHORT = TEXT | st.just("")
TEXTS = st.one_of(SHORT, SHORT.map(Part), st.just("x" * (LONG_CHARACTERS + 1)).map(Part))


@given(st.lists(TEXTS, max_size=3), TEXTS, st.lists(TEXTS, max_size=3))
def test_a_conversation_has_the_fingerprint_of_its_messages_without_making_them(
    system: list[Part | str], prompt: Part | str, data: list[Part | str]
) -> None:
    conversation, kind = (
        Conversation(system=tuple(system), prompt=prompt, data=tuple(data)),
        Questions("e", "m", Parameters({})),
    )
    parts = [part for part in (*system, prompt, *data) if isinstance(part, Part)]
    if any(len(part.text) > LONG_CHARACTERS and not part.is_hashed for part in parts):
        assert conversation.heads() is None
        for part in parts:
            part.digest  # noqa: B018 - known from now on
    heads = conversation.heads()
    assert heads is not None
    assert kind.fingerprint_of(heads, (0, 1)) == kind.fingerprint(conversation.messages(), (0, 1))


def test_a_long_text_that_nobody_hashed_is_not_hashed_at_once() -> None:
    text = "y" * (LONG_CHARACTERS + 1)
    assert Conversation(prompt="short", data=(text,)).heads() is None
    held = Conversation(prompt=text).messages()
    held[0].parts[0].digest  # noqa: B018 - known from now on
    assert Conversation(prompt=text).heads()


@pytest.mark.parametrize("conversation", [Conversation(prompt="\ud800"), Conversation(system=(Part("\ud800"),))])
def test_a_text_that_cannot_be_sent_has_no_fingerprint(conversation: Conversation) -> None:
    with pytest.raises(Misuse, match="lone surrogate at character 0"):
        conversation.heads()


@given(questions())
def test_the_order_of_parameters_is_not_part_of_a_question(question: Question) -> None:
    turned = attrs.evolve(question, parameters=dict(reversed(list(question.parameters.items()))))
    assert turned.fingerprint == question.fingerprint


@given(questions())
def test_the_skeleton_of_a_question_is_canonical_json(question: Question) -> None:
    skeleton = attrs.evolve(question, parameters={}).skeleton
    assert canonical_json(json.loads(skeleton)) == skeleton


def test_a_fingerprint_is_the_hash_of_canonical_json_with_a_key_version() -> None:
    question = Question(endpoint="e", model="m", messages=(message_of("user", "hello"),), parameters={"b": 1, "a": 2.0})
    part = hashlib.sha256(b"hello").hexdigest()
    written = (
        f'{{"endpoint":"e","key_version":{KEY_VERSION},"messages":[{{"parts":["{part}"],"role":"user"}}],'
        '"model":"m","parameters":{"a":2,"b":1},"sample":[0,0]}'
    )
    assert question.fingerprint == hashlib.sha256(written.encode()).hexdigest()


def test_where_a_server_is_and_how_long_it_may_take_are_not_part_of_a_question() -> None:
    sent = {field.name for field in attrs.fields(Question) if field.init}
    transport = {field.name for field in attrs.fields(Endpoint)} - {"name", "parameters"}  # these are sent
    assert not sent & (transport | {"label", "key", "headers"})


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_has_no_form_for_is_refused(number: float) -> None:
    with pytest.raises(Misuse, match="cannot be part of a question"):
        canonical_json({"temperature": number})


@pytest.mark.parametrize("value", [{1: "a"}, {"a": 2**60}, ["\ud800"], {"\udfff": 1}, object()])
def test_what_canonical_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(Misuse, match="cannot be part of a question"):
        canonical_json(value)


def test_a_lone_surrogate_in_a_text_is_refused_with_its_place() -> None:
    with pytest.raises(Misuse, match="lone surrogate at character 2"):
        text_digest("ab\ud800c")


@given(TEXT)
def test_a_part_never_has_more_tokens_than_its_bound(text: str) -> None:
    assert Part(text).size_bytes == len(text.encode())


def test_the_schema_that_goes_with_a_question_counts_into_the_bound_of_its_tokens() -> None:
    bare = Question(endpoint="e", model="m", messages=(message_of("user", "x"),), parameters={})
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    shaped = attrs.evolve(bare, parameters={"response_format": schema})
    assert shaped.input_tokens_bound >= bare.input_tokens_bound + len(canonical_json(schema))


def test_a_message_joins_its_parts_by_a_blank_line_and_leaves_empty_ones_out() -> None:
    assert message_of("user", "prompt", "", "data").text == "prompt\n\ndata"


@pytest.mark.parametrize(
    ("text", "finish_reason", "whole"),
    [
        ("yes", "stop", True),
        ("yes", None, True),
        ("yes", "end_turn", True),
        ("{}", "tool_calls", True),
        ("half an obj", "length", False),
        ("", "stop", False),
        ("  \n", "stop", False),
        ("no", "content_filter", False),
        ("half", "error", False),
    ],
)
def test_a_reply_counts_as_an_answer_only_when_it_is_whole(text: str, finish_reason: str | None, whole: bool) -> None:
    reply: Reply = attrs.evolve(a_reply(text), finish_reason=finish_reason)
    assert reply.whole is whole


def test_messages_that_hold_one_long_text_share_its_part_so_that_it_is_hashed_once() -> None:
    long = "x" * (LONG_CHARACTERS + 1)
    one, two = message_of("user", "first", long), message_of("user", "second", "x" * (LONG_CHARACTERS + 1))
    assert one.parts[1] is two.parts[1]
