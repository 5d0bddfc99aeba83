"""Packing files into shards of a given size.

Files go folder by folder, the biggest of a folder first, each into the first open shard that has room. Shards
stay open across folders: closing them would leave a nearly empty shard behind each small folder. A file above
the target is alone in its shard, and a file without lines is in none, for there is nothing to read in it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from planloom.data_classes import frozen
from planloom_code._firstfit import Rooms


class Packable(Protocol):
    """Whole files and pieces of files: what a shard can hold; ``name`` is unique in a packing."""

    @property
    def name(self) -> str: ...
    @property
    def lines(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def sha256(self) -> str: ...


@frozen
class Shard:
    """Files that are read together, in the order they are read."""

    items: tuple[Packable, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its files and pieces; a whole file's name is its path."""
        return tuple(item.name for item in self.items)

    @cached_property
    def tokens(self) -> int:
        """The size of its rendered text in estimated tokens."""
        return sum(item.tokens for item in self.items)

    @cached_property
    def sha256(self) -> str:
        """A hash of the names and contents, in order: equal hashes render to equal text."""
        rows = "".join(f"{item.sha256} {item.name}\n" for item in self.items)
        return hashlib.sha256(rows.encode()).hexdigest()

    @property
    def folder(self) -> str:
        """The folder of its first file, for labels; ``.`` for the root."""
        return folder_of(self.items[0].name) or "."


def folder_of(name: str) -> str:
    """The first part of a path, empty for a file that lies in the root."""
    first, slash, _ = name.partition("/")
    return first if slash else ""


def pack(files: Iterable[Packable], tokens: int) -> tuple[Shard, ...]:
    """Every file that has lines in exactly one shard of at most ``tokens``, or alone when it is larger."""
    return _shards(_packed([], files, tokens))


def repack(files: Iterable[Packable], tokens: int, previous: Iterable[Mapping[str, str]]) -> tuple[Shard, ...]:
    """Like `pack`, but unchanged files stay in the shard they were in, so that only shards with news differ.

    ``previous`` gives the last packing to the same target: for each shard its names with their hashes, in
    order. A changed file stays too while its shard has room; new files go where something changed anyway, else
    into new shards.
    """
    waiting = {file.name: file for file in files if file.lines}
    kept: list[list[Packable]] = []
    changed: list[bool] = []
    for shard in previous:
        stay, news = _staying(shard, waiting, tokens)
        kept.append(stay)
        changed.append(news)
    fixed = [shard for shard, news in zip(kept, changed, strict=True) if shard and not news]
    loose = [shard for shard, news in zip(kept, changed, strict=True) if shard and news]
    return _shards(fixed + _packed(loose, waiting.values(), tokens))


def _staying(shard: Mapping[str, str], waiting: dict[str, Packable], tokens: int) -> tuple[list[Packable], bool]:
    """The files of an old shard that remain in it, taken out of ``waiting``, and whether it differs."""
    there = [name for name in shard if name in waiting]
    unchanged = {name for name in there if waiting[name].sha256 == shard[name]}
    used = 0
    stay: set[str] = set()
    for name in sorted(there, key=lambda name: name not in unchanged):
        size = waiting[name].tokens
        if not stay or used + size <= tokens:
            used += size
            stay.add(name)
    differs = len(unchanged) < len(shard) or len(stay) < len(shard)
    return [waiting.pop(name) for name in there if name in stay], differs


def _packed(started: list[list[Packable]], files: Iterable[Packable], tokens: int) -> list[list[Packable]]:
    if tokens < 1:
        raise ValueError(f"a shard must hold at least 1 token, got {tokens}")
    shards = started
    rooms = Rooms()
    for shard in shards:
        rooms.open(tokens - sum(item.tokens for item in shard))
    for file in _in_order(files):
        size = file.tokens
        index = rooms.take(size)
        if index is None:
            index = rooms.open(max(tokens - size, 0))
            shards.append([])
        shards[index].append(file)
    return shards


def _in_order(files: Iterable[Packable]) -> list[Packable]:
    folders: defaultdict[str, list[tuple[int, str, int, Packable]]] = defaultdict(list)
    for index, file in enumerate(files):
        if file.lines:
            name = file.name
            # The index only keeps tuples from ever comparing files.
            folders[folder_of(name)].append((-file.tokens, name, index, file))
    return [row[-1] for folder in sorted(folders) for row in sorted(folders[folder])]


def _shards(groups: Sequence[Sequence[Packable]]) -> tuple[Shard, ...]:
    return tuple(Shard(tuple(group)) for group in groups)
