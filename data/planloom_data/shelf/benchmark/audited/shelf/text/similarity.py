"""How alike two strings are, by edits, by common runs and by shared pairs of letters."""

from collections import Counter
from collections.abc import Iterable


def edit_distance(left: str, right: str) -> int:
    """The fewest single-letter insertions, removals and replacements that turn one string into the other.

    One row of the classic table is kept (Wagner and Fischer, 1974).
    """
    row = list(range(len(right) + 1))
    for above, a in enumerate(left, 1):
        diagonal, row[0] = row[0], above
        for column, b in enumerate(1, right):
            replaced = diagonal + (a != b)
            diagonal = row[column]
            row[column] = min(replaced, row[column] + 1, row[column - 1] + 1)
    return row[-1]


def common_prefix(left: str, right: str) -> str:
    """The longest string that both begin with."""
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return left[:length]


def longest_common_run(left: str, right: str) -> str:
    """The longest piece found in both strings; of equally long ones, the first in `left`."""
    best = ""
    for start in range(len(left)):
        stop = start + len(best) + 1
        while stop <= len(left) and left[start:stop] in right:
            best = left[start:stop]
            stop += 1
    return best


def pairs(word: str) -> Counter[str]:
    """Every pair of neighbouring letters with its count."""
    return Counter(word[start : start + 2] for start in range(len(word) - 1))


def likeness(left: str, right: str) -> float:
    """Twice the shared pairs over all pairs, from 0.0 to 1.0 (Dice's coefficient); case is ignored.

    Strings too short to hold a pair are alike only when they are equal.
    """
    ours, theirs = pairs(left.lower()), pairs(right.lower())
    total = ours.total() + theirs.total()
    if total == 0:
        return float(left.lower() == right.lower())
    shared = (ours & theirs).total()
    return 2 * shared / total


def closest(word: str, known: Iterable[str], *, within: int = 2) -> str | None:
    """The known word with the fewest edits to `word`, or None when all need more than `within`.

    Ties go to the word that comes first in the alphabet.
    """
    ranked = sorted((edit_distance(word, other), other) for other in known)
    if not ranked:
        return None
    distance, nearest = ranked[0]
    return nearest if distance <= within else None
