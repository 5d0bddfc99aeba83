"""Tells most schemas that are right from all others, without jsonschema, which takes longer to import than a check.

Only what plans usually write is known here: types, properties, items, bounds, choices and descriptions. Whatever else
stands in a schema, or stands where it should not, is left to jsonschema itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["TYPES", "is_plainly_right"]

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_FAR = 2**53  # beyond it numbers have no one form in JSON


def is_plainly_right(schema: Any) -> bool:
    """Return whether plain data is a schema that JSON Schema has nothing against, for certain; false says nothing."""
    return isinstance(schema, dict) and all(
        isinstance(name, str) and name in _KEYWORDS and _KEYWORDS[name](value) for name, value in schema.items()
    )


def _is_part(value: Any) -> bool:
    return isinstance(value, bool) or is_plainly_right(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return _are_texts(value) and bool(value) and all(name in TYPES for name in value)


def _are_texts(value: Any) -> bool:
    """Return whether a value is a list of different texts."""
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _are_parts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_part, value))


def _are_named_parts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_text(name) and _is_part(part) for name, part in value.items())


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < _FAR


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _FAR


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_data(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_data, value))
    if isinstance(value, dict):
        return all(_is_text(key) and _is_data(item) for key, item in value.items())
    return value is None or isinstance(value, bool) or _is_text(value) or _is_number(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and _is_data(value)


_KEYWORDS: Mapping[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "properties": _are_named_parts,
    "required": _are_texts,
    "items": _is_part,
    "additionalProperties": _is_part,
    "anyOf": _are_parts,
    "oneOf": _are_parts,
    "allOf": _are_parts,
    "enum": _is_list,
    "examples": _is_list,
    "const": _is_data,
    "default": _is_data,
    "title": _is_text,
    "description": _is_text,
    "minimum": _is_number,
    "maximum": _is_number,
    "minLength": _is_count,
    "maxLength": _is_count,
    "minItems": _is_count,
    "maxItems": _is_count,
    "uniqueItems": _is_flag,
}
