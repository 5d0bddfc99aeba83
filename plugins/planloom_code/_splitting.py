"""Cutting one file that is too large for a model into pieces that keep their line numbers.

A piece takes as many lines as fit and is then cut back to the border of a function or class: the outermost
one in its second half if there is any, else the last one. Only code without a border in reach is cut anywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from planloom.data_classes import frozen
from planloom_code._numbering import CHARACTERS_A_TOKEN, numbered_characters, tokens_of
from planloom_code._places import Places
from planloom_code._source import SourceFile

PIECE_NAME = re.compile(r"(?P<path>.+):(?P<first>\d+)-(?P<last>\d+)", re.DOTALL)


@frozen(kw_only=True)
class Piece:
    """Some lines of a file, both ends included, packed like a file of its own."""

    path: str
    first_line: int
    last_line: int
    tokens: int
    sha256: str

    @property
    def name(self) -> str:
        """The path with the lines: ``pkg/big.py:1-800``."""
        return f"{self.path}:{self.first_line}-{self.last_line}"

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.last_line - self.first_line + 1


def split_file(source: SourceFile, tokens: int) -> tuple[Piece, ...]:
    """The file as consecutive pieces of at most ``tokens``; a single longer line is a piece of its own."""
    limit = int(tokens * CHARACTERS_A_TOKEN)
    borders = _borders(Places(source.text))
    pieces = []
    first = 1
    while first <= len(source.lines):
        last = _last_that_fits(source, first, limit)
        if last < len(source.lines):
            last = _cut_back(borders, first, last)
        pieces.append(_piece(source, first, last))
        first = last + 1
    return tuple(pieces)


def _last_that_fits(source: SourceFile, first: int, limit: int) -> int:
    used = 0
    for number in range(first, len(source.lines) + 1):
        used += len(source.lines[number - 1])
        if numbered_characters(source.path, used, number - first + 1, first) > limit:
            return max(number - 1, first)
    return len(source.lines)


def _cut_back(borders: Mapping[int, int], first: int, last: int) -> int:
    """The line to end a piece at: the one before the best border among ``first + 1`` to ``last + 1``."""
    reach = [line for line in range(first + 1, last + 2) if line in borders]
    if not reach:
        return last
    late = [line for line in reach if line > first + (last - first) // 2]
    best = min(late, key=lambda line: (borders[line], -line)) if late else reach[-1]
    return best - 1


def _borders(places: Places) -> dict[int, int]:
    """Lines where a function or class begins, or the code after one, with how deep it is nested."""
    borders: dict[int, int] = {}
    for span in places.spans:
        for line in (span.first_line, span.last_line + 1):
            borders[line] = min(span.depth, borders.get(line, span.depth))
    return borders


def _piece(source: SourceFile, first: int, last: int) -> Piece:
    part = source.lines[first - 1 : last]
    characters = numbered_characters(source.path, sum(map(len, part)), len(part), first)
    digest = hashlib.sha256("\n".join(part).encode()).hexdigest()
    return Piece(path=source.path, first_line=first, last_line=last, tokens=tokens_of(characters), sha256=digest)
