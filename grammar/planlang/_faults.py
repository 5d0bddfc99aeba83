"""What the passes collect while they read a plan; `_check` turns it into public problems with lines and columns."""

from __future__ import annotations

from bisect import bisect_right

__all__ = ["Fault", "Places"]


class Fault:
    """One thing wrong, by character offsets. ``code`` is a key of the table in `_codes`."""

    __slots__ = ("code", "end", "hint", "message", "start")

    def __init__(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        self.code, self.start, self.end, self.message, self.hint = code, start, end, message, hint


class Places:
    """Lines and columns of a source, both 1-based and in characters, from offsets."""

    def __init__(self, source: str) -> None:
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        if len(self._starts) > 1 and source.splitlines()[-1] == source[self._starts[-2] :]:
            self._starts.pop()  # the last line has no end of its own, so no line follows it

    def of(self, offset: int) -> tuple[int, int]:
        """Return line and column of the character at ``offset``."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
