"""What an example looks like in running text: a prompt, then everything up to the next blank line.

A prompt begins a line, or follows a colon, a quote, an opening bracket or the mark of a comment; ``x >>> y`` in prose
is somebody's shift operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["is_prompt", "without_examples"]

_PROMPT = re.compile(r"(?:^|[:`'\"(#])\s*>>>(?![>=])")


def is_prompt(line: str) -> bool:
    """Whether an example begins in the line."""
    return ">>>" in line and _PROMPT.search(line) is not None


def without_examples(lines: Iterable[str]) -> Iterator[str]:
    """The lines that belong to no example; of several blank lines in a row, the first."""
    in_example = after_blank = False
    for line in lines:
        blank = not line.strip()
        in_example = is_prompt(line) or (in_example and not blank)
        if in_example or (blank and after_blank):
            continue
        after_blank = blank
        yield line
