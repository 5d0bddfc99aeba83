"""Which line is line N.

Python's tokenizer ends a line at LF, CR LF or a lone CR and nowhere else. ``str.splitlines`` also breaks at
form feeds, NEL and the Unicode separators, so two tools that use different splitters disagree on every line
after the first of these. All of planloom numbers lines with the one function here.
"""

from __future__ import annotations


def split_lines(text: str) -> list[str]:
    """The lines of ``text`` without their ends, as Python numbers them; no empty line after a final end."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def count_lines(text: str) -> int:
    """``len(split_lines(text))`` without building the lines."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + bool(text and text[-1] not in "\r\n")
