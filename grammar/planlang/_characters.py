"""Which characters a source may hold, and what to say about the others."""

from __future__ import annotations

import re

from ._faults import Fault

__all__ = ["LINE_SEPARATOR", "ODD_BLANK", "clean", "stray", "stray_pair"]

# Control characters (but tab and line ends), bidirectional marks and overrides, line separators, halves of surrogate
# pairs: what makes a text read otherwise than it shows, or cannot be stored.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

_LOOK_ALIKE = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u0501\u04cf\u0432\u043a\u043c\u043d\u0442"
        "\u03b1\u03bf\u03c1\u03c5\u03bd\u03b9\u03ba\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425",
        "aeopcyxisjdlbkmhtaopuvikABEKMHOPCTX",
        strict=True,
    )
)


_LOOK_ALIKE |= {"\u00df": "ss", "\u00e6": "ae", "\u00f8": "o", "\u0142": "l", "\u0131": "i"}
LINE_SEPARATOR = "a line separator"
ODD_BLANK = "is a blank that Python does not read"


def clean(source: str, faults: list[Fault]) -> str:
    """Return ``source`` with characters that no plan may hold as blanks; each kind of them is one fault."""
    if not _FORBIDDEN.search(source):
        return source
    said: set[str] = set()
    for found in _FORBIDDEN.finditer(source):
        kind = _kind(ord(found.group()))
        if kind not in said:
            said.add(kind)
            faults.append(Fault("PL005", found.start(), found.end(), *_forbidden(found.group(), kind)))
    return _FORBIDDEN.sub(" ", source)


def _kind(point: int) -> str:
    if 0xD800 <= point <= 0xDFFF:
        return "half a character"
    if point in (0x2028, 0x2029):
        return LINE_SEPARATOR
    return "a mark that changes the direction of text" if point > 0x9F else "a control character"


def _forbidden(char: str, kind: str) -> tuple[str, str]:
    point = ord(char)
    written = f"\\x{point:02x}" if point <= 0xFF else f"\\u{point:04x}"
    advice = (
        "delete it." if 0xD800 <= point <= 0xDFFF else f"delete it; inside a text write `{written}` if it is meant."
    )
    if kind == LINE_SEPARATOR:
        advice = f"put an ordinary line end there; inside a text write `{written}` if it is meant."
    return f"U+{point:04X} is {kind}, which no plan may hold", advice


def stray(text: str) -> tuple[str, str]:
    """Return message and hint for a character, or a name, that is not part of the language."""
    if len(text) > 1 or text.isalpha():
        latin = _latin(text)
        odd = next((c for c in text if not c.isascii()), text[0])
        message = f"names are written in ASCII letters; `{text}` has U+{ord(odd):04X}"
        return message, f"write `{latin}`." if latin.isidentifier() else "write it in the letters a to z."
    if text.isspace():
        return f"U+{ord(text):04X} {ODD_BLANK}", "write ` `, an ordinary blank."
    if text == "`":
        return "a backtick is not part of Python", "delete it."
    if text == "!":
        return "`!` is not an operator", "write `not ` for it."
    if text == "?":
        return "`?` is not an operator", "use `a if test else b`."
    if text in ("\u2192", "\u21d2"):
        return f"`{text}` is not an operator", "use `lambda x: value` for a function, or a comma."
    if text == "$":
        return "names have no `$`", "delete it."
    shown = f"`{text}`" if text.isprintable() else f"U+{ord(text):04X}"
    meant = _MEANT.get(text, "") or _plain(text)
    if meant:
        return f"{shown} is not part of Python outside a text", f"write `{meant}`."
    if ord(text) in _INVISIBLE:
        return f"U+{ord(text):04X} is a character that nobody sees, and no part of Python", "delete it."
    return f"{shown} is not part of Python outside a text", "delete it, or put it in quotes."


def stray_pair(source: str, pos: int) -> tuple[str, str] | None:
    """Return message and hint for an operator of other languages that begins at ``pos``, if one does."""
    pair = source[pos : pos + 2]
    if pair == "?.":
        field = re.match(r"\w*", source[pos + 2 :])
        name = field.group() if field else ""
        return "`?.` is not Python", f'use `(x or {{}}).get("{name}")`.'
    if pair == "??":
        return "`??` is not Python", "write `or`."
    return None


_MEANT = {
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u2010": "-",
    "\u2011": "-",
    "\u00d7": "*",
    "\u00f7": "/",
    "\u00b7": "*",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u2261": "==",
    "\u2227": "and",
    "\u2228": "or",
    "\u2208": "in",
    "\u3001": ",",
    "\u3002": ".",
    "\u3010": "[",
    "\u3011": "]",
    "\u3000": " ",
}
_INVISIBLE = frozenset((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD, 0x180E))


def _plain(text: str) -> str:
    """Return the ASCII character that a wide one stands for, or nothing."""
    import unicodedata  # only for characters that are refused

    plain = unicodedata.normalize("NFKC", text)
    return plain if len(plain) == 1 and plain.isascii() and plain.isprintable() and plain not in "`\\" else ""


def _latin(text: str) -> str:
    import unicodedata  # only for names that are refused

    plain = unicodedata.normalize("NFKD", text)
    return "".join(
        _LOOK_ALIKE.get(c, c) for c in plain if not unicodedata.combining(c) and (c.isascii() or c in _LOOK_ALIKE)
    )
