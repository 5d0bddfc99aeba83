"""What an example looks like in running text: a prompt, then everything up to the next blank line.

A prompt begins a line, or follows a colon, a quote, an opening bracket or the mark of a comment; ``x >>> y`` in prose
is somebody's shift operator. IPython's transcripts and Sphinx's blocks of tests prove nothing here, for doctest reads
neither, but they hold the same answers, so they are examples too. A block goes as far as it is indented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["OF_IPYTHON", "OF_SPHINX", "is_prompt", "may_hold_prompts", "without_examples"]

OF_IPYTHON = r"(?:In|Out) ?\[\d+\]:"
OF_SPHINX = r"\.\. (?:testcode|testoutput|ipython)::"
_PROMPT = re.compile(rf"(?:^|[:`'\"(#])\s*(?:>>>(?![>=])|{OF_IPYTHON}|{OF_SPHINX})")
_BLOCK = re.compile(rf"(?P<indentation>\s*){OF_SPHINX}")
_MAY_HOLD = re.compile(rf">>>|{OF_IPYTHON}|{OF_SPHINX}")


def may_hold_prompts(text: str) -> bool:
    """Whether a prompt may stand somewhere in a text; quick, and without looking where."""
    return _MAY_HOLD.search(text) is not None


def is_prompt(line: str) -> bool:
    """Whether an example begins in the line."""
    return may_hold_prompts(line) and _PROMPT.search(line) is not None


def without_examples(lines: Iterable[str]) -> Iterator[str]:
    """The lines that belong to no example; of several blank lines in a row, the first."""
    in_example = after_blank = False
    # How far the block is indented that the line stands in; nothing is indented less than 0.
    block = -1
    for line in lines:
        blank = not line.strip()
        if not blank and _indentation(line) <= block:
            block = -1
        begins = _BLOCK.match(line)
        if begins:
            block = len(begins["indentation"])
        in_example = is_prompt(line) or (in_example and not blank)
        if in_example or (block >= 0 and not blank) or (blank and after_blank):
            continue
        after_blank = blank
        yield line


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
