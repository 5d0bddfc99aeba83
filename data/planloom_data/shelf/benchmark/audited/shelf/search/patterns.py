"""Finding pieces of text: all places of a needle, simple wildcards, and words in sentences."""

from collections.abc import Iterator


def places_of(needle: str, text: str, *, overlapping: bool = True) -> list[int]:
    """Every place where the needle starts in the text; an empty needle is nowhere."""
    if not needle:
        return []
    places = []
    step = 1 if overlapping else len(needle)
    place = text.find(needle)
    while place != -1:
        places.append(place)
        place = text.find(needle, place + step)
    return places


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text fits a pattern in which `?` is any one letter and `*` any run of letters.

    On a mismatch the last star takes one letter more, so the work grows with the product of the lengths.
    """
    place = spot = 0
    star, taken = -1, 0
    while spot < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, taken = place, spot
            place += 1
        elif place < len(pattern) and pattern[place] in ("?", text[spot]):
            place += 1
            spot += 1
        elif star != -1:
            taken += 1
            place, spot = star + 1, taken
        else:
            return False
    return all(letter == "*" for letter in pattern[place:])


def words(text: str) -> Iterator[tuple[int, str]]:
    """Each word with the place where it starts; a word is a run of letters, digits and apostrophes."""
    start = None
    for place, letter in enumerate(text):
        inside = letter.isalnum() or letter == "'"
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            yield start, text[start:place]
            start = None
    if start is not None:
        yield start, text[start:]


def excerpt(text: str, needle: str, *, around: int = 10) -> str | None:
    """The first place of the needle with some text on both sides, or None; cuts are marked by dots."""
    place = text.find(needle)
    if place == -1:
        return None
    first = max(place - around, 0)
    last = min(place + len(needle) - around, len(text))
    before = "..." if first > 0 else ""
    after = "..." if last < len(text) else ""
    return before + text[first:last] + after


def line_and_column(text: str, place: int) -> tuple[int, int]:
    """Where a place lies, as line and column, both from 1."""
    before = text[:place]
    line = before.count("\n") + 1
    column = place - (before.rfind("\n") + 1) + 1
    return line, column


def is_balanced(text: str, brackets: str = "()[]{}") -> bool:
    """Whether every opening bracket is closed by its own kind, in the right order."""
    partner = dict(zip(brackets[1::2], brackets[::2], strict=True))
    opened: list[str] = []
    for letter in text:
        if letter in partner.values():
            opened.append(letter)
        elif letter in partner and (not opened or opened.pop() != partner[letter]):
            return False
    return not opened
