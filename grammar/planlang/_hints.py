"""Fits hints to the vocabulary: they name words of the usual host, which another host may not have.

A hint is written in clauses, each of which makes sense without the others. One that names a word which neither the
vocabulary nor the plan has is left out.
"""

from __future__ import annotations

import re

from ._vocabulary import Vocabulary

__all__ = ["for_vocabulary"]

_HOST_WORDS = frozenset(("agent", "args", "budget", "log", "parallel", "phase", "pipeline", "race", "to_json"))
_CODE = r"`[^`]*`"
_CLAUSES = r"; |, or |, and (?=stop |use )"
_NOTHING_LEFT = "leave it out, or use a word or a builtin that there is."


def for_vocabulary(hint: str, vocabulary: Vocabulary, source: str) -> str:
    """Return the hint without the clauses that name words which neither vocabulary nor plan has."""
    missing = [word for word in _named(hint) if word not in vocabulary and not re.search(rf"\b{word}\b", source)]
    if not missing:
        return hint
    kept = [clause for clause in re.split(_CLAUSES, hint.rstrip(".")) if not _named(clause).intersection(missing)]
    return f"{'; '.join(kept)}." if kept else _NOTHING_LEFT


def _named(text: str) -> frozenset[str]:
    """Return the words of the usual host that stand in the code of a text."""
    if "`" not in text:
        return frozenset()
    found = re.findall(r"(?<![.\w\"'])[a-z_]+\b(?!=)", " ".join(re.findall(_CODE, text)))
    return _HOST_WORDS & set(found)
