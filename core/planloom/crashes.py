"""Tracebacks, kept in a file for who has to mend what failed: the authors of planloom or of a plugin."""

from __future__ import annotations

import tempfile
import traceback

from ._errors import PlanloomError, PluginError

__all__ = ["fault_told", "traceback_told"]


def fault_told(error: PlanloomError) -> str:
    """Return what an error says; where a plugin's own code raised it, also where its traceback is."""
    if not isinstance(error, PluginError) or error.raised is None:
        return str(error)
    return f"{error}; {traceback_told(error.raised)}"


def traceback_told(error: BaseException) -> str:
    """Write an error's traceback to a file of its own; return where it is, or all of it where no file can hold it."""
    details = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="planloom-crash-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(details)
    except OSError as unwritten:
        return f"no file can hold its traceback ({unwritten.strerror}):\n{details}"
    return f"its traceback is in {file.name}"
