"""Tells sentences from code, so that a plan wrapped in explanations is told so."""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["looks_like_prose"]

_BULLET = re.compile(r"\s*(?:[-*>\u2022]\s+|\d+[.)]\s+|#+\s+|\*\*)?")
_CODE = re.compile(r"[=\[\]{}]|\w\(")
_WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*")
_JOINERS = frozenset(("in", "is", "not", "and", "or", "if", "else", "for", "lambda", "as", "from", "import", "return"))


def looks_like_prose(line: str) -> bool:
    """Say whether a line that is no code reads like a sentence: a capital, three words, two of them side by side."""
    text = line[_BULLET.match(line).end() :].rstrip()  # type: ignore[union-attr]  # the pattern matches everywhere
    if not text[:1].isalpha() or not text[0].isupper() or _CODE.search(text):
        return False
    words = text.split()
    if len(words) < 3:
        return text.endswith((":", "!")) and all(_WORD.fullmatch(w.strip(":!,.")) for w in words)
    plain = [bool(_WORD.fullmatch(w.strip(",.:;!?()`\"'*"))) and w.lower() not in _JOINERS for w in words]
    return any(a and b for a, b in pairwise(plain))
