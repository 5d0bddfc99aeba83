"""Files that a person names: where they are, and their text.

What is named may be anything: a device without end, a folder, a home that is not there. A path with ``~`` is made whole
once, where it comes in, since who is handed it on may have another working folder.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["MOST_BYTES", "at_home", "text_of"]

MOST_BYTES = 16 * 1024 * 1024


def at_home(path: str | os.PathLike[str]) -> str:
    """Return a path with the folder that a leading ``~`` stands for; one of nobody known is a name like any other."""
    return os.path.expanduser(os.fspath(path))


def text_of(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a file, without a byte order mark.

    :raises OSError: it cannot be read. :raises ValueError: it is longer than that, or not UTF-8.
    """
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"it is longer than {most_bytes:,} bytes")
    return data.decode("utf-8-sig")
