"""Two reports on one key are told apart, or it is said that they cannot be."""

import json
from math import comb
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import planloom_bench
import planloom_data
from planloom.plugins import load_plugins
from planloom_bench import Paired, Tally, load_bench, mcnemar, paired, score_command

COUNTS = st.integers(0, 40)
SHELF = load_bench(planloom_data.shelf_benchmark())


def pair(first_only: int, second_only: int, both: int = 0, neither: int = 0) -> Paired:
    return Paired(
        both=both,
        first_only=first_only,
        second_only=second_only,
        neither=neither,
        p_value=mcnemar(first_only, second_only),
    )


@pytest.mark.parametrize(
    ("first_only", "second_only", "p_value"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (10, 2, 0.03857421875), (8, 8, 1.0)],
)
def test_the_exact_test_gives_the_known_values(first_only: int, second_only: int, p_value: float) -> None:
    assert mcnemar(first_only, second_only) == pytest.approx(p_value)


@given(COUNTS, COUNTS)
def test_the_test_is_a_chance_and_does_not_care_which_is_first(first: int, second: int) -> None:
    assert 0 < mcnemar(first, second) == mcnemar(second, first) <= 1


@given(COUNTS, COUNTS)
def test_the_chance_is_that_of_outcomes_at_least_as_far_from_even(first: int, second: int) -> None:
    alone = first + second
    far = abs(first - second)
    tails = sum(comb(alone, count) for count in range(alone + 1) if abs(2 * count - alone) >= far)
    assert mcnemar(first, second) == pytest.approx(tails / 2**alone)


def test_what_cannot_be_told_apart_is_said_with_what_it_would_take() -> None:
    assert pair(7, 4, both=10, neither=51).sentence("A", "B") == (
        "The two cannot be told apart on these 72 bugs: 7 found by A alone, 4 by B alone "
        "(exact McNemar test, p = 0.55). Of 11 bugs that one alone found, 10 would have to be of the same one."
    )


def test_with_few_bugs_that_one_alone_found_nothing_can_be_told() -> None:
    assert "no outcome could tell them apart" in pair(5, 0).sentence("A", "B")


def test_what_is_told_apart_names_the_better_one() -> None:
    assert pair(2, 12).sentence("A", "B").startswith("B finds more of these 14 bugs: 2 found by A alone, 12 by B alone")


def test_bugs_are_compared_one_by_one() -> None:
    def tally(*hits: str) -> Tally:
        return Tally(hits=dict.fromkeys(hits, planloom_bench.Reported("a.py", 1)), wrong=(), repeats=0, bugs=5)

    compared = paired(tally("b1", "b2", "b3"), tally("b3", "b4"))
    assert (compared.both, compared.first_only, compared.second_only, compared.neither) == (1, 2, 1, 1)


def findings(folder: Path, name: str, count: int) -> str:
    rows = [{"file": entry.path, "line": entry.line} for entry in SHELF.key.entries[:count]]
    (folder / name).write_text(json.dumps(rows))
    return str(folder / name)


def run(*arguments: str) -> Result:
    registry = load_plugins([("bench", planloom_bench)], installed=False)
    return CliRunner().invoke(score_command, arguments, obj=registry, catch_exceptions=False)


@pytest.mark.parametrize("form", [[], ["--markdown"]])
def test_the_command_shows_both_scores_and_whether_they_differ(tmp_path: Path, form: list[str]) -> None:
    many, few = findings(tmp_path, "many.json", 9), findings(tmp_path, "few.json", 2)
    output = " ".join(run(many, "--against", few, *form).output.split())
    assert "many.json finds more of these 24 bugs: 7 found by many.json alone, 0 by few.json alone" in output
    assert "9 right, 0 wrong" in output
    assert "2 right, 0 wrong" in output


def test_the_command_gives_the_comparison_as_json(tmp_path: Path) -> None:
    many, few = findings(tmp_path, "many.json", 5), findings(tmp_path, "few.json", 2)
    told = json.loads(run(many, "--against", few, "--json").output)
    assert (told["paired"]["first_only"], told["paired"]["told_apart"]) == (3, False)
    assert told["against"]["tally"]["recall"] == pytest.approx(2 / 24)


def test_reports_of_one_name_are_told_by_their_places(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    one, other = findings(tmp_path, "findings.json", 1), findings(tmp_path / "x", "findings.json", 1)
    told = json.loads(run(one, "--against", other, "--json").output)["paired"]["sentence"]
    assert "by x/findings.json alone" in told


def test_two_forms_at_once_are_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(score_command, [findings(tmp_path, "f.json", 1), "--json", "--markdown"])
    assert result.exit_code == 2
