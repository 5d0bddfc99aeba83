"""A report is scored by what it says about the planted bugs, whatever the order or the number of times it says it."""

import json
from pathlib import Path
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_bench import (
    FIVE_LINES,
    SAME_STATEMENT,
    AuditedFile,
    Bench,
    Key,
    KeyEntry,
    Report,
    Reported,
    Scorer,
    chance_line,
    score,
    tally,
    to_markdown,
    wilson,
)
from planloom_bench._matching import matched
from planloom_code import FileNames

# Lines 1 to 10 are `first`, 11 to 20 `second`, 21 to 30 lie outside any function.
LINES = [
    "def first():",
    *[f"    a{number} = {number}" for number in range(2, 11)],
    "def second():",
    *[f"    b{number} = {number}" for number in range(12, 18)],
    "    b18 = (",
    "        18",
    "    )",
    *[f"c{number} = {number}" for number in range(21, 31)],
]


def bug(name: str, path: str, line: int, function: str, kind: str = "off_by_one") -> KeyEntry:
    return KeyEntry(
        id=name,
        path=path,
        line=line,
        function=function,
        kind=kind,
        before="before",
        after=LINES[line - 1].strip(),
        examples_failed=1,
        examples_total=9,
    )


def bench(*bugs: KeyEntry) -> Bench:
    files = {path: AuditedFile(path, "\n".join(LINES) + "\n") for path in ("one.py", "pack/two.py")}
    return Bench(name="made", audited=Path("audited"), files=files, key=Key(bugs), names=FileNames(files))


BENCH = bench(
    bug("b1", "one.py", 3, "first"),
    bug("b2", "one.py", 9, "first", kind="return_value"),
    bug("b3", "one.py", 18, "second"),
    bug("b4", "pack/two.py", 15, "second"),
)
PERFECT = [Reported(entry.path, entry.line) for entry in BENCH.key.entries]
FINDINGS = st.lists(
    st.builds(
        Reported,
        st.sampled_from(["one.py", "pack/two.py", "elsewhere.py"]),
        st.integers(1, 35),
        st.sampled_from([None, "first", "second", "Some.second", "other"]),
        st.floats(0, 1),
    ),
    max_size=25,
)
SCORERS = st.sampled_from([FIVE_LINES, SAME_STATEMENT])


@given(FINDINGS, SCORERS)
def test_recall_and_precision_are_shares(findings: list[Reported], scorer: Scorer) -> None:
    counted = tally(findings, BENCH, scorer)
    assert 0 <= counted.recall <= 1
    assert counted.precision is None or 0 <= counted.precision <= 1
    assert counted.found + counted.repeats <= len(findings)


@given(FINDINGS, SCORERS, st.randoms(use_true_random=False))
def test_the_order_of_the_findings_makes_no_difference(
    findings: list[Reported], scorer: Scorer, random: Random
) -> None:
    shuffled = list(findings)
    random.shuffle(shuffled)
    assert tally(shuffled, BENCH, scorer) == tally(findings, BENCH, scorer)


@given(FINDINGS, SCORERS)
def test_saying_everything_twice_changes_neither_recall_nor_precision(findings: list[Reported], scorer: Scorer) -> None:
    once, twice = tally(findings, BENCH, scorer), tally(findings * 2, BENCH, scorer)
    assert (twice.hits, twice.wrong) == (once.hits, once.wrong)


@given(FINDINGS, SCORERS)
def test_a_report_that_names_every_bug_has_full_recall(findings: list[Reported], scorer: Scorer) -> None:
    assert tally(findings + PERFECT, BENCH, scorer).recall == 1


@given(FINDINGS)
def test_no_finding_counts_for_two_bugs(findings: list[Reported]) -> None:
    hits = tally(findings, BENCH, FIVE_LINES).hits.values()
    assert len({(hit.file, hit.line) for hit in hits}) == len(hits)


@given(FINDINGS)
def test_the_strict_rule_finds_no_more_than_the_loose_one(findings: list[Reported]) -> None:
    assert tally(findings, BENCH, SAME_STATEMENT).found <= tally(findings, BENCH, FIVE_LINES).found


def test_a_perfect_report_is_perfectly_precise() -> None:
    counted = tally(PERFECT, BENCH, SAME_STATEMENT)
    assert (counted.recall, counted.precision) == (1.0, 1.0)


def test_an_empty_report_has_no_recall_and_no_precision() -> None:
    counted = tally([], BENCH, FIVE_LINES)
    assert (counted.recall, counted.precision) == (0.0, None)


