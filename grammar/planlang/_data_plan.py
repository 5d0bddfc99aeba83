"""Tells data from a plan: a reply in JSON is valid Python, but there is nothing in it to run."""

from __future__ import annotations

from . import _nodes as n
from ._faults import Fault

__all__ = ["said_of_data"]

_HOLDS_CODE = ("plan", "code", "program", "source", "script", "python", "content", "text")


def said_of_data(module: n.Module) -> Fault | None:
    """Return what is said about a text that is one dict or list and nothing else; ``None`` for all others."""
    only = module.body[0] if len(module.body) == 1 else None
    value = only.value if isinstance(only, n.ExprStatement) else None
    if not isinstance(value, n.DictDisplay | n.ListDisplay) or not _is_json(value):
        return None
    hint = "write the statements that do it, such as `found = ...`, and end with `result = found`."
    key = _code_under(value)
    if key:
        hint = f'send the text under `"{key}"` alone, as it is, with real line breaks and no quotes around it.'
    return Fault("PL009", value.start, value.start + 1, "this is data in JSON, not a plan", hint)


def _is_json(value: n.DictDisplay | n.ListDisplay) -> bool:
    """Say whether a dict has texts for keys, or a list holds such dicts."""
    if isinstance(value, n.ListDisplay):
        return bool(value.items) and all(isinstance(item, n.DictDisplay) and _is_json(item) for item in value.items)
    return bool(value.keys) and all(isinstance(k, n.Constant) and isinstance(k.value, str) for k in value.keys)


def _code_under(value: n.Node) -> str:
    """Return the key whose text looks like a plan of its own, or nothing."""
    if not isinstance(value, n.DictDisplay):
        return ""
    for key, held in zip(value.keys, value.values, strict=True):
        name = key.value if isinstance(key, n.Constant) else None
        text = held.value if isinstance(held, n.Constant) else None
        if name in _HOLDS_CODE and isinstance(text, str) and ("=" in text or "\n" in text):
            return str(name)
    return ""
