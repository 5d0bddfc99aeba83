"""What workers report becomes one uniform finding a place; what cannot be read is set aside with a reason."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_code import (
    FileNames,
    Finding,
    Malformed,
    Place,
    SourceTree,
    dedupe,
    key_of,
    normalise,
    normalise_all,
)

MODULE = """\
LIMIT = 3

class Pile:
    def push(self, item):
        if len(self.items) <= LIMIT:
            self.items.append(item)
        return item

    def pop(self):
        return self.items.pop(0)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> SourceTree:
    root = tmp_path_factory.mktemp("audit") / "library"
    texts = {"pkg/mod.py": MODULE, "pkg/long.py": "x = 1\n" * 200, "one/same.py": "x\n", "two/same.py": "y\n"}
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return SourceTree.open(root)


def raw(**fields: object) -> dict[str, object]:
    return {"file": "pkg/mod.py", "line": 5, "claim": "the limit is passed by one"} | fields


def read(tree: SourceTree, **fields: object) -> Finding:
    finding = normalise(raw(**fields), tree)
    assert isinstance(finding, Finding), finding
    return finding


def reason(tree: SourceTree, **fields: object) -> str:
    malformed = normalise(raw(**fields), tree)
    assert isinstance(malformed, Malformed), malformed
    return malformed.reason


# Paths.


@pytest.mark.parametrize(
    "spelling",
    [
        "pkg/mod.py",
        "./pkg/mod.py",
        "/pkg/mod.py",
        "/pkg\\mod.py",
        "pkg\\mod.py",
        "repo/pkg/mod.py",
        "/tmp/work/audited/pkg/mod.py",
        "C:\\code\\pkg\\mod.py",
        "pkg//./mod.py",
        "pkg/../pkg/mod.py",
        "../../pkg/mod.py",
        "mod.py",
        "`pkg/mod.py`",
        "### pkg/mod.py",
        "pkg/mod.py:5",
        " pkg/mod.py\n",
    ],
)
def test_r31_odd_spellings_mean_the_file(tree: SourceTree, spelling: str) -> None:
    assert read(tree, file=spelling).file == "pkg/mod.py"


def test_r31_the_path_may_stand_under_another_name(tree: SourceTree) -> None:
    item = raw(path="/pkg\\mod.py")
    del item["file"]
    finding = normalise(item, tree)
    assert isinstance(finding, Finding)
    assert finding.file == "pkg/mod.py"


@pytest.mark.parametrize("spelling", ["/etc/passwd", "pkg/other.py", "od.py", "same.py", "", ".", "/", "\0"])
def test_a_path_that_means_no_one_file_is_set_aside(tree: SourceTree, spelling: str) -> None:
    assert isinstance(normalise(raw(file=spelling), tree), Malformed)


def test_r31_what_is_dropped_keeps_its_spelling(tree: SourceTree) -> None:
    assert normalise(raw(file="made/up.py"), tree) == Malformed(
        "'made/up.py' is no file of the tree, or not of one only", "made/up.py"
    )


def test_the_longest_end_of_a_spelling_wins() -> None:
    assert FileNames(["mod.py", "pkg/mod.py"]).resolve("repo/pkg/mod.py") == "pkg/mod.py"


def test_a_spelling_that_ends_a_path_is_not_cut_further() -> None:
    names = FileNames(["mod.py", "x/a/mod.py", "y/a/mod.py"])
    assert names.resolve("a/mod.py") is None


@given(st.lists(st.text("ab/.", min_size=1, max_size=6), max_size=8), st.text("ab/.\\`# ", max_size=10))
def test_a_spelling_means_a_file_of_the_tree_or_nothing(paths: list[str], spelling: str) -> None:
    found = FileNames(paths).resolve(spelling)
    assert found is None or found in paths


# Lines.


@pytest.mark.parametrize(
    ("line", "first", "last"),
    [
        pytest.param(5, 5, None, id="number"),
        pytest.param("5", 5, None, id="text"),
        pytest.param(" 5 ", 5, None, id="text-with-blanks"),
        pytest.param(5.0, 5, None, id="float"),
        pytest.param("5.0", 5, None, id="float-as-text"),
        pytest.param("L5", 5, None, id="letter"),
        pytest.param("line 5", 5, None, id="word"),
        pytest.param("5:9", 5, None, id="column"),
        pytest.param("5-7", 5, 7, id="range"),
        pytest.param("lines 5 to 7", 5, 7, id="range-in-words"),
        pytest.param("L5\N{EN DASH}L7", 5, 7, id="range-with-a-dash"),
        pytest.param([5, 7], 5, 7, id="list"),
        pytest.param(["5", 7.0], 5, 7, id="mixed-list"),
        pytest.param([5], 5, None, id="list-of-one"),
        pytest.param(["5-7"], 5, 7, id="range-in-a-list"),
        pytest.param([7, 5], 7, None, id="end-before-start"),
        pytest.param([5, 5], 5, None, id="empty-range"),
        pytest.param([5, 10**9], 5, 10, id="end-beyond-the-file"),
    ],
)
def test_r35_a_line_is_read_in_any_plain_form(tree: SourceTree, line: object, first: int, last: int | None) -> None:
    finding = read(tree, line=line)
    assert (finding.line, finding.end_line) == (first, last)


