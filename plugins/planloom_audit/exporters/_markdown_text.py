"""Foreign text as Markdown that keeps its shape.

Blocks of Markdown begin at the start of a line and inline marks are punctuation, so foreign text is put on one line and
its punctuation escaped; code goes between more backticks than it holds. Angle brackets and ampersands become entities,
which every renderer knows; backslashes before them are not known to all.
"""

from __future__ import annotations

import re

from ._foreign import one_line

__all__ = ["code_span", "fenced", "inline"]

_PUNCTUATION = re.compile(r"[\\`*_\[\]{}#|~$^]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BLOCK_START = re.compile(r"^(?:[-+=:]|\d+(?=[.)]))")
_LINK_START = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_NO_LINK = "<!-- -->"


def inline(text: str) -> str:
    """The text on one line, without any mark that Markdown would read; also fit for headings and table cells."""
    flat = re.sub(r"[&<>]", lambda match: _ENTITIES[match.group()], one_line(text))
    escaped = _PUNCTUATION.sub(r"\\\g<0>", flat)
    return _LINK_START.sub(_NO_LINK, _BLOCK_START.sub(_harmless_start, escaped))


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


def _harmless_start(match: re.Match[str]) -> str:
    start = match.group()
    return f"\\{start}" if not start.isdecimal() else f"&#{ord(start[0])};{start[1:]}"
