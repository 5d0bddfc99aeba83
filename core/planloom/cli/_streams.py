"""Standard streams that may be closed, full, unread, or of an encoding that lacks a character."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

__all__ = ["Leaky", "mend_streams", "silence", "unwritable"]

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def mend_streams() -> None:
    """Open what the caller closed, and let no character stop a message.

    A file opened later must not get the number of a closed standard stream: child processes would write into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def silence(stream: TextIO) -> None:
    """Send the stream to nowhere: what it still holds would fail again when the interpreter ends."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def unwritable(error: OSError) -> bool:
    """Return whether a stream refused to be written, as a full disk does; a file would have been named."""
    return error.filename is None and error.errno in _UNWRITABLE


class Leaky(io.TextIOBase):
    """A stream that writes to another until that fails with one of some errors, then to nowhere."""

    def __init__(self, stream: TextIO, forgiven: type[OSError]) -> None:
        self._stream = stream
        self._forgiven = forgiven

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except self._forgiven:
            silence(self._stream)
            return len(text)

    def flush(self) -> None:
        if self._stream.closed:  # by its owner, before this goes too and is flushed for the last time
            return
        try:
            self._stream.flush()
        except self._forgiven:
            silence(self._stream)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # nobody sets it
        return self._stream.encoding
