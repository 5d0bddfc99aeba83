"""The audited tree as the kits hold it: a manifest of every file, and the texts on demand.

Opening reads each file once, keeps its figures and forgets its text. A text is read again when somebody asks
for it and must then have the hash of the manifest: what a worker reads is what was packed and priced, or an
error that says the file has changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import attrs

from planloom.data_classes import frozen
from planloom_code._discover import Discovery, discover
from planloom_code._errors import FileChanged, NotInTree
from planloom_code._grammar import GRAMMAR
from planloom_code._naming import FileNames
from planloom_code._numbering import numbered_lines
from planloom_code._pack import Packable, Shard, repack
from planloom_code._places import Place, Places
from planloom_code._recent import Recent
from planloom_code._source import ParseProblem, Skipped, SourceFile, numbered, read_source, shown_path
from planloom_code._splitting import PIECE_NAME, Piece, split_file

# 32 million characters: some 60 shards of 100,000 tokens would be held, a large library is not.
_HELD_CHARACTERS = 32_000_000
_HELD_PLACE_LINES = 500_000
# A function longer than this is shown as the lines around the finding.
_LONGEST_FUNCTION_LINES = 60
_LINES_EITHER_SIDE = 15


@frozen(kw_only=True)
class FileInfo:
    """A file's row in the manifest."""

    path: str
    size_bytes: int
    sha256: str
    lines: int
    tokens: int

    @property
    def name(self) -> str:
        """Its path, under which shards hold it."""
        return self.path


class SourceTree:
    """An audited folder; owns its cache of texts, is otherwise never changed, and may be shared by threads."""

    def __init__(
        self,
        discovery: Discovery,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        self.root = discovery.root
        self.rules = discovery.rules
        self._locations = {file.path: self.root / file.system_path for file in discovery.files}
        self._count_tokens = count_tokens
        read = [self._examined(path) for path in self._locations]
        self.files = tuple(file for file in read if isinstance(file, FileInfo))
        unread = [file for file in read if isinstance(file, Skipped)]
        self.skipped = tuple(sorted([*discovery.skipped, *unread], key=lambda skipped: skipped.path))
        self._infos = {file.path: file for file in self.files}
        self._sources = Recent[SourceFile](_HELD_CHARACTERS, lambda source: len(source.text))
        self._parsed: set[str] = set()
        self._places = Recent[Places](_HELD_PLACE_LINES, lambda places: places.lines_held + 100)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        count_tokens: Callable[[str], int] | None = None,
    ) -> SourceTree:
        """The tree of the Python files that `discover` finds; raises `CodeError`.

        ``count_tokens`` is a real tokenizer for the numbered text; without one tokens are estimated.
        """
        return cls(discover(path, include, exclude), count_tokens)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files' paths, sorted."""
        return tuple(self._infos)

    @cached_property
    def lines(self) -> int:
        """The lines of all files."""
        return sum(file.lines for file in self.files)

    @cached_property
    def tokens(self) -> int:
        """The size of all files in numbered form."""
        return sum(file.tokens for file in self.files)

    def __contains__(self, path: object) -> bool:
        return path in self._infos

    def info(self, path: str) -> FileInfo:
        """The manifest's row of a file; raises `NotInTree`."""
        if path not in self._infos:
            raise NotInTree(
                f"{path} is no file of {shown_path(str(self.root))}. Use one of the tree's paths as they are listed."
            )
        return self._infos[path]

    def source(self, path: str) -> SourceFile:
        """A file as it was when the tree was opened; raises `NotInTree` or `FileChanged`."""
        self.info(path)
        return self._sources.get(path, self._unchanged)

    def places(self, path: str) -> Places:
        """The functions of a file."""
        return self._places.get(path, self._places_in)

    def place_of(self, path: str, line: int) -> Place:
        """The place of a line."""
        return self.places(path).place_of(path, line)

    def resolve(self, spelling: str) -> str | None:
        """The file of the tree that a model's spelling of a path means, or None."""
        return self._names.resolve(spelling)

    def unparsable(self) -> Iterator[ParseProblem]:
        """The files that this Python cannot parse, parsed one by one as they are asked for.

        A file that changed since is among them, because what was packed can no longer be parsed.
        """
        for path in self._infos:
            try:
                source = self._unchanged(path)
                problem = None if path in self._parsed else source.parse_problem
            except FileChanged as error:
                problem = ParseProblem(path, str(error), None, GRAMMAR)
            if problem is not None:
                yield problem

    def code_around(self, path: str, line: int) -> str | None:
        """The numbered code of the function at ``line``, or 15 lines either side; None for an unknown path.

        The lines either side are also given when the function is longer than 60 lines. Raises `FileChanged`.
        """
        if path not in self._infos:
            return None
        span = self.places(path).span_at(line)
        if span is None or span[1] - span[0] >= _LONGEST_FUNCTION_LINES:
            span = (max(1, line - _LINES_EITHER_SIDE), line + _LINES_EITHER_SIDE)
        return numbered_lines(self.source(path).lines[span[0] - 1 : span[1]], span[0])

    def shards(
        self,
        tokens: int,
        *,
        context_tokens: int | None = None,
        previous: Iterable[Mapping[str, str]] = (),
    ) -> tuple[Shard, ...]:
        """The files packed into shards of ``tokens``; files above ``context_tokens`` are split first.

        ``previous`` (the names and hashes of each shard of an earlier run) keeps unchanged files together.
        """
        target = tokens if context_tokens is None else min(tokens, context_tokens)
        items: list[Packable] = []
        for file in self.files:
            too_large = context_tokens is not None and file.tokens > context_tokens
            items += self._split(file, target) if too_large else [file]
        return repack(items, target, previous)

    def render(self, names: Iterable[str]) -> str:
        """The numbered text of files and pieces by the names that shards give them.

        Raises `NotInTree` or `FileChanged`.
        """
        return "".join(map(self._rendered, names))

    @cached_property
    def _names(self) -> FileNames:
        return FileNames(self._infos)

    def _examined(self, path: str) -> FileInfo | Skipped:
        source = read_source(self._locations[path], path)
        if isinstance(source, Skipped):
            return source
        tokens = source.tokens if self._count_tokens is None else self._count_tokens(numbered(source))
        return FileInfo(
            path=path,
            size_bytes=source.size_bytes,
            sha256=source.sha256,
            lines=source.line_count,
            tokens=tokens,
        )

    def _unchanged(self, path: str) -> SourceFile:
        source = read_source(self._locations[path], path)
        if isinstance(source, Skipped) or source.sha256 != self._infos[path].sha256:
            raise FileChanged(f"{path} has changed since the run began. Start the run again to read it as it is.")
        return source

    def _places_in(self, path: str) -> Places:
        places = Places(self.source(path).text)
        if places.parsed:
            self._parsed.add(path)
        return places

    def _split(self, file: FileInfo, tokens: int) -> tuple[Piece, ...]:
        source = self.source(file.path)
        # With a tokenizer, what an estimated token is worth in this file.
        worth = file.tokens / source.tokens
        pieces = split_file(source, max(1, int(tokens / worth)))
        if self._count_tokens is not None:
            pieces = tuple(attrs.evolve(p, tokens=math.ceil(p.tokens * worth)) for p in pieces)
        return pieces

    def _rendered(self, name: str) -> str:
        if name in self._infos:
            return numbered(self.source(name))
        part = PIECE_NAME.fullmatch(name)
        if part is None:
            return numbered(self.source(name))
        return numbered(self.source(part["path"]), int(part["first"]), int(part["last"]))
