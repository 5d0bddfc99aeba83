"""What a build takes, and what it gives: clean texts in, proved edits of them out. Nothing here touches a disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from planloom_code import SourceFile

__all__ = ["Built", "LeftOut", "Library", "Planted"]


@attrs.frozen(kw_only=True)
class Library:
    """A library to plant bugs in.

    :ivar root: the folder that the files' paths begin in. It is read, and never written.
    :ivar files: the files of the benchmark; only they are planted, whatever else the folder holds.
    :ivar import_root: the folder that imports begin in; None to find it: ``src`` where the root has one, else the root.
    """

    root: Path
    files: tuple[SourceFile, ...]
    import_root: Path | None = None


@attrs.frozen(kw_only=True)
class Planted:
    """A proved edit of a clean text. Lines and columns count from 1; lines come without their ends.

    :ivar column: where the edit begins, in characters.
    :ivar function: the qualified name of the innermost function.
    :ivar failed: how many of the file's ``total`` examples fail with it.
    """

    path: str
    line: int
    column: int
    before_line: str
    after_line: str
    kind: str
    function: str
    failed: int
    total: int


@attrs.frozen(kw_only=True)
class LeftOut:
    """A file in which nothing can be planted.

    :ivar reason: one of a few, for counting.
    :ivar detail: what happened in this file, for people; it may hold a time or an address, and so differ each time.
    """

    path: str
    reason: str
    detail: str = attrs.field(default="", eq=False)


@attrs.frozen(kw_only=True)
class Built:
    """The outcome of a build.

    :ivar entries: by path and line.
    :ivar left_out: by path.
    :ivar counts: how many files of each fate, proofs by outcome.
    """

    entries: tuple[Planted, ...]
    left_out: tuple[LeftOut, ...]
    counts: Mapping[str, int]
