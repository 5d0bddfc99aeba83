"""Long texts in a rehearsal: told apart by all of their characters, and hashed in place of being written out."""

from __future__ import annotations

import random

import pytest

from planloom.questions import LONG_CHARACTERS
from planloom.stand_ins import identified, request_random
from planloom.workers import Conversation, WorkerRequest


def request(*identity: object) -> WorkerRequest:
    return WorkerRequest(word="agent", identity=identity, role="worker", label="", build=Conversation, input_tokens=1)


def drawn(generator: random.Random) -> float:
    return generator.random()


@pytest.mark.parametrize("length", [10, LONG_CHARACTERS, LONG_CHARACTERS + 1, 300_000])
def test_texts_that_differ_in_their_last_character_are_two_questions(length: int) -> None:
    one, other = request("p" * length + "a"), request("p" * length + "b")
    assert identified(one) == identified(request("p" * length + "a")) != identified(other)
    assert drawn(request_random(one, 1)) != drawn(request_random(other, 1))


def test_what_tells_a_question_apart_is_short_however_long_its_texts_are() -> None:
    assert len(repr(identified(request("p" * 1_000_000, "s", "d" * 1_000_000, None)))) < 300


def test_a_text_that_no_server_could_be_sent_is_told_apart_too() -> None:
    assert identified(request("\ud800" * 20_000)) != identified(request("\ud801" * 20_000))
