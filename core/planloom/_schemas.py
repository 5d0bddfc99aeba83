"""Whether a schema that a plan brings can judge answers, asked before any answer is paid for.

A schema that JSON Schema itself has nothing against can still fail when it judges: it may refer to what is not in it,
or to itself and nothing else. And a pattern such as ``^(a+)+$`` takes years to refuse a text of forty letters, during
which nothing else runs and no signal is heard; it is found by trying ever longer texts.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ._errors import PlanloomError
from ._plain_schemas import TYPES, is_plainly_right
from ._plain_values import refuse_formless
from ._plan_mistakes import PlanMistake
from .questions import canonical_json

if TYPE_CHECKING:  # it is slow to load, and most plans bring no schema
    from jsonschema import SchemaError

__all__ = ["check_schema", "judge_schema"]

_REFERENCES = ("$ref", "$dynamicRef")
# Below these stand values, not schemas.
_VALUES = frozenset({"const", "default", "enum", "examples"})
# What runs of letters a pattern may mean by a class.
_LETTERS = "a0 -._/"
_LONGEST_TRIED = 26
_SLOW_S = 0.02
_SAMPLES: tuple[Any, ...] = (None, "", 0, [], {})
_IN_ITS_PLACE = "write what it stands for in its place"
_MEND = "mend it there, or leave `schema` out: the answer is a text then"


class _Refused(PlanMistake):
    """Why a schema cannot judge answers: what is wrong, what to do, if there is something to say, and where."""

    def __init__(self, message: str, hint: str = "", path: Sequence[object] = ()) -> None:
        self.message, self.hint, self.path = message, hint, path
        super().__init__(f"{message}; {hint}" if hint else message)


def check_schema(schema: Mapping[str, Any]) -> None:
    """Return when a schema can judge any answer.

    :raises ValueError: it cannot; the text says why. :raises Misuse: it has no canonical form.
    """
    refuse_formless("`schema`", schema)
    try:
        _check(canonical_json(schema))
    except _Refused as refused:
        raise ValueError(str(refused)) from refused


def judge_schema(schema: Any) -> tuple[str, str, Sequence[object]] | None:
    """Say of a schema that stands in a plan what :func:`check_schema` would raise, what to do, and at which keys."""
    if schema is None or is_plainly_right(schema):
        return None
    try:
        check_schema(schema)
    except (ValueError, PlanloomError) as error:
        cause = error.__cause__
        if isinstance(cause, _Refused):
            return cause.message, f"{cause.hint or _MEND}.", cause.path
        return str(error), f"{_MEND}.", ()
    return None


@lru_cache(maxsize=64)  # a plan brings few, and brings each to many workers
def _check(canonical: bytes) -> None:
    from jsonschema import Draft202012Validator, SchemaError
    from referencing.exceptions import Unresolvable

    schema = json.loads(canonical)
    try:
        Draft202012Validator.check_schema(schema)
        parts = list(_parts(schema))
        for pattern in {pattern for part in parts for pattern in _patterns(part)}:
            _check_pattern(pattern)
        _check_references(schema, parts)
        for sample in _SAMPLES:
            Draft202012Validator(schema).is_valid(sample)
    except SchemaError as error:
        place = ".".join(map(str, error.absolute_path)) or "top level"
        message, hint = _fault(error)
        raise _Refused(f"`schema` is not a JSON Schema: {place}: {message}", hint, [*error.absolute_path]) from error
    except RecursionError as error:
        raise _Refused("`schema` refers to itself without end", "say something between two references") from error
    except Unresolvable as error:
        raise _Refused(f"`schema` refers to what is not in it: {str(error)[:200]}", _IN_ITS_PLACE) from error
    except re.error as error:
        message = f"the pattern {error.pattern!r} in `schema` is none that Python reads: {error.msg}"
        raise _Refused(message, "write it as Python's `re` takes it") from error


def _fault(error: SchemaError) -> tuple[str, str]:
    """Return what is wrong with a place in a schema, and what to write; of a type JSON Schema says only it is none."""
    if error.validator == "anyOf" and error.absolute_path and error.absolute_path[-1] == "type":
        return f"{repr(error.instance)[:100]} is no type", f"write one of {', '.join(TYPES)}, or a list of some"
    return error.message[:200], ""


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a schema that may be one itself."""
    if isinstance(schema, Mapping):
        yield schema
        for name, part in schema.items():
            if name not in _VALUES:
                yield from _parts(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            yield from _parts(part)


def _patterns(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield what may be patterns; a property may be called ``pattern`` too, and is a schema then."""
    named = part.get("patternProperties")
    texts = (part.get("pattern"), *(named if isinstance(named, Mapping) else ()))
    yield from (text for text in texts if isinstance(text, str))


def _check_pattern(pattern: str) -> None:
    judge = re.compile(pattern)
    for letter in sorted({*pattern, *_LETTERS}):
        for length in range(4, _LONGEST_TRIED):
            if _takes_long(judge, letter * length + "\0"):
                raise _Refused(
                    f"the pattern {pattern!r} in `schema` takes twice as long for each further `{letter}` of a text",
                    "let no repeated part repeat again inside itself",
                )


def _takes_long(judge: re.Pattern[str], text: str) -> bool:
    """Return whether a text is judged slowly, and not only this time."""
    for _ in range(3):
        began_s = time.perf_counter()
        judge.search(text)
        if time.perf_counter() - began_s < _SLOW_S:
            return False
    return True


def _check_references(schema: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> None:
    from referencing import Registry, exceptions
    from referencing.jsonschema import DRAFT202012

    wanted = {part[name] for part in parts for name in _REFERENCES if isinstance(part.get(name), str)}
    if not wanted or any("$id" in part for part in parts):  # what an address means depends on where it stands
        return
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for reference in sorted(wanted):
        try:
            resolver.lookup(reference)
        except exceptions.Unresolvable as error:
            message = f"`schema` refers to `{reference}`, which is not in it"
            raise _Refused(message, _IN_ITS_PLACE) from error
