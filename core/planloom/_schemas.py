"""Whether a schema that a plan brings can judge answers, asked before any answer is paid for.

A schema that JSON Schema itself has nothing against can still fail when it judges: it may refer to what is not in it,
or to itself and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from .questions import canonical_json

__all__ = ["check_schema"]

_REFERENCES = ("$ref", "$dynamicRef")
# Below these stand values, not schemas.
_VALUES = frozenset({"const", "default", "enum", "examples"})
_SAMPLES: tuple[Any, ...] = (None, "", 0, [], {})


def check_schema(schema: Mapping[str, Any]) -> None:
    """Return when a schema can judge any answer.

    :raises ValueError: it cannot; the text says why. :raises Misuse: it has no canonical form.
    """
    _check(canonical_json(schema))


@lru_cache(maxsize=64)  # a plan brings few, and brings each to many workers
def _check(canonical: bytes) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    schema = json.loads(canonical)
    try:
        Draft202012Validator.check_schema(schema)
        _check_references(schema)
        for sample in _SAMPLES:
            Draft202012Validator(schema).is_valid(sample)
    except SchemaError as error:
        raise ValueError(f"`schema` is not a JSON Schema: {error.message[:200]}") from error
    except RecursionError as error:
        raise ValueError("`schema` refers to itself without end; say something between two references") from error


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


def _check_references(schema: Mapping[str, Any]) -> None:
    from referencing import Registry, exceptions
    from referencing.jsonschema import DRAFT202012

    parts = list(_parts(schema))
    wanted = {part[name] for part in parts for name in _REFERENCES if isinstance(part.get(name), str)}
    if not wanted or any("$id" in part for part in parts):  # what an address means depends on where it stands
        return
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for reference in sorted(wanted):
        try:
            resolver.lookup(reference)
        except exceptions.Unresolvable as error:
            raise ValueError(
                f"`schema` refers to `{reference}`, which is not in it; write what it stands for in its place"
            ) from error
