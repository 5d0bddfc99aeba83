"""Tells sentences from code, so that a plan wrapped in explanations is told so."""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["looks_like_prose"]

# Not compiled here: most plans hold no line that is asked about.
_BULLET = r"\s*(?:[-*>\u2022]\s+|\d+[.)]\s+|#+\s+|\*\*)?"
_CODE = r"[=\[\]{}]|\w\("
_WORD = r"[A-Za-z][A-Za-z'\u2019-]*"
_JOINERS = frozenset(("in", "is", "not", "and", "or", "if", "else", "for", "lambda", "as", "from", "import", "return"))


def looks_like_prose(line: str) -> bool:
    """Say whether a line that is no code reads like a sentence: a capital, three words, two of them side by side."""
    text = line[re.match(_BULLET, line).end() :].rstrip()  # type: ignore[union-attr]  # the pattern matches everywhere
    if not text[:1].isalpha() or not text[0].isupper() or re.search(_CODE, text):
        return False
    words = text.split()
    if len(words) < 3:
        return text.endswith((":", "!")) and all(re.fullmatch(_WORD, w.strip(":!,.")) for w in words)
    plain = [bool(re.fullmatch(_WORD, w.strip(",.:;!?()`\"'*"))) and w.lower() not in _JOINERS for w in words]
    return any(a and b for a, b in pairwise(plain))
