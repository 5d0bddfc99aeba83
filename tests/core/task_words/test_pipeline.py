"""`pipeline`: each item goes through the stages at its own pace."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlang import PlanFailed

from .plays import FAILS, Answer, few, kinds, play

delays = st.lists(st.lists(st.integers(1, 50), min_size=2, max_size=2), min_size=1, max_size=6)

TWO_STAGES = 'result = pipeline(range({n}), lambda v: agent(f"a{{v}}"), lambda v, item: agent(f"b{{item}}"))\n'


def two_stages(rows: list[list[int]]) -> tuple[str, dict[str, Answer]]:
    answers = {
        f"{stage}{item}": Answer(value=f"{stage}{item}", delay_s=float(row["ab".index(stage)]))
        for item, row in enumerate(rows)
        for stage in "ab"
    }
    return TWO_STAGES.format(n=len(rows)), answers


@given(delays)
@few
def test_a_pipeline_takes_as_long_as_its_slowest_item_and_never_waits_between_stages(rows: list[list[int]]) -> None:
    played = play(*two_stages(rows))
    assert played.seconds == pytest.approx(max(map(sum, rows)))


@given(delays)
@few
def test_the_values_of_a_pipeline_stand_in_the_order_of_its_items(rows: list[list[int]]) -> None:
    assert play(*two_stages(rows)).result == [f"b{item}" for item in range(len(rows))]


@given(delays, delays)
@few
def test_the_places_of_a_pipelines_workers_do_not_depend_on_who_is_slow(
    rows: list[list[int]], others: list[list[int]]
) -> None:
    count = min(len(rows), len(others))
    places = [
        {event.data["thread"]: event.data for event in play(*two_stages(some)).events if "thread" in event.data}
        for some in (rows[:count], others[:count])
    ]
    assert places[0].keys() == places[1].keys()


@given(delays, st.integers(1, 3))
@few
def test_a_pipeline_opens_no_more_items_than_there_are_seats(rows: list[list[int]], seats: int) -> None:
    source, answers = two_stages(rows)
    played = play(source, answers, seats=seats)
    running = most = 0
    for event in played.events:
        running += {"run.agent_started": 1, "run.agent_ended": -1}.get(event.type, 0)
        most = max(most, running)
    assert most == min(seats, len(rows))


@given(st.lists(st.sampled_from(["v", None, FAILS]), min_size=1, max_size=6))
@few
def test_an_item_ends_with_the_stage_that_brings_nothing(first_answers: list[Any]) -> None:
    answers = {f"a{item}": Answer(value=value) for item, value in enumerate(first_answers)}
    played = play(TWO_STAGES.format(n=len(first_answers)), answers)
    went_on = [item for item, value in enumerate(first_answers) if value == "v"]
    assert sorted(question for question in played.asked if question[0] == "b") == [f"b{item}" for item in went_on]
    assert played.host.holes == first_answers.count(FAILS)


def test_a_stage_that_breaks_ends_its_item_with_one_hole_and_a_line_in_the_log() -> None:
    played = play('result = pipeline([1, 0, 2], lambda v: 10 // v, lambda v: agent(f"q{v}"))\n')
    assert played.result == ["q10", None, "q5"]
    assert played.host.holes == 1
    assert kinds(played)["run.log"] == 1


def test_a_stage_that_breaks_on_a_failed_worker_is_one_hole_and_not_two() -> None:
    played = play('result = pipeline(["a"], lambda v: agent(v)["x"])\n', {"a": Answer(value=FAILS)})
    assert (played.result, played.host.holes) == ([None], 1)


@pytest.mark.parametrize(
    ("stage", "value"),
    [
        ("lambda v: [v]", ["b"]),
        ("lambda v, item: [v, item]", ["b", "b"]),
        ("lambda v, item, index: [v, item, index]", ["b", "b", 1]),
        ("lambda v, own=7: [v, own]", ["b", 7]),
        ("lambda *given: list(given)", ["b"]),
    ],
)
def test_a_stage_is_given_as_much_as_it_asks_for(stage: str, value: Any) -> None:
    assert play(f'result = pipeline(["a", "b"], {stage})[1]\n').result == value


def test_later_stages_are_given_the_former_value_and_the_item() -> None:
    source = "result = pipeline([1, 2], lambda v: v * 10, lambda v, item, index: [v, item, index])\n"
    assert play(source).result == [[10, 1, 0], [20, 2, 1]]


def test_a_stage_may_change_its_item_and_no_other_item_sees_it() -> None:
    grow = "def grow(v):\n    v.append(2)\n    return v\n"
    source = f"shared = [1]\n{grow}result = [pipeline([shared, shared], grow), shared]\n"
    assert play(source).result == [[[1, 2], [1, 2]], [1]]


@pytest.mark.parametrize("items", ["[]", "()", "range(0)", "set()", "{}.items()"])
def test_a_pipeline_of_nothing_gives_nothing(items: str) -> None:
    assert play(f"result = pipeline({items}, lambda v: agent(v))\n").result == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('pipeline(agent("q"), lambda v: v)', "pipeline() takes a list of items, got str"),
        ("pipeline(*[[1]])", "pipeline() takes at least one stage"),
        ('parallel(agent("q"))', "parallel() takes a list of lambdas, got str"),
        ('race(agent("q"))', "race() takes a list of lambdas, got str"),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(call: str, said: str) -> None:
    with pytest.raises(PlanFailed, match="TypeError") as caught:
        play(f"x = 1\nresult = {call}\n")
    assert said in str(caught.value)
    assert caught.value.line == 2


def test_a_pipeline_may_be_given_words_and_builtins_as_stages() -> None:
    assert play("result = pipeline([1, 2], str, agent)\n").result == ["1", "2"]
