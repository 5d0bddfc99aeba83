"""What the passes collect while they read a plan; `_check` turns it into public problems with lines and columns."""

from __future__ import annotations

__all__ = ["Fault"]


class Fault:
    """One thing wrong, by character offsets. ``code`` is a key of the table in `_codes`."""

    __slots__ = ("code", "end", "hint", "message", "start")

    def __init__(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        self.code, self.start, self.end, self.message, self.hint = code, start, end, message, hint
