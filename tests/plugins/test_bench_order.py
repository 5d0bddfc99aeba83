"""Files are tried in an order that depends on the seed alone, and that leaves no folder for last."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from planloom_bench.building.candidates import Candidate
from planloom_bench.building.choosing import Choice
from planloom_bench.building.order import spread
from planloom_bench.mutators import TWELVE_KINDS
from planloom_bench.proving import Job
from planloom_code import SourceFile

TEXT = (
    "def f(a, b, rows):\n    n = 0\n    for row in rows:\n        if row < a and row > b:\n            n += row + 1\n"
)
PATHS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c/d"]), st.integers(0, 40)).map(lambda pair: f"{pair[0]}/m{pair[1]}.py"),
    unique=True,
    max_size=30,
)


def candidate(path: str) -> Candidate:
    text = TEXT * (1 + len(path) % 3)
    source = SourceFile(path=path, text=text, size_bytes=len(text), sha256=path)
    return Candidate(source=source, job=Job(path, text, Path(path).stem, (), (), (), 0, 1.0), total=9)


def paths_of(candidates: tuple[Candidate, ...]) -> list[str]:
    return [one.path for one in candidates]


@given(PATHS, st.integers())
def test_the_order_has_every_file_once_and_does_not_depend_on_how_they_come(paths: list[str], seed: int) -> None:
    files = [candidate(path) for path in paths]
    ordered = paths_of(spread(files, seed))
    assert sorted(ordered) == sorted(paths)
    assert paths_of(spread(files[::-1], seed)) == ordered


@given(PATHS, st.integers())
def test_the_first_files_come_from_as_many_folders_as_there_are(paths: list[str], seed: int) -> None:
    ordered = paths_of(spread([candidate(path) for path in paths], seed))
    groups = {path.rpartition("/")[0] for path in paths}
    assert {path.rpartition("/")[0] for path in ordered[: 3 * len(groups)]} == groups


@settings(max_examples=30)  # up to thirty files are parsed for each
@given(PATHS, st.integers(1, 12), st.integers(), st.randoms(use_true_random=False))
def test_a_search_takes_as_many_bugs_as_asked_each_in_its_own_file(
    paths: list[str], bugs: int, seed: int, draw: object
) -> None:
    choice = Choice(spread([candidate(path) for path in paths], seed), TWELVE_KINDS, bugs=bugs, seed=seed, per_file=1)
    while attempts := choice.next_round():
        assert len({attempt.candidate.path for attempt in attempts}) == len(attempts) <= bugs - len(choice.taken)
        for attempt in attempts:
            if draw.random() < 0.4:  # type: ignore[attr-defined]  # Hypothesis gives a random.Random
                choice.take(attempt)
    taken = [attempt.candidate.path for attempt in choice.taken]
    assert len(taken) == len(set(taken)) <= min(bugs, len(paths))


@settings(max_examples=10)  # thirty files are parsed for each
@given(st.integers(), st.integers(1, 4))
def test_kinds_get_their_fair_share_where_every_attempt_succeeds(seed: int, each: int) -> None:
    files = spread([candidate(f"p{number}/m.py") for number in range(30)], seed)
    bugs = each * 7
    choice = Choice(files, TWELVE_KINDS, bugs=bugs, seed=seed, per_file=1)
    while attempts := choice.next_round():
        for attempt in attempts:
            choice.take(attempt)
    kinds = [attempt.kind for attempt in choice.taken]
    assert len(kinds) == bugs
    assert max(map(kinds.count, kinds)) - min(map(kinds.count, kinds)) <= 1
