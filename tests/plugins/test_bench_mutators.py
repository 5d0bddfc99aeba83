"""Edits change one line, parse, and read like a slip of a person's hand."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planloom_bench
from planloom_bench.mutators import TWELVE_KINDS, Edit, Mutator, ParsedFile, is_sound, sites_of
from planloom_code import split_lines

KINDS = {mutator.name: mutator for mutator in TWELVE_KINDS}
JSON = sorted(Path(json.__file__).parent.glob("*.py"))
OWN = sorted(Path(planloom_bench.__file__).parents[1].rglob("*.py"))
PARSED: dict[Path, ParsedFile] = {}


def parsed(path: Path) -> ParsedFile:
    if path not in PARSED:
        PARSED[path] = ParsedFile(path.read_text(encoding="utf-8"))
    return PARSED[path]


def in_function(*body: str, head: str = "def f(a, b, rows):") -> str:
    return "\n".join([head, *(f"    {line}" for line in body), ""])


def edited_lines(kind: str, text: str, first: int = 1) -> list[str]:
    """The lines that a kind makes of a text, from line ``first`` on."""
    file = ParsedFile(text)
    edits = [edit for edit in sites_of(KINDS[kind], file) if edit.line >= first]
    assert all(is_sound(edit, file) for edit in edits)
    return [file.edited_line(edit).strip() for edit in edits]


def check(edit: Edit, file: ParsedFile) -> None:
    before, after = split_lines(file.text), split_lines(file.edited(edit))
    assert len(before) == len(after)
    assert [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]] == [
        edit.line
    ]
    ast.parse(file.edited(edit))


def all_edits(mutator: Mutator, path: Path) -> Iterator[tuple[Edit, ParsedFile]]:
    return ((edit, parsed(path)) for edit in sites_of(mutator, parsed(path)))


@given(st.sampled_from(TWELVE_KINDS), st.sampled_from(JSON + OWN), st.integers(min_value=0))
def test_an_edit_of_real_code_changes_one_line_and_parses(mutator: Mutator, path: Path, draw: int) -> None:
    edits = sites_of(mutator, parsed(path))
    if edits:
        check(edits[draw % len(edits)], parsed(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", JSON, ids=lambda path: path.name)
def test_every_edit_of_the_json_package_changes_one_line_and_parses(path: Path) -> None:
    for mutator in TWELVE_KINDS:
        for edit, file in all_edits(mutator, path):
            check(edit, file)


@given(st.sampled_from(TWELVE_KINDS), st.sampled_from(JSON))
def test_the_sites_of_a_file_are_always_the_same(mutator: Mutator, path: Path) -> None:
    again = ParsedFile(path.read_text(encoding="utf-8"))
    assert sites_of(mutator, again) == sites_of(mutator, parsed(path))


@pytest.mark.parametrize(
    ("kind", "line", "expected"),
    [
        ("comparison_boundary", "return a < b", ["return a <= b"]),
        ("comparison_boundary", "return 0 <= a < b", ["return 0 < a < b", "return 0 <= a <= b"]),
        ("condition_negated", "if a: return b", ["if not a: return b"]),
        ("condition_negated", "if not a: return b", ["if a: return b"]),
        ("condition_negated", "if a in rows: return b", ["if a not in rows: return b"]),
        ("condition_negated", "if a is not None: return b", ["if a is None: return b"]),
        ("condition_negated", "if a == b and c: d()", ["if a != b and c: d()", "if a == b and not c: d()"]),
        ("condition_negated", "return [x for x in rows if x > a]", ["return [x for x in rows if x <= a]"]),
        ("boolean_operator", "return a and b", ["return a or b"]),
        ("arithmetic_operator", "return a + b", ["return a - b"]),
        ("arithmetic_operator", "return a // b", ["return a % b", "return a / b"]),
        ("off_by_one", "return range(a)", ["return range(a + 1)", "return range(a - 1)"]),
        ("off_by_one", "return rows[a + 1]", ["return rows[a]", "return rows[a + 2]"]),
        ("off_by_one", "return rows[-1]", ["return rows[-2]"]),
        ("off_by_one", "return rows[1:]", ["return rows[2:]"]),
        ("off_by_one", "return list(enumerate(rows))", ["return list(enumerate(rows, 1))"]),
        ("wrong_constant", "b = a * 97", ["b = a * 79", "b = a * 96", "b = a * 98"]),
        ("wrong_constant", "b = a * 0.25", ["b = a * 0.26", "b = a * 0.52"]),
        ("wrong_constant", "b = f(a, True)", ["b = f(a, False)"]),
        ("arguments_swapped", "return f(a, b)", ["return f(b, a)"]),
        ("wrong_variable", "return f(a)", ["return f(b)", "return f(rows)"]),
        ("extreme_swapped", "return max(a, b)", ["return min(a, b)"]),
        ("extreme_swapped", "return any(rows)", ["return all(rows)"]),
        ("extreme_swapped", "return sorted(rows)", ["return sorted(rows, reverse=True)"]),
        ("extreme_swapped", "return sorted(rows, reverse=True)", ["return sorted(rows, reverse=False)"]),
        ("extreme_swapped", "rows.sort()", ["rows.sort(reverse=True)"]),
        ("return_value", "return a == b", ["return a != b"]),
        ("return_value", "return a, b", ["return b, a"]),
        ("return_value", "return a if rows else b", ["return b if rows else a"]),
        ("return_value", "return -1", ["return 0"]),
        ("return_value", "return True", ["return False"]),
        ("return_value", "return len(rows)", ["return len(rows) + 1", "return len(rows) - 1"]),
        ("return_value", "return str(a)", ["return a"]),
        ("loop_update", "for x in rows: a += x", ["for x in rows: a -= x", "for x in rows: a = x"]),
        ("loop_update", "for x in rows: break", ["for x in rows: continue"]),
    ],
)  # fmt: skip
def test_a_line_is_edited_as_a_person_might_have_written_it(kind: str, line: str, expected: list[str]) -> None:
    assert sorted(edited_lines(kind, in_function("rows = list(rows)", line), first=3)) == sorted(expected)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("comparison_boundary", "return sys.version_info >= (3, 8)"),
        ("boolean_operator", "return a and a"),
        ("arithmetic_operator", "return 'x' + a"),
        ("arithmetic_operator", "return '%s' % a"),
        ("arithmetic_operator", "return a[:1] + b[2:]"),
        ("arithmetic_operator", "return f'{a + b}'"),
        ("arguments_swapped", "return f(a, a)"),
        ("arguments_swapped", "return max(a, b)"),
        ("arguments_swapped", "return isinstance(a, int)"),
        ("extreme_swapped", "return min(a, a)"),
        ("extreme_swapped", "return len(sorted(rows))"),
        ("off_by_one", "return rows['a']"),
        ("wrong_constant", "assert a == 3"),
        ("wrong_constant", "raise ValueError(3)"),
        ("wrong_constant", "warnings.warn('odd', stacklevel=2)"),
        ("wrong_constant", "'''words 3'''"),
        ("wrong_constant", "b: Literal[3] = a"),
        ("wrong_variable", "return self"),
        ("return_value", "return None"),
    ],
)
def test_a_line_that_offers_no_mistake_worth_finding_is_left_alone(kind: str, line: str) -> None:
    assert edited_lines(kind, in_function("rows = list(rows)", line), first=3) == []


def test_a_start_value_is_one_that_a_loop_changes() -> None:
    text = in_function("n, unused = 0, 0", "for row in rows:", "    n += row")
    assert edited_lines("start_value", text) == ["n, unused = 1, 0"]


@pytest.mark.parametrize(
    "text",
    [
        "LIMIT = 3\n__all__ = ['a'] * 2\n",
        "@cached(3)\ndef f(a: Literal[3] = 3) -> Literal[3]:\n    '''Three.'''\n",
        "class A:\n    size = 3\n",
        "def f():\n    if TYPE_CHECKING:\n        a = 3\n",
        "def test_f():\n    g(3)\n",
    ],
)
def test_code_outside_functions_and_beside_their_bodies_is_left_alone(text: str) -> None:
    assert [edit for mutator in TWELVE_KINDS for edit in sites_of(mutator, ParsedFile(text))] == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_stay_as_they_are(end: str) -> None:
    file = ParsedFile(f"def f(a):{end}    return a < 1{end}")
    (edit,) = sites_of(KINDS["comparison_boundary"], file)
    assert file.edited(edit) == f"def f(a):{end}    return a <= 1{end}"


def test_columns_count_characters_where_letters_take_several_bytes() -> None:
    assert edited_lines("comparison_boundary", in_function("return 'äöü€😀' + a < b")) == ["return 'äöü€😀' + a <= b"]


def test_an_operator_on_a_line_of_its_own_is_found_past_brackets_and_comments() -> None:
    text = in_function("return (", "    (a)  # a < b", "    and b", ")")
    assert edited_lines("boolean_operator", text) == ["or b"]


def test_the_nearest_names_are_confused_first() -> None:
    text = in_function("first_row = f(rows)", "first_cell = f(rows)", "return g(first_row)")
    assert "return g(first_cell)" in edited_lines("wrong_variable", text)


def test_a_variable_that_has_no_value_yet_is_not_put_in() -> None:
    text = in_function("x = g(a)", "late = b", head="def f(a):")
    assert edited_lines("wrong_variable", text) == []


@pytest.mark.parametrize("text", ["1\n", "(", "a", ")"])
def test_an_edit_that_breaks_a_file_or_changes_nothing_is_not_sound(text: str) -> None:
    file = ParsedFile("def f(a):\n    return a\n")
    assert not is_sound(Edit(2, 11, 12, text), file)


def test_an_edit_outside_of_functions_is_not_sound() -> None:
    assert not is_sound(Edit(1, 4, 5, "2"), ParsedFile("x = 1\n"))
