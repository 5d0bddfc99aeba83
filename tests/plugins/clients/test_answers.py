"""What every client of a model server makes of answers, over real sockets: each is asked in every dialect, streamed and
not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from planloom import Usage
from planloom.testing.loopback import (
    Served,
)

from .ways import IDS, SHAPE, WAYS, Way, ask, packed

pytestmark = pytest.mark.parametrize("way", WAYS, ids=IDS)

ANSWERS: dict[str, Callable[[Way], Served]] = {
    "one text": Way.answer,
    "a list of parts": Way.parts,
    "thinking before it": Way.thought,
    "no counts": Way.uncounted,
    "packed": lambda way: packed(way.answer()),
    "a few bytes at a time": lambda way: way.answer().trickled(7, 0.0),
    "in chunks": lambda way: way.answer().in_chunks(),
    "in chunks of a few bytes": lambda way: way.answer().in_chunks().trickled(7, 0.0),
    "hung up behind it": lambda way: way.answer().hanging_up(),
    "a stream though none was asked for, or none though one was": lambda way: way.other().answer(),
    "no reason why it ended": lambda way: way.answer(reason=None),
}


@pytest.mark.parametrize("served", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_is_its_text_however_it_comes(way: Way, served: Callable[[Way], Served]) -> None:
    reply = ask(way, served(way))
    assert (reply.text, reply.whole, reply.model) == ("yes", True, "loopback-1")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_events_may_end_their_lines_in_any_way(way: Way, end: str) -> None:
    streamed = Way(way.client, stream=True).answer()
    body = streamed.body.replace(b"\n", end.encode())
    assert ask(way, Served(body=body, headers={"content-type": "Text/Event-Stream; charset=utf-8"})).text == "yes"


def test_a_text_of_any_characters_arrives_as_it_is(way: Way) -> None:
    text = 'line\n\n"quoted" [DONE]\r\n{"type": "message_stop"} \u2028 é \U0001f600 data: x'
    assert ask(way, way.answer(text).trickled(11, 0.0)).text == text


def test_each_count_is_read(way: Way) -> None:
    counts = Usage(prompt_tokens=20, cached_prompt_tokens=12, completion_tokens=5, reasoning_tokens=3)
    assert ask(way, way.counted()).usage == counts


def test_counts_that_are_not_there_are_not_said(way: Way) -> None:
    assert ask(way, way.uncounted()).usage == Usage()


def test_a_tool_call_instead_of_text_is_what_it_was_given(way: Way) -> None:
    assert json.loads(ask(way, way.called(), SHAPE).text) == {"keep": True}


def test_a_tool_call_that_nobody_asked_for_is_read_too(way: Way) -> None:
    reply = ask(way, way.called())
    assert (json.loads(reply.text), reply.whole) == ({"keep": True}, True)


def test_an_answer_that_holds_nothing_is_empty_and_not_whole(way: Way) -> None:
    reply = ask(way, way.nothing())
    assert (reply.text, reply.whole) == ("", False)


@pytest.mark.parametrize(("reason", "said"), [("length", "length"), ("filtered", "content_filter")])
def test_an_answer_that_was_cut_or_filtered_keeps_its_text_and_is_not_whole(way: Way, reason: str, said: str) -> None:
    reply = ask(way, way.answer('{"keep', reason))
    assert (reply.text, reply.finish_reason, reply.whole) == ('{"keep', said, False)
