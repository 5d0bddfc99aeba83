"""A source tree holds the manifest of every file, and gives texts that are what was packed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from planloom_code import FileChanged, NotInTree, SourceTree, numbered


@pytest.fixture
def tree_of(tmp_path: Path) -> Callable[[dict[str, str]], SourceTree]:
    def build(texts: dict[str, str]) -> SourceTree:
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        return SourceTree.open(tmp_path)

    return build


Build = Callable[[dict[str, str]], SourceTree]


def test_a_manifest_row_has_the_figures_of_its_file(tree_of: Build) -> None:
    (row,) = tree_of({"a.py": "x = 1\ny = 2\n"}).files
    assert (row.path, row.size_bytes, row.lines, len(row.sha256)) == ("a.py", 12, 2, 64)


def test_totals_are_sums_over_the_files(tree_of: Build) -> None:
    tree = tree_of({"a.py": "x = 1\n", "b.py": "y = 1\nz = 2\n"})
    assert (tree.lines, tree.tokens) == (3, sum(file.tokens for file in tree.files))


def test_r19_an_empty_file_alone_has_no_lines_and_no_shard(tree_of: Build) -> None:
    tree = tree_of({"__init__.py": ""})
    assert (tree.lines, tree.paths, tree.shards(1000)) == (0, ("__init__.py",), ())


def test_r03_an_undecodable_file_is_skipped_and_the_others_are_read(tree_of: Build) -> None:
    tree = tree_of({"a.py": "x = 1\n", "b.py": "x = '\udce9'\n", "c.py": "y = 2\n"})
    assert (tree.paths, [s.path for s in tree.skipped]) == (("a.py", "c.py"), ["b.py"])


def test_r25_a_huge_file_pushes_no_later_file_out(tree_of: Build) -> None:
    tree = tree_of({"a_huge.py": "x = 1\n" * 20_000, "z_small.py": "y = 2\n"})
    packed = {name for shard in tree.shards(1000) for name in shard.names}
    assert packed == {"a_huge.py", "z_small.py"}


def test_r25_with_a_context_every_line_of_a_huge_file_is_in_a_piece(tree_of: Build) -> None:
    tree = tree_of({"a_huge.py": "x = 1\n" * 20_000, "z_small.py": "y = 2\n"})
    text = "".join(tree.render(shard.names) for shard in tree.shards(5000, context_tokens=8000))
    assert all(f"{n:>5}| x = 1\n" in text for n in (1, 9_999, 20_000))


def test_no_shard_of_a_split_tree_is_above_the_context(tree_of: Build) -> None:
    tree = tree_of({"a.py": "x = 1\n" * 5000, "b.py": "y = 2\n" * 100})
    assert all(shard.tokens <= 3000 for shard in tree.shards(100_000, context_tokens=3000))


def test_a_rendered_shard_is_its_files_numbered(tree_of: Build) -> None:
    tree = tree_of({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    assert tree.render(["b.py", "a.py"]) == numbered(tree.source("b.py")) + numbered(tree.source("a.py"))


def test_a_piece_is_rendered_by_its_name_alone(tree_of: Build) -> None:
    tree = tree_of({"a.py": "x = 1\ny = 2\nz = 3\n"})
    assert tree.render(["a.py:2-2"]) == "### a.py\n    2| y = 2\n"


def test_packing_again_after_an_edit_keeps_the_other_shards(tree_of: Build, tmp_path: Path) -> None:
    before = tree_of({f"f{n}.py": f"x = {n}\n" * 50 for n in range(10)}).shards(900)
    (tmp_path / "f3.py").write_text("x = 9\n" * 50)
    last = [{item.name: item.sha256 for item in shard.items} for shard in before]
    after = SourceTree.open(tmp_path).shards(900, previous=last)
    assert len({s.sha256 for s in after} - {s.sha256 for s in before}) == 1


def test_a_path_that_is_no_file_of_the_tree_is_never_opened(tree_of: Build) -> None:
    with pytest.raises(NotInTree, match="/etc/passwd is no file of"):
        tree_of({"a.py": "x = 1\n"}).render(["/etc/passwd"])


def test_a_file_that_changed_since_is_named(tree_of: Build, tmp_path: Path) -> None:
    tree = tree_of({"a.py": "x = 1\n"})
    (tmp_path / "a.py").write_text("x = 2\n")
    with pytest.raises(FileChanged, match=r"a\.py has changed since the run began"):
        tree.source("a.py")


def test_r15_files_that_do_not_parse_are_listed_and_packed_all_the_same(tree_of: Build) -> None:
    tree = tree_of({"a.py": "x = 1\n", "b.py": "{% if %}\n", "c.py": "y = 2\n"})
    assert [problem.path for problem in tree.unparsable()] == ["b.py"]
    assert tree.shards(1000)[0].names == ("b.py", "a.py", "c.py")


def test_a_file_that_changed_does_not_stop_the_list_of_unparsable_files(tree_of: Build, tmp_path: Path) -> None:
    tree = tree_of({"a.py": "x = 1\n", "b.py": "{% if %}\n"})
    (tmp_path / "a.py").unlink()
    assert [problem.path for problem in tree.unparsable()] == ["a.py", "b.py"]


def test_a_configured_tokenizer_gives_the_sizes(tree_of: Build, tmp_path: Path) -> None:
    tree_of({"a.py": "x = 1\ny = 2\n"})
    tree = SourceTree.open(tmp_path, count_tokens=len)
    assert tree.tokens == len(tree.render(["a.py"]))


def test_a_configured_tokenizer_also_bounds_the_pieces(tree_of: Build, tmp_path: Path) -> None:
    tree_of({"a.py": "x = 1\n" * 300})
    tree = SourceTree.open(tmp_path, count_tokens=len)
    assert all(len(tree.render(s.names)) <= 1000 for s in tree.shards(1000, context_tokens=1000))


def test_code_around_a_line_is_its_function(tree_of: Build) -> None:
    tree = tree_of({"a.py": "x = 1\n@d\ndef f():\n    return x\ny = 2\n"})
    assert tree.code_around("a.py", 4) == "    2| @d\n    3| def f():\n    4|     return x\n"


@pytest.mark.parametrize(
    ("body_lines", "shown"),
    [pytest.param(59, 60, id="sixty-lines-whole"), pytest.param(60, 31, id="sixty-one-cut")],
)
def test_a_function_above_sixty_lines_is_shown_fifteen_lines_either_side(
    tree_of: Build, body_lines: int, shown: int
) -> None:
    tree = tree_of({"a.py": "def f():\n" + "    x = 1\n" * body_lines})
    around = tree.code_around("a.py", 30)
    assert around is not None
    assert around.count("\n") == shown


def test_code_around_a_line_outside_functions_stops_at_the_files_ends(tree_of: Build) -> None:
    assert tree_of({"a.py": "x = 1\ny = 2\n"}).code_around("a.py", 1) == "    1| x = 1\n    2| y = 2\n"


def test_there_is_no_code_around_a_line_of_an_unknown_file(tree_of: Build) -> None:
    assert tree_of({"a.py": "x = 1\n"}).code_around("b.py", 1) is None
