"""Values in the bodies that servers send: JSON as they really write it, and the few shapes that are read from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

__all__ = ["Ambiguous", "count_in", "mapping_in", "parse_json", "storable", "tells_error", "text_in"]

MOST_TOKENS = 10**9
"""No model reads or writes more at once; a server that says so has miscounted, and is not to be paid by it."""

_DIGITS = 20

LONGEST_NAME = 200


class Ambiguous(ValueError):
    """A key that is read stands twice in one object, with different values."""


def parse_json(body: bytes | str, read_keys: frozenset[str] = frozenset()) -> Any:
    """Return the JSON value of a body; NaN and infinities, which servers write in fields that nobody reads, are null.

    :param read_keys: keys that may not stand twice in one object with different values; of others the last one counts.
    :raises ValueError: it is no JSON, or :class:`Ambiguous`. :raises RecursionError: it is nested too deeply.
    """

    text = body if isinstance(body, str) else body.decode(json.detect_encoding(body), "surrogatepass")
    try:
        return _decoder(read_keys).decode(text)
    except (json.JSONDecodeError, Ambiguous):
        raise
    except ValueError:  # a number of more digits than Python reads
        return _decoder(read_keys, numbers=float).decode(text)


@lru_cache(maxsize=16)  # making one takes as long as reading a short answer with it
def _decoder(read_keys: frozenset[str], numbers: Callable[[str], float] | None = None) -> json.JSONDecoder:
    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            for key, one in pairs:
                if key in read_keys and one != value[key]:
                    raise Ambiguous(f"`{key}` stands twice in one object")
        return value

    # Not strict: line breaks and tabs within a text, which home-made servers leave as they are, have one meaning only.
    return json.JSONDecoder(
        object_pairs_hook=as_object, parse_constant=lambda _name: None, parse_int=numbers, strict=False
    )


def storable(text: str) -> str:
    """Return a text with U+FFFD for each lone surrogate: no file, terminal or database takes those."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_in(value: Any) -> str | None:
    """Return a short text that says something, such as a name, or ``None``; a long one is cut, since it is stored with
    every reply."""
    return storable(value[:LONGEST_NAME]) if isinstance(value, str) and value else None


def mapping_in(value: Any) -> Mapping[str, Any]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def tells_error(value: Any) -> bool:
    """Return whether an object that holds no answer says what went wrong, in whichever way servers do under 200."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return False
    if value.get("error") or "error" in (value.get("type"), value.get("object")) or value.get("success") is False:
        return True
    told = value.get("errors"), value.get("error_msg"), value.get("detail"), mapping_in(value.get("base_resp"))
    return any(told) or ("code" in value and any(isinstance(value.get(key), str) for key in ("message", "msg")))


def count_in(value: Any) -> int | None:
    """Return a whole number of tokens that an answer can have, or ``None``: not said.

    Some servers write it as 20.0, or as a text.
    """
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    elif isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) < _DIGITS else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None
