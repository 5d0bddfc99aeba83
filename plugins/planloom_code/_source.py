"""One source file, read: its text, its size, its hash, and whether this Python can parse it."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import attrs

from planloom.data_classes import frozen
from planloom_code._decoding import Undecodable, decode
from planloom_code._errors import Unparsable
from planloom_code._grammar import GRAMMAR, parse
from planloom_code._lines import count_lines, split_lines
from planloom_code._numbering import numbered_characters, numbered_text, tokens_of

# A file larger than this is data with a .py ending; reading it would only exhaust memory.
MAX_SOURCE_BYTES = 64 * 1024 * 1024


@frozen
class Skipped:
    """A path that is not examined, and why; ``path`` is shown to people and always UTF-8 text.

    ``lost`` is true where it should have been: it is source, or may hold some, and cannot be read.
    """

    path: str
    reason: str
    lost: bool = attrs.field(default=False, eq=False)


@frozen
class ParseProblem:
    """A file that goes to workers as text only: what the grammar refused, and which grammar that was."""

    path: str
    reason: str
    line: int | None
    grammar: str


@frozen(kw_only=True)
class SourceFile:
    """A decoded source file; ``path`` is the name workers see, POSIX and relative to the tree."""

    path: str
    text: str
    size_bytes: int
    sha256: str
    encoding: str = "utf-8"

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends, as Python numbers them."""
        return tuple(split_lines(self.text))

    @cached_property
    def tokens(self) -> int:
        """The size of the numbered form in estimated tokens."""
        ends = self.text.count("\n") + self.text.count("\r")
        return tokens_of(numbered_characters(self.path, len(self.text) - ends, self.line_count))

    @cached_property
    def line_count(self) -> int:
        """``len(lines)`` without building them."""
        return count_lines(self.text)

    def tree(self) -> ast.Module:
        """The syntax tree, parsed anew at each call; raises `Unparsable`."""
        if self.encoding.startswith(("utf-16", "utf-32")):
            raise Unparsable(f"is {self.encoding} text, which Python does not read as source", None, GRAMMAR)
        return parse(self.text)

    @cached_property
    def parse_problem(self) -> ParseProblem | None:
        """Why the file does not parse, or None when it does; parsed at the first look."""
        try:
            self.tree()
        except Unparsable as error:
            return ParseProblem(self.path, error.reason, error.line, error.grammar)
        return None


def source_of(path: str, data: bytes) -> SourceFile | Skipped:
    """The source file that ``data`` is, under the name ``path``, or the reason why it is none."""
    try:
        text, encoding = decode(data)
    except Undecodable as error:
        return Skipped(path, str(error), lost=True)
    digest = hashlib.sha256(data).hexdigest()
    return SourceFile(path=path, text=text, size_bytes=len(data), sha256=digest, encoding=encoding)


def read_source(location: Path, path: str | None = None) -> SourceFile | Skipped:
    """The source file at ``location``, named ``path`` (its own name by default), or the reason to skip it."""
    name = shown_path(location.name) if path is None else path
    try:
        size_bytes = location.stat().st_size
        if size_bytes > MAX_SOURCE_BYTES:
            return Skipped(name, f"is {size_bytes:,} bytes; files above {MAX_SOURCE_BYTES:,} are not read", lost=True)
        data = location.read_bytes()
    except OSError as error:
        return Skipped(name, f"cannot be read: {error.strerror or error}", lost=True)
    return source_of(name, data)


def numbered(source: SourceFile, first_line: int = 1, last_line: int | None = None) -> str:
    """The numbered form of a file, or of some of its lines under their own numbers."""
    return numbered_text(source.path, source.lines[first_line - 1 : last_line], first_line)


def render(sources: Iterable[SourceFile]) -> str:
    """The numbered forms of whole files, one after the other."""
    return "".join(map(numbered, sources))


def unparsable(sources: Iterable[SourceFile]) -> tuple[ParseProblem, ...]:
    """The files that the running grammar refuses, each with its reason, in the given order."""
    return tuple(source.parse_problem for source in sources if source.parse_problem is not None)


def shown_path(raw: str) -> str:
    r"""A path as UTF-8 text on one line: undecodable bytes and control characters become ``\x..`` escapes."""
    if raw.isascii() and raw.isprintable():
        return raw
    try:
        text = raw.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        # A lone surrogate that stands for no byte: no file has such a name, but a caller may ask for one.
        text = raw.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
