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
    for part in flat:
        if isinstance(part, n.Field):
            _check_nested(b, part)
        else:
            _check_width(b, part, start, end)
    return n.FString(start, end, flat)


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