@pytest.mark.parametrize(
    ("line", "end_line", "last"),
    [
        (5, 7, 7),
        (5, "7", 7),
        ("5-6", 9, 6),
        (5, 5, None),
        (5, 4, None),
        (5, "soon", None),
        (5, None, None),
        (5, 99, 10),
    ],
)
def test_where_a_range_ends_may_be_said_apart(
    tree: SourceTree, line: object, end_line: object, last: int | None
) -> None:
    finding = read(tree, line=line, end_line=end_line)
    assert (finding.line, finding.end_line) == (5, last)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (0, "line 0 is below 1"),
        ("0", "line 0 is below 1"),
        (-1, "line -1 is below 1"),
        (11, "line 11 is beyond the 10 lines of pkg/mod.py"),
        (10**9, "line 1000000000 is beyond"),
        pytest.param(10**5000, "line 1000000000 is beyond", id="too-long-to-print"),
        (None, "line null is no whole number"),
        (True, "line true is no whole number"),
        (5.5, "line 5.5 is no whole number"),
        (float("nan"), "is no whole number"),
        (float("inf"), "is no whole number"),
        ("", "is no number"),
        ("five", "line five is no number"),
        pytest.param("9" * 5000, "is no number", id="too-long-to-read"),
        ([], "is no whole number"),
        ([5, None], "is no range of two lines"),
        ([True, 7], "is no range of two lines"),
        ([5, 6, 7], "is no whole number"),
        ({"start": 5}, "is no whole number"),
    ],
)
def test_r35_a_line_that_is_none_is_set_aside_with_a_reason(tree: SourceTree, line: object, why: str) -> None:
    assert why in reason(tree, line=line)


def test_r35_the_others_of_a_reply_are_kept(tree: SourceTree) -> None:
    items = [raw(line=line) for line in ("5", "4-5", 5.0, [5, 7], 0, -1, 10**9, None, True)]
    findings, aside = normalise_all(items, tree)
    assert ([f.line for f in findings], len(aside)) == ([5, 4, 5, 5], 5)


def test_r33_a_line_is_moved_to_the_only_one_nearby_that_holds_the_quoted_code(tree: SourceTree) -> None:
    finding = read(tree, line=7, claim="`len(self.items)  <=  LIMIT` lets one too many in")
    assert (finding.line, finding.moved_from) == (5, 7)


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        pytest.param(5, "`len(self.items) <= LIMIT` should be `self.items.append`", id="quoted-on-the-line"),
        pytest.param(7, "should be `len(self.items) < LIMIT`", id="quoted-nowhere"),
        pytest.param(7, "`self.items` is wrong", id="quoted-on-several-lines"),
        pytest.param(4, "`LIMIT` is passed", id="one-name-only"),
    ],
)
def test_r33_a_line_stays_when_no_single_one_is_meant(tree: SourceTree, line: int, claim: str) -> None:
    finding = read(tree, line=line, claim=claim)
    assert (finding.line, finding.moved_from) == (line, None)


# The other fields.


def test_the_function_is_the_codes_not_the_models(tree: SourceTree) -> None:
    assert read(tree, line=5, function="Heap.pop").function == "Pile.push"


def test_what_the_model_named_is_kept_only_outside_functions(tree: SourceTree) -> None:
    finding = read(tree, line=1, function="setup")
    assert (finding.function, finding.place) == ("setup", Place("pkg/mod.py", None, 1))


@pytest.mark.parametrize(
    ("given_as", "confidence"),
    [
        (0.8, 0.8),
        (1, 1.0),
        ("0.8", 0.8),
        ("80%", 0.8),
        (1.5, 1.0),
        (-1, 0.0),
        pytest.param(10**5000, 1.0, id="too-long-to-print"),
        (None, 0.5),
        ("high", 0.5),
        (True, 0.5),
        (float("nan"), 0.5),
        ([0.9], 0.5),
    ],
)
def test_a_confidence_is_a_number_from_0_to_1_or_a_half(tree: SourceTree, given_as: object, confidence: float) -> None:
    assert read(tree, confidence=given_as).confidence == confidence


def test_long_texts_are_cut(tree: SourceTree) -> None:
    finding = read(tree, claim="c" * 999, failing_call="f" * 999, expected="e" * 999)
    assert (len(finding.claim), len(finding.failing_call), len(finding.expected)) == (400, 400, 200)


def test_an_expected_value_that_is_no_text_is_kept_as_json(tree: SourceTree) -> None:
    assert read(tree, expected=[1, None]).expected == "[1, null]"


