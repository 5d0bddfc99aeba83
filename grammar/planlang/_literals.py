"""The values of literals: escapes in texts, digits in numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

from ._token import KEYWORDS

__all__ = ["Complain", "grouped", "number", "unescape"]

Complain = Callable[[str, int, int, str, str], None]
"""Called with code, start, end, message and hint."""

# Not compiled here: few plans hold escapes or numbers of these kinds.
_ESCAPE = (
    r"(?s)\\(?:(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{0,2})|u(?P<u>[0-9a-fA-F]{0,4})|U(?P<U>[0-9a-fA-F]{0,8})"
    r"|N(?P<N>\{[^}\n]*\}?)?|(?P<newline>\r\n|\r|\n)|(?P<other>.))"
)
_GROUPS = r"[1-9]\d{0,2}(?:,\d{3})+"
_SIMPLE = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_DIGITS = {"x": 2, "u": 4, "U": 8}


def unescape(text: str, offset: int, complain: Complain) -> str:
    """Return what ``text``, the inside of a literal that starts at ``offset``, stands for.

    An escape that Python does not know keeps its backslash, as in Python.
    """
    if "\\" not in text:
        return text
    return re.sub(_ESCAPE, lambda match: _escape(match, offset, complain), text)


def _escape(match: re.Match[str], offset: int, complain: Complain) -> str:
    kind, found = match.lastgroup, match.group()
    start, end = offset + match.start(), offset + match.end()
    if kind == "octal":
        return chr(int(found[1:], 8))
    if kind == "newline":
        return ""
    if kind == "other":
        return _SIMPLE.get(found[1], found)
    if kind in _DIGITS:
        return _by_digits(found, kind, start, end, complain)
    return _by_name(found, start, end, complain)


def _by_digits(found: str, kind: str, start: int, end: int, complain: Complain) -> str:
    digits, need = found[2:], _DIGITS[kind]
    if len(digits) < need:
        message = f"the escape `{found}` needs {need} hexadecimal digits"
        backslash = f"`\\{found}` for a backslash"
        hint = f"write `\\{kind}{digits.rjust(need, '0')}`, or {backslash}." if digits else f"write {backslash}."
        complain("PL017", start, end, message, hint)
        return ""
    point = int(digits, 16)
    if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        message = f"`{found}` is not a character"
        complain("PL017", start, end, message, "write the character itself, or `\\U0001F600` with its whole number.")
        return ""
    return chr(point)


def _by_name(found: str, start: int, end: int, complain: Complain) -> str:
    import unicodedata  # a megabyte that nearly no plan needs

    try:
        return unicodedata.lookup(found[3:-1] if found.endswith("}") else "")
    except KeyError:
        complain("PL017", start, end, f"`{found}` names no character", "write the character itself.")
        return ""


_INTEGER = re.compile(r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?0)*|[1-9](?:_?\d)*", re.ASCII)
_FLOAT = r"(?a)(?:\d(?:_?\d)*\.(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?|\d(?:_?\d)*[eE][+-]?\d(?:_?\d)*"
_COMPLEX = r"(?a)[\d_.]+(?:[eE][+-]?\d+)?[jJ]"
_THOUSANDS = {"k": "000", "m": "000_000"}
_LONGEST = 40
"""Digits; longer literals are far above any bound, and turning them into numbers costs."""


def number(text: str, start: int, largest: int, complain: Complain) -> int | float:
    """Return the number that ``text`` writes; what is not one, or is too large, is complained about and counts as 0."""
    end = start + len(text)
    if _INTEGER.fullmatch(text):
        return _integer(text, start, end, largest, complain)
    if re.fullmatch(_FLOAT, text):
        value = float(text)
        if value != float("inf"):
            return value
        complain("PL027", start, end, f"`{_short(text)}` is infinite as a float", "write a number below 1e308.")
    elif re.fullmatch(_COMPLEX, text):
        complain("PL051", start, end, f"the complex number `{text}` is not part of the plan language", "use a float.")
    else:
        complain("PL018", start, end, f"`{_short(text)}` is not a number", _number_hint(text))
    return 0


def _integer(text: str, start: int, end: int, largest: int, complain: Complain) -> int:
    digits = text.replace("_", "")
    value = int(digits, 0) if len(digits.lstrip("0")) <= _LONGEST else largest + 1
    if value <= largest:
        return value
    message = f"the integer `{_short(text)}` is above {largest:,}, the largest that a plan may write"
    times, rest = divmod(value, largest)
    product = f"{times} * {largest} + {rest}" if rest else f"{times} * {largest}"
    computed = f"write `{product}`, or " if 1 <= times <= largest and len(digits) <= _LONGEST else "use "
    complain("PL026", start, end, message, f"{computed}a number of at most {largest}.")
    return 0


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _number_hint(text: str) -> str:
    bare = text.lstrip("0_")
    if bare.isascii() and bare.isdigit():
        return f"write `{bare}` (or `0o{bare}` for an octal number)."
    lead = re.match(r"\d+", text)
    rest = text[lead.end() :] if lead else ""
    if lead and rest.lower() in _THOUSANDS:
        return f"write `{lead.group()}_{_THOUSANDS[rest.lower()]}`."
    if lead and rest.strip("_0123456789") == "":
        return f"write `{re.sub('_+', '_', text).strip('_')}`."
    if lead and rest in KEYWORDS:
        return f"write `{lead.group()} {rest}`, with a blank after the number."
    if lead and rest.isidentifier() and not text.startswith("0"):
        return f"write `{rest.lstrip('_')}_{lead.group()}`, since names do not begin with digits."
    return "write it in decimal digits, such as `12`, `0.5` or `1_000`."


def grouped(shown: str) -> str:
    """Return the number that ``100,000`` was meant to be, as Python writes it; nothing for other texts."""
    return shown.replace(",", "_") if re.fullmatch(_GROUPS, shown) else ""
