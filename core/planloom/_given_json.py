"""A value as a person writes it after ``NAME=``: JSON, or a text that nobody takes for JSON.

What begins as a list, an object or a text in quotes was meant as one. Where a bracket or a quote is missing it is told
so: taken as text, a list would be gone through character by character, and each of them paid for.
"""

from __future__ import annotations

import ast
import json
import shlex
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ._errors import Misuse
from .visible import visible

__all__ = ["json_or_text"]

_BEGINNINGS = ("[", "{", '"')
_ENDINGS = ("]", "}", '"', '"]', '"}')
_LONGEST_MENDED = 2_000
_LONGEST_SHOWN = 200
_EXAMPLE = 'JSON, where texts and keys stand in double quotes, such as ["a", "b"]'
_PLACE_SHOWN = 20

Pairs = Callable[[list[tuple[str, Any]]], dict[str, Any]]


def json_or_text(name: str, text: str, pairs: Pairs) -> Any:
    """Return what a value stands for.

    :param name: of the argument. :param pairs: makes an object of its items.
    :raises Misuse: it begins as JSON and is none, with where it breaks and what to write.
    """
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        if not text.lstrip().startswith(_BEGINNINGS):
            return text
        raise Misuse(
            f"the argument `{visible(name)}` begins as JSON and is none: {_broken(text, error)}; {_advice(name, text)}"
        ) from error


def _broken(text: str, error: Exception) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    there = text[error.pos : error.pos + _PLACE_SHOWN]
    where = f"`{visible(there)}`" if there else "its end"
    what = error.msg.removesuffix(" at")
    return f"{what[:1].lower()}{what[1:]} at character {error.pos + 1}, which is {where}"


def _advice(name: str, text: str) -> str:
    meant = next(_mended(text), None) if len(text) <= _LONGEST_MENDED else None
    as_text = _option(name, text)
    wrote = _option(name, meant) if meant is not None else ""
    if len(as_text) > _LONGEST_SHOWN:
        return f"write {_EXAMPLE}"
    return f"{f'write {wrote}' if wrote else 'mend it'}, or {as_text} where a text is meant"


def _option(name: str, value: Any) -> str:
    return visible(f"--arg {shlex.quote(f'{name}={json.dumps(value, ensure_ascii=False)}')}")


def _mended(text: str) -> Iterator[Any]:
    """Yield what the text would stand for in Python's quotes, or with what may be missing at its end."""
    for ending in ("", *_ENDINGS):
        for read in (json.loads, _from_python):
            try:
                value = read(text.strip() + ending)
                json.dumps(value)
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
            yield value


def _from_python(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an escape that Python does not know
        return ast.literal_eval(text)
