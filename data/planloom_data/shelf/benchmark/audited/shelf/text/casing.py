"""Names move between code, headings and addresses, and each place has its own spelling.

Everything here goes through one step: `words_of` takes a name apart, whatever its spelling, and the other
functions put the words together again.
"""

import unicodedata

SMALL_WORDS = frozenset({"a", "an", "and", "as", "at", "by", "for", "in", "of", "on", "or", "the", "to"})


def words_of(name: str) -> list[str]:
    """The words of a name in lower case, from snake, kebab, camel or spaced spelling.

    A run of capitals counts as one word; its last capital starts the next word when a small letter follows.
    """
    words: list[str] = []
    current = ""
    for position, char in enumerate(name):
        if not char.isalnum():
            words.append(current)
            current = ""
            continue
        following = name[position + 1 : position + 2]
        after_small = current[-1:].islower() or current[-1:].isdigit()
        before_small = current[-1:].isupper() and following.islower()
        if char.isupper() and (after_small or before_small):
            words.append(current)
            current = ""
        current += char
    words.append(current)
    return [word.lower() for word in words if word]


def snake(name: str) -> str:
    """The name in snake case."""
    return "_".join(words_of(name))


def camel(name: str, *, capital: bool = False) -> str:
    """The name in camel case; with `capital` its first letter is large too."""
    words = words_of(name)
    tail = [word.capitalize() for word in words[1:]]
    head = words[:1]
    if capital:
        head = [word.capitalize() for word in head]
    return "".join(head + tail)


def title(sentence: str) -> str:
    """The sentence as a heading: small words stay small unless they come first or last."""
    words = sentence.lower().split()
    last = len(words) + 1
    shown = []
    for position, word in enumerate(words):
        at_an_end = position in (0, last)
        if word in SMALL_WORDS and not at_an_end:
            shown.append(word)
        else:
            shown.append(word.capitalize())
    return " ".join(shown)


def slug(heading: str, *, limit: int = 60) -> str:
    """The heading as an address part: plain letters, digits and single hyphens, cut at a whole word.

    A first word longer than the limit is cut inside.
    """
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode()
    parts = "".join(char if char.isalnum() else " " for char in plain).split()
    kept = ""
    for part in parts:
        longer = f"{kept}-{part}" if kept else part
        if len(longer) > limit:
            break
        kept = longer
    return kept or "".join(parts[:1])[:limit]


def initials(name: str) -> str:
    """The first letters of the parts of a person's name, in capitals."""
    parts = name.replace("-", " ").split()
    return "".join(part[0].upper() for part in parts)
