"""The language in brief, for the prompt of a lead: short enough to be read with every job."""

from __future__ import annotations

from inspect import Parameter

from ._names import BUILTINS
from ._near import listed
from ._vocabulary import Vocabulary, Word

__all__ = ["brief"]

_LARGEST = 4_800
"""Characters: 1,200 tokens of four."""

_HEAD = """A plan is a short Python program (at most 80 lines of code) that only calls words and builtins. Words that
wait are simply called. It ends by assigning `result`."""

_LOG, _NO_LOG = "print (use log)", "print"
_TAIL = """Not in the language: while (use `for r in range(N)` and break), import, try, raise, class, with, global, del,
yield, async/await, match, decorators, :=, `**` as power, bytes, attributes (write f["line"]), names with a leading
underscore, {print}, .format and % on texts (use f-strings), return outside def, recursion.
Nor next, iter, type, repr, getattr, hasattr, ord, chr, pow, frozenset; no dict.fromkeys, zfill, ljust, rjust, center,
rfind, isupper, islower, encode, popitem. Methods are called at once: `key=lambda k: d.get(k)`, never `key=d.get`.
Rules: keys of sorted and functions of map and filter cannot wait for workers. A failed worker gives None. In
loops and comprehensions bind variables: `lambda s=s: ...`. Tasks return values and never change outer lists.
Integers up to 1,000,000."""


def brief(vocabulary: Vocabulary) -> str:
    """Return words with signatures and one line each, then what the language lacks; at most 4,800 characters."""
    tail = _TAIL.replace("{print}", _LOG if "log" in vocabulary else _NO_LOG)
    fixed = [_HEAD, "Words:", "", f"Builtins: {' '.join(sorted(BUILTINS))}.", tail]
    room = _LARGEST - sum(len(part) + 1 for part in fixed)
    fixed[2] = _within(vocabulary, room)
    return "\n".join(fixed) + "\n"


def _within(vocabulary: Vocabulary, room: int) -> str:
    """Return one line a word and value; where all do not fit, descriptions are cut, then left out."""
    words = list(vocabulary.words.values())
    shared = _shared(words)
    text = ""
    for most in (400, 160, 100, 60, 30, 0):
        lines = [_word(word, most, shared) for word in words]
        lines += [_line(value.name, value.doc, most) for value in vocabulary.values.values()]
        lines += [f"`{parameter}` is one of: {names}." for parameter, names in shared]
        text = "\n".join(lines)
        if len(text) <= room:
            return text
    return text[: max(room, 0)].rpartition("\n")[0]


def _choices(word: Word) -> list[tuple[str, str]]:
    return [(parameter, listed(sorted(names))) for parameter, names in word.choices.items() if names]


def _shared(words: list[Word]) -> list[tuple[str, str]]:
    """Return the choices that several words offer, so that they are listed once."""
    every = [choice for word in words for choice in _choices(word)]
    return [choice for choice in dict.fromkeys(every) if every.count(choice) > 1]


def _word(word: Word, most: int, shared: list[tuple[str, str]]) -> str:
    own = [f"{parameter}: {names}" for parameter, names in _choices(word) if (parameter, names) not in shared]
    listing = f" ({'; '.join(own)})" if own and most else ""
    return _line(f"{word.name}({', '.join(_parameters(word))})", word.doc, most) + listing


def _parameters(word: Word) -> list[str]:
    shown: list[str] = []
    for parameter in word.signature.parameters.values():
        mark = "*" if parameter.kind is Parameter.VAR_POSITIONAL else ""
        mark = "**" if parameter.kind is Parameter.VAR_KEYWORD else mark
        default = "" if parameter.default is Parameter.empty else f"={parameter.default!r}"
        shown.append(f"{mark}{parameter.name}{default}")
    return shown


def _line(head: str, doc: str, most: int) -> str:
    if not most:
        return f"- {head}"
    short = doc if len(doc) <= most else f"{doc[: most - 3].rstrip()}..."
    return f"- {head}: {short}"
