"""A file too large for a model is cut at function borders, with its own line numbers."""

from hypothesis import given
from hypothesis import strategies as st

from planloom_code import SourceFile, numbered, source_of, split_file


def source(text: str) -> SourceFile:
    read = source_of("big.py", text.encode())
    assert isinstance(read, SourceFile)
    return read


def function(name: str, lines: int) -> str:
    return f"def {name}():\n" + "    x = 1\n" * (lines - 1)


def test_pieces_begin_where_functions_begin() -> None:
    text = "".join(function(f"f{n}", 30) for n in range(20))
    pieces = split_file(source(text), 600)
    assert len(pieces) > 3
    assert all((piece.first_line - 1) % 30 == 0 for piece in pieces)


def test_methods_are_borders_inside_a_class_larger_than_a_piece() -> None:
    text = "class C:\n" + "".join(f"    @d\n    def m{n}(self):\n" + "        x = 1\n" * 28 for n in range(20))
    pieces = split_file(source(text), 700)
    assert all((piece.first_line - 2) % 30 == 0 for piece in pieces[1:])


def test_a_piece_is_named_by_its_lines() -> None:
    first, *_ = split_file(source(function("f", 30) + function("g", 30)), 300)
    assert first.name == "big.py:1-30"


def test_one_line_longer_than_a_piece_is_a_piece_of_its_own() -> None:
    pieces = split_file(source("x = 1\ny = '" + "y" * 5000 + "'\nz = 1\n"), 20)
    assert [(p.first_line, p.last_line) for p in pieces] == [(1, 1), (2, 2), (3, 3)]


rows = st.lists(
    st.sampled_from(["def f():", "    pass", "x = 1", "# " + "long " * 20, "", "class C:", "    def m(self):"]),
    max_size=60,
)


@given(rows, st.integers(1, 200))
def test_pieces_follow_one_another_without_gap_or_overlap(lines: list[str], tokens: int) -> None:
    file = source("\n".join(lines) + "\n")
    covered = [n for p in split_file(file, tokens) for n in range(p.first_line, p.last_line + 1)]
    assert covered == list(range(1, len(file.lines) + 1))


@given(rows, st.integers(1, 200))
def test_a_piece_of_several_lines_fits_and_knows_its_size(lines: list[str], tokens: int) -> None:
    file = source("\n".join(lines) + "\n")
    for piece in split_file(file, tokens):
        assert piece.lines == 1 or piece.tokens <= tokens
        text = numbered(file, piece.first_line, piece.last_line)
        assert 0 <= piece.tokens - len(text) / 2.54542 < 1
