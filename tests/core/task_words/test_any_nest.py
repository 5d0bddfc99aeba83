"""`parallel`, `pipeline` and `race` against the same thing written in plain asyncio, in virtual time.

A plan and its model are told the same answers after the same delays; they must bring the same values at the same
second, having asked the same questions.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .nests import modelled, plans_with_answers
from .plays import few, kinds, play


@given(plans_with_answers())
@few
def test_any_nest_of_words_brings_what_plain_asyncio_brings_at_the_same_second(case: tuple[Any, Any]) -> None:
    nest, answers = case
    played = play(f"result = {nest.source()}\n", answers)
    value, seconds, model = modelled(answers, nest.run)
    assert played.result == value
    assert played.seconds == pytest.approx(seconds)
    assert Counter(played.asked) == Counter(model.asked)


@given(plans_with_answers(), st.randoms(use_true_random=False))
@few
def test_a_plan_that_is_played_again_from_its_journal_decides_as_before_whatever_is_slow_now(
    case: tuple[Any, Any], random: Any
) -> None:
    nest, answers = case
    source = f"result = {nest.source()}\n"
    before = play(source, answers)
    shuffled = list(answers.values())
    random.shuffle(shuffled)
    slow_otherwise = {
        name: attrs.evolve(answer, delay_s=other.delay_s)
        for (name, answer), other in zip(answers.items(), shuffled, strict=True)
    }
    again = play(source, slow_otherwise, recorded=before.journal)
    assert again.result == before.result
    assert again.journal == before.journal
    assert not Counter(again.asked) - Counter(before.asked)


@given(plans_with_answers())
@few
def test_every_worker_of_a_plan_is_done_failed_or_cancelled_in_the_end(case: tuple[Any, Any]) -> None:
    nest, answers = case
    played = play(f"result = {nest.source()}\n", answers)
    for phase in played.host.phases.all():
        assert phase.running == 0
        assert phase.started == phase.done + phase.failed + phase.cancelled
    assert played.host.agents == len(played.asked) == kinds(played)["run.agent_ended"]
