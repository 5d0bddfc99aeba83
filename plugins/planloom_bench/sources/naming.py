"""What a benchmark is called: by the library's name, in letters that ids, files and tables bear."""

from __future__ import annotations

import re

__all__ = ["name_of"]

_ELSE = re.compile(r"[^A-Za-z0-9._]+")


def name_of(text: str) -> str:
    """The text in letters, digits, ``.``, ``_`` and ``-``; ``library`` where nothing is left of it."""
    return _ELSE.sub("-", text).strip("-.") or "library"
