"""One leak, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

__all__ = ["Leak", "describe"]

_MOST_SHOWN = 20


@attrs.frozen(kw_only=True)
class Leak:
    """Something that gives bugs away.

    :ivar path: the file, as from the benchmark's folder.
    :ivar line: the line, None where it is the whole file.
    :ivar message: what is there, and what to do about it.
    """

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.line is None else f"{self.path}:{self.line}: {self.message}"


def describe(leaks: Sequence[Leak]) -> str:
    """The leaks, one a line; of many, the first."""
    shown = [str(leak) for leak in leaks[:_MOST_SHOWN]]
    more = len(leaks) - len(shown)
    return "\n".join([*shown, *([f"and {more} more"] if more else [])])
