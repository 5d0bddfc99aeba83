"""Foreign text made fit to be shown: what hides, moves the cursor or turns the text around is named instead.

Models, servers and audited code write what people later read. An escape sequence in a claim could repaint a terminal or
set its title; a right-to-left override could make one file name look like another.
"""

from __future__ import annotations

import re

__all__ = ["visible"]

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line feed
    "\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, or turn the text around
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e0fff]"  # no characters, or only tags
)


def visible(text: str) -> str:
    """Return the text with every hidden character named, as in ``⟨U+202E⟩``; tabs and line feeds stay."""
    return _HIDDEN.sub(_named, text.replace("\r\n", "\n"))


def _named(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match.group()):04X}⟩"
