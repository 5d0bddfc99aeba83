"""Lines with their ends, where Python ends them: at LF, CR LF or a lone CR and nowhere else."""

from __future__ import annotations

import re

__all__ = ["lines_with_ends"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_with_ends(text: str) -> list[str]:
    """The lines of a text; joined, they are the text."""
    return _LINE.findall(text)
