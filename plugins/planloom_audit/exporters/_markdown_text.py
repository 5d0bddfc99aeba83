"""Foreign text as Markdown that keeps its shape.

Blocks of Markdown begin at the start of a line and inline marks are punctuation, so foreign text is put on one line and
its punctuation escaped; code goes between more backticks than it holds. Angle brackets and ampersands become entities,
which every renderer knows; backslashes before them are not known to all.
"""

from __future__ import annotations

import re

from ._foreign import one_line, prose

__all__ = ["code_or_prose", "code_span", "fenced", "inline", "paragraph"]

_PUNCTUATION = re.compile(r"[\\`*_\[\]{}#|~$^]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BLOCK_START = re.compile(r"^(\d*)([-+=:.)])")


def inline(text: str) -> str:
    """The text on one line, without any mark that Markdown would read; also fit for headings and table cells."""
    flat = re.sub(r"[&<>]", lambda match: _ENTITIES[match.group()], one_line(text))
    return _PUNCTUATION.sub(r"\\\g<0>", flat)


def paragraph(text: str) -> str:
    """The text on one line that may stand at the start of one; what it sets between backticks becomes code."""
    pieces = (code_span(piece) if is_code else _inline_part(piece) for is_code, piece in prose(one_line(text)))
    return _BLOCK_START.sub(r"\1\\\2", "".join(pieces))


def code_or_prose(text: str) -> str:
    """The text as code, unless it sets code apart itself and so must be a sentence."""
    flat = one_line(text)
    return paragraph(flat) if len(prose(flat)) > 1 else code_span(flat)


def _inline_part(text: str) -> str:
    """As :func:`inline`, with the blanks at both ends kept."""
    stripped = text.strip()
    if not stripped:
        return text
    start, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{start}{inline(stripped)}{end}"


def code_span(text: str) -> str:
    """The text on one line between backticks, or a dash where there is none."""
    flat = one_line(text)
    if not flat:
        return "–"
    ticks = "`" * (_longest_run(flat) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fenced(lines: list[str]) -> list[str]:
    """The lines between fences that none of them can close."""
    fence = "`" * max(3, *(_longest_run(line) + 1 for line in lines))
    return [f"{fence}text", *lines, fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
