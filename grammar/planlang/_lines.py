"""The lines of a plan, as Python's tokenizer ends them: LF, CR LF or CR, and nothing else.

A form feed or a Unicode separator ends no line; whoever numbers lines otherwise points at the wrong one.
"""

from __future__ import annotations

import re
from bisect import bisect_right

__all__ = ["Lines"]

_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """Lines and columns of a source, both 1-based and in characters, from offsets; and the text of a line."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0, *(end.end() for end in _END.finditer(source))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of the character at an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def text(self, number: int) -> str:
        """Return a line without its end; empty for a line that is not there."""
        if not 1 <= number <= len(self._starts):
            return ""
        stop = self._starts[number] if number < len(self._starts) else len(self._source)
        return self._source[self._starts[number - 1] : stop].rstrip("\r\n")