@pytest.mark.parametrize(
    ("finding", "found"),
    [
        pytest.param(Reported("one.py", 3), {"b1"}, id="the line itself"),
        pytest.param(Reported("pack/two.py", 20), {"b4"}, id="five lines below, same function"),
        pytest.param(Reported("pack/two.py", 21), set(), id="six lines below"),
        pytest.param(Reported("pack/two.py", 10), set(), id="five lines above, in another function"),
        pytest.param(Reported("pack/two.py", 10, "second"), {"b4"}, id="in another function, naming the right one"),
        pytest.param(Reported("pack/two.py", 10, "Wrong.second()"), {"b4"}, id="the last part of the name counts"),
        pytest.param(Reported("pack/two.py", 16, "wrong"), {"b4"}, id="a wrong name in the right function"),
        pytest.param(Reported("pack/two.py", 3), set(), id="the line of another file's bug"),
        pytest.param(Reported("one.py", 5), {"b1"}, id="between two bugs, nearer to the first"),
        pytest.param(Reported("one.py", 7), {"b2"}, id="between two bugs, nearer to the second"),
    ],
)
def test_a_finding_counts_within_five_lines_in_the_right_function(finding: Reported, found: set[str]) -> None:
    assert set(tally([finding], BENCH, FIVE_LINES).hits) == found


def test_two_findings_on_different_lines_find_two_neighbouring_bugs() -> None:
    findings = [Reported("one.py", 5), Reported("one.py", 6)]
    assert set(tally(findings, BENCH, FIVE_LINES).hits) == {"b1", "b2"}


def test_one_line_said_under_two_names_finds_one_bug() -> None:
    findings = [Reported("one.py", 6), Reported("one.py", 6, "first")]
    assert tally(findings, BENCH, FIVE_LINES).found == 1


def test_as_many_bugs_are_found_as_findings_can_be_shared_out_to() -> None:
    # The bug at 9 is in reach of line 6 alone, which is nearer to the one at 3.
    near = bench(bug("b1", "one.py", 3, "first"), bug("b2", "one.py", 10, "first"))
    findings = [Reported("one.py", 6), Reported("one.py", 2)]
    assert set(tally(findings, near, FIVE_LINES).hits) == {"b1", "b2"}


@given(st.lists(st.tuples(st.integers(0, 9), st.sets(st.integers(0, 4), max_size=3)), max_size=7))
def test_no_other_sharing_out_finds_more_bugs(rows: list[tuple[int, set[int]]]) -> None:
    reaches = {Reported("one.py", line + 1): {f"b{bug}": (line + bug) % 4 for bug in bugs} for line, bugs in rows}
    ids = [f"b{number}" for number in range(5)]
    hits = matched(reaches, ids)
    assert len({hit.line for hit in hits.values()}) == len(hits) == _most(list(reaches.values()))
    assert all(name in reaches[hit] for name, hit in hits.items())


def _most(reaches: list[dict[str, int]], taken: frozenset[str] = frozenset()) -> int:
    """The largest number of pairs, by trying all."""
    if not reaches:
        return 0
    first, *rest = reaches
    with_first = [1 + _most(rest, taken | {name}) for name in first if name not in taken]
    return max([_most(rest, taken), *with_first])


def test_of_two_bugs_for_one_finding_the_nearer_is_found_and_then_the_first_of_the_key() -> None:
    hit = Reported("one.py", 6)
    assert matched({hit: {"b1": 2, "b2": 1}}, ["b1", "b2"]) == {"b2": hit}
    assert matched({hit: {"b2": 1, "b1": 1}}, ["b1", "b2"]) == {"b1": hit}


@given(FINDINGS, FINDINGS)
def test_more_findings_never_find_fewer_bugs(some: list[Reported], more: list[Reported]) -> None:
    # They may be others: a line that was one bug's is another's when that one is nearer to what is said there now.
    assert tally(some, BENCH, FIVE_LINES).found <= tally(some + more, BENCH, FIVE_LINES).found


def test_a_second_finding_for_a_found_bug_is_neither_right_nor_wrong() -> None:
    counted = tally([Reported("pack/two.py", 15), Reported("pack/two.py", 16)], BENCH, FIVE_LINES)
    assert (counted.found, counted.precision, counted.repeats) == (1, 1.0, 1)


def test_wrong_findings_count_once_a_function() -> None:
    counted = tally([Reported("pack/two.py", 2), Reported("pack/two.py", 9)], BENCH, FIVE_LINES)
    assert counted.wrong == ("pack/two.py::first",)


def test_wrong_findings_outside_functions_count_once_a_block_of_ten_lines() -> None:
    counted = tally([Reported("pack/two.py", line) for line in (22, 29, 31)], BENCH, FIVE_LINES)
    assert counted.wrong == ("pack/two.py::lines 21-30", "pack/two.py::lines 31-40")


def test_findings_in_a_file_that_does_not_exist_are_one_wrong_place() -> None:
    assert tally([Reported("no.py", 1), Reported("no.py", 99)], BENCH, FIVE_LINES).wrong == ("no.py",)


def test_any_line_of_the_changed_statement_is_a_strict_hit() -> None:
    assert set(tally([Reported("one.py", 20)], BENCH, SAME_STATEMENT).hits) == {"b3"}


