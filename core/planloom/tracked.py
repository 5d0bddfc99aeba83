"""Whether git tracks a file, told from git's index and without git, whose settings a checkout may bring along.

A store that git tracks came with the checkout. Its answers would be taken for a model's, so that whoever committed it
could say what an audit finds.

The index is a list of entries of fixed fields and a path (``gitformat-index``). Up to version 3 each path stands there
whole, with its length in the two bytes before it (or before two bytes of further flags); in version 4 it is what
differs from the path before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["is_tracked"]

_NUMBERS_BYTES = 40
"""An entry begins with ten numbers of four bytes; its hash and its flags follow."""
_HASH_BYTES = (20, 32)
_EXTENDED = 0x40
_LONGEST = 0xFFF
"""The most that the length of a path says."""


def is_tracked(file: Path) -> bool:
    """Return whether a repository that the file lies in tracks it; what cannot be read tracks nothing."""
    place = file.resolve()
    return any(
        _lists(index, place.relative_to(folder).as_posix()) for folder in place.parents for index in _indexes(folder)
    )


def _indexes(folder: Path) -> Iterator[Path]:
    """Yield the index of a folder's repository, and those it is split into."""
    git = folder / ".git"
    if git.is_file():
        # A worktree, or a submodule.
        named = git.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
        git = folder / named
    if git.is_dir():
        yield git / "index"
        yield from git.glob("sharedindex.*")


def _lists(index: Path, path: str) -> bool:
    try:
        data = index.read_bytes()
    except OSError:
        return False
    if data[:4] != b"DIRC":
        return False
    name = path.encode("utf-8", "surrogateescape")
    if int.from_bytes(data[4:8], "big") == 4:
        return any(_folded(name) in map(_folded, _shortened(data, hash_bytes)) for hash_bytes in _HASH_BYTES)
    return _stands_in(data, name)


def _folded(name: bytes) -> bytes:
    """Return a name as the usual disks of this system compare it."""
    return name.lower() if sys.platform == "darwin" else name


def _stands_in(data: bytes, name: bytes) -> bool:
    folded, sought = _folded(data), _folded(name) + b"\0"
    place = folded.find(sought)
    while place >= 0:
        lengths = (int.from_bytes(data[end - 2 : end], "big") & _LONGEST for end in (place, place - 2))
        if min(len(name), _LONGEST) in lengths:
            return True
        place = folded.find(sought, place + 1)
    return False


def _shortened(data: bytes, hash_bytes: int) -> Iterator[bytes]:
    """Yield the paths of an index of version 4; with another size of hashes than its own, a few that are none."""
    place, path = 12, b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        flags = place + _NUMBERS_BYTES + hash_bytes
        if flags >= len(data):
            return
        place = flags + (4 if data[flags] & _EXTENDED else 2)
        dropped, place = _number(data, place)
        end = data.find(b"\0", place)
        if end < 0:
            return
        path = path[: max(0, len(path) - dropped)] + data[place:end]
        yield path
        place = end + 1


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length and where it ends."""
    value = -1
    more = True
    while more and place < len(data):
        value = (value + 1) << 7 | data[place] & 0x7F
        more = bool(data[place] & 0x80)
        place += 1
    return max(0, value), place
