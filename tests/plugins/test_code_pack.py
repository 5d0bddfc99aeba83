"""Files are packed into shards by one rule: the same shards from the same files, always."""

import random
import time
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom_code import FileInfo, Packable, Shard, pack, repack


def info(path: str, tokens: int, sha256: str = "0", lines: int = 10) -> FileInfo:
    return FileInfo(path=path, size_bytes=tokens, sha256=sha256, lines=lines, tokens=tokens)


paths = st.builds("".join, st.tuples(st.sampled_from(["", "a/", "b/", "a/x/", "c/"]), st.text("pq", min_size=1)))
files = st.lists(st.builds(info, paths, st.integers(1, 130)), unique_by=lambda f: f.path, max_size=60)
targets = st.integers(1, 120)


def naive(items: Sequence[FileInfo], tokens: int) -> list[list[str]]:
    """First fit as the rule words it, looking at every open shard in turn."""

    def folder(path: str) -> str:
        return path.split("/")[0] if "/" in path else ""

    shards: list[list[FileInfo]] = []
    for file in sorted(items, key=lambda f: (folder(f.path), -f.tokens, f.path)):
        for shard in shards:
            if sum(f.tokens for f in shard) + file.tokens <= tokens:
                shard.append(file)
                break
        else:
            shards.append([file])
    return [[f.path for f in shard] for shard in shards]


def names(shards: Sequence[Shard]) -> list[list[str]]:
    return [list(shard.names) for shard in shards]


@given(files, targets)
def test_packing_is_first_fit(items: list[FileInfo], tokens: int) -> None:
    assert names(pack(items, tokens)) == naive(items, tokens)


@given(files, targets)
def test_every_file_is_in_exactly_one_shard(items: list[FileInfo], tokens: int) -> None:
    packed = [name for shard in pack(items, tokens) for name in shard.names]
    assert sorted(packed) == sorted(f.path for f in items)


@given(files, targets)
def test_only_a_shard_of_one_file_is_above_the_target(items: list[FileInfo], tokens: int) -> None:
    assert all(shard.tokens <= tokens or len(shard.items) == 1 for shard in pack(items, tokens))


@given(files, targets, st.randoms(use_true_random=False))
def test_the_order_of_the_files_changes_nothing(items: list[FileInfo], tokens: int, r: random.Random) -> None:
    shuffled = r.sample(items, len(items))
    assert pack(shuffled, tokens) == pack(items, tokens)


def test_shards_stay_open_across_folders() -> None:
    assert names(pack([info("a/x.py", 60), info("b/y.py", 30)], 100)) == [["a/x.py", "b/y.py"]]


def test_the_biggest_file_of_a_folder_comes_first_and_ties_go_by_path() -> None:
    packed = pack([info("a/1.py", 10), info("a/3.py", 20), info("a/2.py", 20)], 100)
    assert names(packed) == [["a/2.py", "a/3.py", "a/1.py"]]


def test_r19_an_empty_file_wastes_no_shard() -> None:
    assert pack([info("__init__.py", 5, lines=0)], 100) == ()


def test_a_shard_is_labelled_by_the_folder_of_its_first_file() -> None:
    assert [s.folder for s in pack([info("setup.py", 90), info("pkg/a.py", 90)], 100)] == [".", "pkg"]


def test_a_shards_hash_follows_the_content_of_its_files() -> None:
    (before,) = pack([info("a.py", 5, "1")], 10)
    (after,) = pack([info("a.py", 5, "2")], 10)
    assert before.sha256 != after.sha256


def test_a_target_below_one_token_is_refused_with_its_value() -> None:
    with pytest.raises(ValueError, match="at least 1 token, got 0"):
        pack([], 0)


def many(count: int) -> list[FileInfo]:
    draw = random.Random(7)
    return [info(f"d{draw.randrange(200)}/f{n}.py", draw.randrange(50, 6000)) for n in range(count)]


def test_a_published_workload_packs_as_tightly_as_its_size_allows() -> None:
    draw = random.Random(849)
    sizes = [draw.lognormvariate(7, 0.8) for _ in range(849)]
    items = [info(f"d{draw.randrange(40)}/f{n}.py", round(s * 1_348_181 / sum(sizes))) for n, s in enumerate(sizes)]
    assert len(pack(items, 100_000)) == 14


def test_fifty_thousand_files_pack_in_a_moment() -> None:
    items = many(50_000)
    started = time.process_time()
    pack(items, 100_000)
    assert time.process_time() - started < 2.5


@pytest.mark.slow
def test_a_million_files_pack_in_seconds() -> None:
    items = many(1_000_000)
    started = time.process_time()
    pack(items, 100_000)
    assert time.process_time() - started < 30


def row(shard: Shard) -> dict[str, str]:
    return {item.name: item.sha256 for item in shard.items}


def previous(shards: Sequence[Shard]) -> list[dict[str, str]]:
    return [row(shard) for shard in shards]


def hashes(shards: Sequence[Shard]) -> set[str]:
    return {shard.sha256 for shard in shards}


@given(files, targets)
def test_repacking_unchanged_files_changes_nothing(items: list[FileInfo], tokens: int) -> None:
    shards = pack(items, tokens)
    assert repack(items, tokens, previous(shards)) == shards


@given(files.filter(bool), targets, st.data())
def test_an_edit_of_one_file_makes_one_shard_new(items: list[FileInfo], tokens: int, data: st.DataObject) -> None:
    before = pack(items, tokens)
    edited = data.draw(st.sampled_from(items))
    after = repack([attrs.evolve(f, sha256="new") if f is edited else f for f in items], tokens, previous(before))
    assert len(hashes(after) - hashes(before)) == 1


@given(files, files, targets)
def test_repacking_other_files_keeps_the_rules_of_packing(
    old: list[FileInfo], new: list[FileInfo], tokens: int
) -> None:
    shards = repack([attrs.evolve(f, sha256="new") for f in new], tokens, previous(pack(old, tokens)))
    assert sorted(name for shard in shards for name in shard.names) == sorted(f.path for f in new)
    assert all(shard.tokens <= tokens or len(shard.items) == 1 for shard in shards)


@given(files, targets, targets)
def test_an_earlier_packing_to_another_target_breaks_no_rule(items: list[FileInfo], earlier: int, tokens: int) -> None:
    shards = repack(items, tokens, previous(pack(items, earlier)))
    assert sorted(name for shard in shards for name in shard.names) == sorted(f.path for f in items)
    assert all(shard.tokens <= tokens or len(shard.items) == 1 for shard in shards)


def test_a_new_file_goes_where_something_changed_anyway() -> None:
    old: list[Packable] = [info("a/1.py", 60), info("b/1.py", 60)]
    before = pack(old, 100)
    after = repack([info("a/1.py", 60), info("b/1.py", 50, "new"), info("c/1.py", 40)], 100, previous(before))
    assert names(after) == [["a/1.py"], ["b/1.py", "c/1.py"]]
