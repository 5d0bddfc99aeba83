"""What a command says when the disk refuses it: a full one, one that may not be written, a file where a folder goes."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._errors import BenchError

__all__ = ["writing"]

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Tell what the system refuses while a folder is written.

    :raises BenchError: it refused something; the message names the place and what to do.
    """
    try:
        yield
    except OSError as error:
        # What ails the terminal or the whole process is none of the folder's.
        if isinstance(error, BrokenPipeError) or error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        full = error.errno in _FULL
        remedy = "make room there, and start the same command again" if full else "give another folder with --out"
        reason = error.strerror or type(error).__name__
        raise BenchError(f"{error.filename or out} cannot be used ({reason}); {remedy}") from error