def test_a_line_beside_the_changed_statement_is_no_strict_hit() -> None:
    assert tally([Reported("pack/two.py", 16)], BENCH, SAME_STATEMENT).found == 0


def test_luck_with_no_lines_finds_nothing() -> None:
    chance = chance_line(0, BENCH, FIVE_LINES)
    assert (chance.recall, chance.precision) == (0.0, None)


def test_luck_with_every_line_finds_everything() -> None:
    chance = chance_line(1_000, BENCH, FIVE_LINES)
    assert chance.recall == 1.0
    assert chance.drawn == chance.lines


def test_luck_with_one_line_is_the_share_of_lines_that_count() -> None:
    # Of 32 lines of code in functions, 5, 4, 6 and 7 are nearest to the four bugs and in reach of them.
    chance = chance_line(1, BENCH, FIVE_LINES)
    assert chance.lines == 32
    assert chance.recall == pytest.approx((5 + 4 + 6 + 7) / 32 / 4)


@given(st.integers(0, 30))
def test_more_lines_never_lower_the_recall_of_luck(drawn: int) -> None:
    assert chance_line(drawn, BENCH, FIVE_LINES).recall <= chance_line(drawn + 1, BENCH, FIVE_LINES).recall + 1e-12


@given(st.integers(0, 200).flatmap(lambda cases: st.tuples(st.integers(0, cases), st.just(cases))))
def test_an_interval_holds_its_share_and_stays_within_0_and_1(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= high <= 1
    assert counts[1] == 0 or low <= counts[0] / counts[1] <= high


def test_the_interval_of_five_in_seventy_two_is_the_published_one() -> None:
    low, high = wilson(5, 72)
    assert (round(low, 2), round(high, 2)) == (0.03, 0.15)


def test_recall_is_shown_for_the_surest_findings() -> None:
    findings = (
        Reported("one.py", 3, None, 0.9),
        Reported("pack/two.py", 2, None, 0.8),
        Reported("one.py", 18, None, 0.1),
    )
    scored = score(Report(findings), BENCH)
    assert scored.recall_at == {1: 0.25, 2: 0.25, 3: 0.5}
    assert "surest findings alone: 0.25 with 1, 0.25 with 2, 0.50 with 3." in to_markdown(scored)


def test_a_report_that_is_as_sure_of_all_has_no_surest_findings() -> None:
    scored = score(Report((Reported("one.py", 3), Reported("one.py", 18))), BENCH)
    assert "surest" not in to_markdown(scored)


def test_findings_in_files_that_the_benchmark_does_not_hold_are_counted_and_told() -> None:
    report = Report((Reported("one.py", 3), Reported("other.py", 3), Reported("other.py", 9)))
    scored = score(report, BENCH)
    assert scored.elsewhere == 2
    assert "does not hold: 2 of 3 findings" in to_markdown(scored)
    assert "does not hold" not in to_markdown(score(Report(report.findings[:1]), BENCH))


def test_bugs_are_counted_by_kind() -> None:
    assert score(Report((Reported("one.py", 9),)), BENCH).kinds == {"off_by_one": (0, 3), "return_value": (1, 1)}


def test_a_bug_that_is_reported_on_the_clean_copy_too_is_not_caused() -> None:
    report = Report((Reported("one.py", 3), Reported("one.py", 18)))
    assert score(report, BENCH, clean=Report((Reported("one.py", 3),))).caused == 1


def test_without_a_report_of_the_clean_copy_nothing_is_said_of_causes() -> None:
    assert score(Report(()), BENCH).caused is None


def test_a_score_of_nothing_is_a_score() -> None:
    scored = score(Report((), set_aside=2), BENCH)
    assert (scored.tally.recall, scored.precision_interval, scored.recall_at) == (0.0, None, {})


def test_what_is_said_of_a_line_for_another_reason_on_the_clean_copy_does_not_take_a_hit_away() -> None:
    report = Report((Reported("one.py", 3, rule="new"), Reported("one.py", 18, rule="old")))
    clean = Report((Reported("one.py", 3, rule="old"), Reported("one.py", 18, rule="old")))
    assert score(report, BENCH, clean=clean).caused == 1


@pytest.mark.slow
def test_a_hundred_thousand_findings_are_scored_in_seconds() -> None:
    files = [*BENCH.files, *(f"unknown/{number}.py" for number in range(98))]
    findings = tuple(Reported(file, line) for file in files for line in range(1, 1001))
    started = process_time()
    scored = score(Report(findings), BENCH)
    assert process_time() - started < 10
    # Unknown files, blocks of ten lines in the known ones, and the two functions with lines out of reach.
    assert (scored.tally.recall, len(scored.tally.wrong)) == (1.0, 98 + 2 * 98 + 2)


def test_a_report_of_two_hundred_findings_on_each_file_is_scored() -> None:
    findings = tuple(Reported(file, line) for file in BENCH.files for line in range(1, 201))
    assert json.loads(json.dumps(score(Report(findings), BENCH).tally.recall)) == 1.0