def test_a_text_can_be_stored_whatever_the_reply_held(tree: SourceTree) -> None:
    assert read(tree, claim="a\0b\ud800c").claim == "ab?c"


@pytest.mark.parametrize("field", ["file", "line", "claim"])
def test_an_item_without_a_required_field_is_set_aside(tree: SourceTree, field: str) -> None:
    item = raw()
    del item[field]
    assert isinstance(normalise(item, tree), Malformed)


@pytest.mark.parametrize("item", [None, 3, "text", True, 1.5])
def test_an_item_that_is_no_object_is_set_aside(tree: SourceTree, item: object) -> None:
    assert isinstance(normalise(item, tree), Malformed)


def test_lists_inside_a_list_are_opened(tree: SourceTree) -> None:
    findings, aside = normalise_all([[raw()], [[raw(line=1)], "x"]], tree)
    assert ([f.line for f in findings], len(aside)) == ([5, 1], 1)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("pkg/mod.py"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["file", "line", "claim", "function", "confidence"]), inner, max_size=5)
    ),
    max_leaves=8,
)


@given(value=json_values)
def test_no_reply_raises_and_every_finding_lies_in_the_tree(tree: SourceTree, value: object) -> None:
    findings, _ = normalise_all(value, tree)
    assert all(1 <= f.line <= tree.info(f.file).lines and 0 <= f.confidence <= 1 for f in findings)
    json.dumps([f.claim for f in findings]).encode()


# One finding a place.


def findings_of(tree: SourceTree, *items: tuple[int, float, str]) -> list[Finding]:
    found = [normalise(raw(line=line, confidence=c), tree, label) for line, c, label in items]
    return [finding for finding in found if isinstance(finding, Finding)]


def test_findings_in_one_function_are_one_and_the_most_confident_is_kept(tree: SourceTree) -> None:
    (kept,) = dedupe(findings_of(tree, (5, 0.4, "a"), (6, 0.9, "b"), (7, 0.9, "c")))
    assert (kept.line, kept.source, kept.reports) == (6, "b", 3)


def test_outside_functions_ten_lines_are_one_place(tree: SourceTree) -> None:
    items = [raw(file="pkg/long.py", line=line) for line in (1, 10, 11, 120)]
    findings, _ = normalise_all(items, tree)
    assert [f.line for f in dedupe(findings)] == [1, 11, 120]


def test_a_worker_that_says_it_twice_counts_once(tree: SourceTree) -> None:
    (kept,) = dedupe(findings_of(tree, (5, 0.4, "a"), (6, 0.9, "a")))
    assert kept.reports == 1


def test_workers_without_a_label_count_one_each(tree: SourceTree) -> None:
    (kept,) = dedupe(findings_of(tree, (5, 0.4, ""), (6, 0.9, "")))
    assert kept.reports == 2


def test_findings_are_sorted_by_place(tree: SourceTree) -> None:
    items = [raw(line=9), raw(file="pkg/long.py", line=150), raw(line=5), raw(file="pkg/long.py", line=15)]
    findings, _ = normalise_all(items, tree)
    assert [key_of(f) for f in dedupe(findings)] == [
        "pkg/long.py::lines 11-20",
        "pkg/long.py::lines 141-150",
        "pkg/mod.py::Pile.push",
        "pkg/mod.py::Pile.pop",
    ]


reports = st.lists(
    st.tuples(st.integers(1, 10), st.sampled_from([0.1, 0.5]), st.sampled_from(["", "a", "b"])), max_size=12
)


@given(items=reports, r=st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(
    tree: SourceTree, items: list[tuple[int, float, str]], r: random.Random
) -> None:
    findings = findings_of(tree, *items)
    assert dedupe(r.sample(findings, len(findings))) == dedupe(findings)


@given(items=reports)
def test_merging_what_is_merged_changes_nothing(tree: SourceTree, items: list[tuple[int, float, str]]) -> None:
    once = dedupe(findings_of(tree, *items))
    assert dedupe(once) == once


@given(early=reports, late=reports)
def test_merging_in_rounds_is_merging_at_once(
    tree: SourceTree, early: list[tuple[int, float, str]], late: list[tuple[int, float, str]]
) -> None:
    first, second = findings_of(tree, *early), findings_of(tree, *late)
    assert dedupe([*dedupe(first), *second]) == dedupe([*first, *second])


def test_findings_of_a_file_that_does_not_parse_have_blocks_for_places(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(:\n    pass\n")
    finding = normalise(raw(file="a.py", line=2, function="f"), SourceTree.open(tmp_path))
    assert isinstance(finding, Finding)
    assert (finding.function, key_of(finding)) == ("f", "a.py::lines 1-10")


def test_a_finding_in_a_file_that_changed_since_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    opened = SourceTree.open(tmp_path)
    (tmp_path / "a.py").write_text("x = 2\n")
    malformed = normalise(raw(file="a.py", line=1), opened)
    assert isinstance(malformed, Malformed)
    assert "has changed since" in malformed.reason
