"""Made-up answers that fit a JSON Schema, for rehearsing plans that bring schemas of their own."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

__all__ = ["made_up"]

_MOST_ITEMS = 3
_DEEPEST = 8


def made_up(schema: Mapping[str, Any] | bool, rng: random.Random, depth: int = 0) -> Any:
    """Return a value of the schema's type, with every property named in it; a pure function of its arguments.

    Patterns, formats and references are not followed: a plan seldom reads what they would change.
    """
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return rng.choice(list(schema["enum"]))
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return made_up(rng.choice(list(schema[key])), rng, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = rng.choice(kind)
    return _of_type(str(kind), schema, rng, depth)


def _of_type(kind: str, schema: Mapping[str, Any], rng: random.Random, depth: int) -> Any:
    if kind == "object":
        return {key: made_up(value, rng, depth + 1) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        least = int(schema.get("minItems", 0))
        most = min(int(schema.get("maxItems", least + _MOST_ITEMS)), least + _MOST_ITEMS)
        return [made_up(schema.get("items", {}), rng, depth + 1) for _ in range(rng.randint(least, max(least, most)))]
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("integer", "number"):
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 10))
        return (
            rng.randint(int(low), max(int(low), int(high))) if kind == "integer" else round(rng.uniform(low, high), 2)
        )
    if kind == "null":
        return None
    return f"made up {rng.randrange(1000)}"
