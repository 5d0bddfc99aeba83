"""Numbered code, read back from the text of a message.

A worker is sent files as a line ``### path`` and then `` 1| text`` for every line. A piece of a large file starts
at another number, and a gap in the numbers starts a new piece, so that inside a piece every line follows the one
before. Whatever is neither a heading nor a numbered line (a prompt, a closing remark) is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from planloom.data_classes import frozen

HEADING = "### "
_NUMBERED = re.compile(r" *(\d{1,9})\|(?: (.*))?", re.DOTALL)


@frozen(kw_only=True)
class Piece:
    """Consecutive lines of one file, without their numbers.

    :ivar first_line: the printed number of the first line.
    """

    path: str
    first_line: int
    lines: tuple[str, ...]


def numbered_line(line: str) -> tuple[int, str] | None:
    """Return the number and the text of a numbered line, or ``None`` for any other line."""
    match = _NUMBERED.fullmatch(line)
    if match is None:
        return None
    return int(match[1]), (match[2] or "").rstrip("\r").replace("\r", " ")


def read_lines(path: str, lines: Iterable[str]) -> Iterator[Piece]:
    """Return the pieces that numbered lines of one file make up."""
    first, texts = 0, list[str]()
    for line in lines:
        numbered = numbered_line(line)
        if numbered is None:
            continue
        number, text = numbered
        if texts and number != first + len(texts):
            yield Piece(path=path, first_line=first, lines=tuple(texts))
            texts = []
        if not texts:
            first = number
        texts.append(text)
    if texts:
        yield Piece(path=path, first_line=first, lines=tuple(texts))


def read_shard(text: str) -> list[Piece]:
    """Return the pieces of every file in the text of a scan."""
    files: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line.startswith(HEADING):
            files.append((line[len(HEADING) :].strip(), []))
        elif files:
            files[-1][1].append(line)
    return [piece for path, lines in files for piece in read_lines(path, lines)]
