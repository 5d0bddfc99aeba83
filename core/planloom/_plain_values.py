"""A plan's values as JSON and as text: what has a form is written, and what has none is refused in the plan's words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from planlang import Opaque

__all__ = ["as_json", "as_text", "refuse_formless"]


def as_json(value: Any) -> str:
    """Return a value as JSON; a set is a list in the order of its items' texts.

    :raises ValueError: something in it has no form in JSON.
    """
    plain = _plain(value)
    refuse_formless("the value", plain)
    return json.dumps(plain, ensure_ascii=False)


def refuse_formless(name: str, value: Any) -> None:
    """Return when JSON has a form for a value.

    :raises ValueError: for a part of it there is none; the text names the part.
    """
    what = _formless(value)
    if what:
        raise ValueError(f"{name} holds {what}, for which JSON has no form; give it as text, or take it out")


def as_text(value: Any) -> str:
    """Return a value as the plan would write it: no name of our own classes, and a set in its own order."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_written(key)}: {_written(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{_row(value)}]"
    if isinstance(value, tuple):
        return f"({_row(value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, set | frozenset):
        return f"{{{_row(value)}}}" if value else "set()"
    if value is None or isinstance(value, str | int | float | range):
        return str(value)
    return "<value>" if isinstance(value, Opaque) else f"<function {getattr(value, 'name', '')}>"


def _row(items: Iterable[Any]) -> str:
    return ", ".join(map(_written, items))


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, str) else as_text(value)


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=repr)
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _formless(value: Any) -> str:
    """Return what in a value has no form, or nothing."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                return f"the key {as_text(key)[:40]}, which is no text"
        return next(filter(None, map(_formless, value.values())), "")
    if isinstance(value, list | tuple):
        return next(filter(None, map(_formless, value)), "")
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"the number {value}"
    if value is None or isinstance(value, str | int):
        return ""
    if isinstance(value, set | frozenset):
        return "a set"
    return "a value of a kit" if isinstance(value, Opaque) else "a function"
