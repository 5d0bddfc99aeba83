"""A question is its frame and what fills it, whatever it looks like."""

from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from planloom.questions import Message, Part, Question
from planloom_sqlite._frames import contents, frame_of, refilled, skeleton_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
PARTS = TEXTS.map(Part)
# What stands in a question may look like the hash of one of its parts, or like the hole that the part leaves.
NAMES = st.one_of(TEXTS, PARTS.map(lambda part: part.digest), st.sampled_from(['"sample":', "\n", '"parts":["']))


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Draw a question."""
    messages = draw(st.lists(st.builds(Message, NAMES, st.lists(PARTS, max_size=3).map(tuple)), max_size=3))
    digests = [part.digest for message in messages for part in message.parts]
    odd = st.one_of(NAMES, st.sampled_from(digests)) if digests else NAMES
    return Question(
        endpoint=draw(odd),
        model=draw(odd),
        messages=tuple(messages),
        parameters=draw(
            st.dictionaries(odd, st.one_of(odd, st.integers(-9, 9), st.lists(odd, max_size=2)), max_size=2)
        ),
        sample=draw(st.tuples(st.integers(0, 2**50), st.integers(0, 9))),
    )


@given(questions(), st.lists(st.booleans(), min_size=9, max_size=9))
def test_a_frame_with_its_contents_is_the_skeleton(question: Question, numbered: list[bool]) -> None:
    parts = question.parts
    frame, sample = frame_of(question.skeleton.decode(), [part.digest for part in parts])
    named = [
        place if by_number else part.text for place, (part, by_number) in enumerate(zip(parts, numbered, strict=False))
    ]
    stored = contents(named, sample)
    assert skeleton_of(frame, stored, lambda number: parts[number].digest) == question.skeleton.decode()


def test_questions_of_one_kind_have_one_frame() -> None:
    kind = Question(
        endpoint="local",
        model="small",
        messages=(Message("system", (Part("a"),)), Message("user", (Part("b"), Part("c")))),
        parameters={"stop": ["\n"], "schema": {}},
    )
    other = attrs.evolve(
        kind, messages=(Message("system", (Part("d"),)), Message("user", (Part("e"), Part("e")))), sample=(3, 17)
    )
    one, two = (frame_of(q.skeleton.decode(), [part.digest for part in q.parts])[0] for q in (kind, other))
    assert one == two


def test_a_frame_filled_anew_names_parts_by_their_place() -> None:
    question = Question(
        endpoint="local",
        model="small",
        messages=(Message("system", (Part("a"),)), Message("user", (Part("b"), Part("a")))),
        parameters={},
    )
    frame, sample = frame_of(question.skeleton.decode(), [part.digest for part in question.parts])
    data, parts = refilled(frame, contents(["a", 17, "a"], sample))
    assert [message["parts"] for message in data["messages"]] == [[0], [1, 2]]
    assert parts == ["a", 17, "a"]
