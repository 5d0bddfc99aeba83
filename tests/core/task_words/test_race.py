"""`race`: the first that brings a value wins, once and for all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom import JournalDiverged
from planloom.stores import ThreadTrace

from .plays import FAILS, Answer, few, play

finishers = st.lists(st.tuples(st.integers(0, 1_000), st.sampled_from(["v", None, FAILS])), min_size=1, max_size=6)

untied = finishers.filter(lambda rows: len({row[0] for row in rows}) == len(rows))


def contest(rows: list[tuple[int, Any]]) -> tuple[str, dict[str, Answer]]:
    answers = {
        f"c{i}": Answer(value=f"c{i}" if value == "v" else value, delay_s=float(1 + delay))
        for i, (delay, value) in enumerate(rows)
    }
    return f'result = race([lambda i=i: agent(f"c{{i}}") for i in range({len(rows)})])\n', answers


@given(untied)
@few
def test_a_race_is_won_by_the_first_that_brings_a_value(rows: list[tuple[int, Any]]) -> None:
    brings = sorted((delay, f"c{i}") for i, (delay, value) in enumerate(rows) if value == "v")
    played = play(*contest(rows))
    assert played.result == (brings[0][1] if brings else None)


@given(untied)
@few
def test_a_race_takes_as_long_as_its_winner_or_as_the_last_when_none_wins(rows: list[tuple[int, Any]]) -> None:
    brings = [delay for delay, value in rows if value == "v"]
    assert play(*contest(rows)).seconds == 1 + (min(brings) if brings else max(delay for delay, _ in rows))


@given(untied)
@few
def test_who_did_not_win_is_cancelled_and_leaves_no_hole(rows: list[tuple[int, Any]]) -> None:
    played = play(*contest(rows))
    (phase,) = played.host.phases.all()
    before_the_winner = [value for delay, value in rows if 1 + delay < played.seconds or played.result is None]
    assert phase.cancelled == len(rows) - len(before_the_winner) - (played.result is not None)
    assert played.host.holes == before_the_winner.count(FAILS)


@given(untied)
@few
def test_the_winner_alone_stands_in_the_journal(rows: list[tuple[int, Any]]) -> None:
    played = play(*contest(rows))
    winners = [] if played.result is None else [{"word": "race", "value": int(played.result[1:])}]
    assert list(played.journal.values()) == winners


@given(untied)
@few
def test_only_the_recorded_winner_runs_again(rows: list[tuple[int, Any]]) -> None:
    source, answers = contest(rows)
    before = play(source, answers)
    again = play(source, lambda question: Answer(value=answers[question].value, delay_s=1.0), recorded=before.journal)
    assert again.asked == ([before.result] if before.result else before.asked)


@given(untied)
@few
def test_a_contender_keeps_its_place_whoever_runs(rows: list[tuple[int, Any]]) -> None:
    source, answers = contest(rows)
    before = play(source, answers)
    places = {f"0.{i}.0": f"r/t{i + 1:03d}" for i in range(len(rows))}
    known = {place: ThreadTrace(name, place, "", "worker", "done", None, (), ()) for place, name in places.items()}
    again = play(source, answers, recorded=before.journal, threads=known)
    assert all(before.places[question] == place for question, place in again.places.items())


@given(st.integers(2, 5))
@few
def test_a_contender_of_several_steps_asks_nothing_once_another_has_won(steps: int) -> None:
    source = (
        "def slowly():\n"
        f"    for n in range({steps}):\n"
        '        agent(f"slow {n}")\n'
        '    return "slow"\n'
        'result = race([slowly, lambda: agent("quick")])\n'
    )
    played = play(source, {"quick": Answer(value="quick", delay_s=1.5)})
    assert played.result == "quick"
    assert played.asked == ["slow 0", "quick", "slow 1"]


def test_what_a_loser_runs_at_once_is_cancelled_with_it() -> None:
    source = (
        'result = race([lambda: parallel([lambda i=i: agent(f"p{i}") for i in range(3)]), lambda: agent("quick")])\n'
    )
    played = play(source, {"quick": Answer(value="quick", delay_s=0.5)})
    assert (played.result, played.seconds) == ("quick", 0.5)
    assert played.host.phases.all()[0].cancelled == 3


def test_a_value_that_needs_no_worker_wins_at_once() -> None:
    played = play('result = race([lambda: agent("q"), lambda: None, lambda: 0])\n')
    assert (played.result, played.seconds) == (0, 0.0)


def test_a_contender_that_breaks_does_not_win() -> None:
    assert play('result = race([lambda: [][0], lambda: agent("q")])\n').result == "q"


@pytest.mark.parametrize("contenders", ["[]", "[lambda: None]", "[lambda: [][0]]"])
def test_a_race_that_nobody_wins_gives_none(contenders: str) -> None:
    assert play(f"result = race({contenders})\n").result is None


def test_a_race_where_the_journal_holds_another_word_is_told_apart() -> None:
    with pytest.raises(JournalDiverged, match=r"then budget\(\), now race\(\)"):
        play('result = race([lambda: agent("q")])\n', recorded={"0": {"word": "budget", "value": 3.0}})
