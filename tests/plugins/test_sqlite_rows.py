"""How rows get into statements: in lots of few sizes, as compact JSON, with the frame that their question has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.questions import Parameters, Question, message_of
from planloom_sqlite._frames import Frames, frame_of
from planloom_sqlite._packing import encode
from planloom_sqlite._rows import in_lots

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_JSON)
def test_plain_data_is_encoded_as_the_json_module_does_compactly(value: Any) -> None:
    assert encode(value) == json.dumps(value, separators=(",", ":"))


def test_what_cannot_be_encoded_is_refused_as_the_json_module_does() -> None:
    within_itself: list[Any] = []
    within_itself.append(within_itself)
    with pytest.raises(ValueError, match="Circular"):
        encode(within_itself)
    with pytest.raises(TypeError, match="not JSON serializable"):
        encode([object()])


@given(st.integers(1, 700))
def test_rows_are_written_in_lots_of_few_sizes_and_each_once(count: int) -> None:
    lots = list(in_lots(range(1, count + 1), 0))
    assert [row for lot in lots for row in lot if row] == list(range(1, count + 1))
    assert {len(lot) for lot in lots} <= {1, 2, 4, 8, 16, 32, 64, 128}
    assert len(lots) <= count // 128 + 2
    assert lots[-1][0]


_QUESTIONS = st.builds(
    Question,
    endpoint=st.sampled_from(["local", 'a"b']),
    model=st.sampled_from(["small", "groß"]),
    messages=st.lists(
        st.builds(message_of, st.sampled_from(["system", "user"]), st.text("ab"), st.text("cd")), max_size=3
    ).map(tuple),
    parameters=st.sampled_from([Parameters({"top_p": 0.5}), Parameters({"sample": [0, 0]}), Parameters({})]),
    sample=st.tuples(st.integers(0, 3), st.integers(-1, 3)),
)


@given(st.lists(_QUESTIONS, max_size=12))
def test_questions_of_one_kind_have_the_frame_that_each_has_alone(questions: list[Question]) -> None:
    frames = Frames()
    for question in questions:
        digests = [part.digest for part in question.parts]
        assert frames.of(question) == frame_of(question.skeleton.decode(), digests)
