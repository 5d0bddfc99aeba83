"""Gives a place to what goes wrong: any exception of an operation becomes a plan error at its node."""

from __future__ import annotations

from typing import Final

from planlang._errors import PlanAborted, PlanError, PlanFailed, PlanLimitError
from planlang._lines import Lines

from .meter import LimitHitError

__all__ = ["Places"]

_DETAIL_LENGTH: Final = 300


class Places:
    """Turns character offsets of one source into lines and columns, and exceptions into plan errors."""

    def __init__(self, source: str) -> None:
        self._lines = Lines(source)

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        return self._lines.place(offset)

    def error(self, offset: int, error: BaseException) -> PlanError:
        """Return the plan error for an exception that an operation at this offset raised."""
        if isinstance(error, PlanFailed | PlanLimitError | PlanAborted):
            return error
        line, column = self.line_column(offset)
        if isinstance(error, LimitHitError):
            return PlanLimitError(error.limit, line, column, error.value, error.allowed)
        if isinstance(error, MemoryError):
            return PlanLimitError("memory_bytes", line, column, 0, 0)
        if isinstance(error, RecursionError):
            return PlanLimitError("host_frames", line, column, 0, 0)
        return self.failed(offset, type(error).__name__, _detail(error))

    def failed(self, offset: int, kind: str, detail: str) -> PlanFailed:
        """Return the failure of this kind at this offset."""
        line, column = self.line_column(offset)
        return PlanFailed(line, column, kind, detail)


def _detail(error: BaseException) -> str:
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        return error.args[0][:_DETAIL_LENGTH]
    try:  # a host's exception may have a broken __str__
        text = str(error)
    except Exception as inner:
        text = f"its message cannot be read ({type(inner).__name__})"
    return text[:_DETAIL_LENGTH]
