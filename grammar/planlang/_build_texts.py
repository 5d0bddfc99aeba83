"""Nodes of texts: neighbours are joined, f-strings become parts and fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import _nodes as n
from ._building import Building, Parts, span
from ._token import Token

__all__ = ["RULES"]

_DIGITS = re.compile(r"\d+")
_SPEC = r"(?s)(?:.?[<>=^])?[-+ ]?z?#?0?\d*[,_]?(?:\.\d+)?[bcdeEfFgGnosxX%]?"
_TEXT_BRACES = "if the braces belong to the text, as in JSON, double them: `{{` and `}}`."
_FORMAT = "give alignment, width, precision and type in this order, as in `{x:>8.2f}`; double braces of the text: `{{`."
_ODD = re.compile(r"[\"'\n\[\]]|, ")


def _string(b: Building, parts: Parts) -> Token:
    token: Token = parts[0]
    return token


def _strings(b: Building, parts: Parts) -> n.Node:
    start, end = span(parts)
    joined: list[str | n.Field] = []
    formatted = False
    for piece in parts:
        if isinstance(piece, n.FString):
            formatted = True
            joined.extend(piece.parts)
        else:
            joined.append(piece.value)
    if not formatted:
        return n.Constant(start, end, "".join(str(part) for part in joined))
    return n.FString(start, end, _merged(joined))


def _merged(parts: list[str | n.Field]) -> list[str | n.Field]:
    merged: list[str | n.Field] = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(part, str) and isinstance(last, str):
            merged[-1] = last + part
        elif part != "":
            merged.append(part)
    return merged


def _fstring(b: Building, parts: Parts) -> n.FString:
    return n.FString(*span(parts), _flat(parts[1:-1]))


def _flat(parts: Parts) -> list[str | n.Field]:
    flat: list[str | n.Field] = []
    for part in parts:
        if isinstance(part, Token):
            flat.append(str(part.value))
        else:
            flat.extend(part)
    return flat


def _ftext(b: Building, parts: Parts) -> Token:
    token: Token = parts[0]
    return token


def _field(b: Building, parts: Parts) -> list[str | n.Field]:
    opening, value, *rest = parts
    value = b.one_value(value)
    conversion, spec, shown = "", None, ""
    for part in rest:
        if isinstance(part, n.FString):
            spec = part
        elif part.type == "CONVERSION":
            conversion = str(part.value)
        elif part.type == "FEQ":
            shown = b.source[opening.end : part.end]
    if shown and spec is None and not conversion:
        conversion = "r"
    return [shown, n.Field(*span(parts), value, conversion, spec)]


def _spec(b: Building, parts: Parts) -> n.FString:
    flat = _merged(_flat(parts))
    places = [part for part in parts if isinstance(part, Token)] + [f for f in flat if isinstance(f, n.Field)]
    start = min((place.start for place in places), default=0)
    end = max((place.end for place in places), default=0)
    if _is_no_format(flat):
        # What stands inside was read as part of a format, so what is said about it means nothing.
        b.faults[:] = [fault for fault in b.faults if not (fault.code == "PL016" and start <= fault.start < end)]
        shown = b.source[start:end]
        shown = shown if len(shown) <= 20 and "\n" not in shown else f"{shown[:20].splitlines()[0]}..."
        message = f"`{shown}` behind the `:` of this f-string field is not a format"
        b.complain("PL016", start, end, message, _TEXT_BRACES if _ODD.search(b.source[start:end]) else _FORMAT)
        return n.FString(start, end, flat)
    for part in flat:
        if isinstance(part, n.Field):
            _check_nested(b, part)
        else:
            _check_width(b, part, start, end)
    return n.FString(start, end, flat)


def _is_no_format(parts: list[str | n.Field]) -> bool:
    """Say whether a format specification can be none; one with fields in it is only known when it runs."""
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return any(re.fullmatch(_SPEC, text) is None for text in texts)
    return any(_ODD.search(text) for text in texts)


def _check_nested(b: Building, field: n.Field) -> None:
    if field.spec is not None:
        message = "a field inside a format specification cannot have one of its own"
        b.complain("PL016", field.start, field.end, message, "format that value in a line before this one.")


def _check_width(b: Building, text: str, start: int, end: int) -> None:
    most = b.rules.format_width
    for digits in _DIGITS.findall(text):
        if len(digits.lstrip("0")) > len(str(most)) or int(digits) > most:
            message = f"the width or precision {digits[:12]} is above {most:,}"
            b.complain("PL028", start, end, message, f"write {most} or less.")


RULES: dict[str, Callable[[Building, Parts], Any]] = {
    "string": _string,
    "strings": _strings,
    "fstring": _fstring,
    "ftext": _ftext,
    "field": _field,
    "spec": _spec,
}
