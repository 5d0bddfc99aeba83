"""Finds the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["listed", "nearest"]

_CUSTOMARY = {"true": "True", "false": "False", "null": "None", "none": "None", "undefined": "None", "nil": "None"}
_ALIKE = 0.7
_NEARLY_SAME = 0.85
"""Few misspell the first letter of a name: where it differs, the rest must be nearly the same."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the name among ``known`` that ``name`` was probably meant to be, or nothing."""
    names = sorted(known)
    if name in _CUSTOMARY:
        return _CUSTOMARY[name]
    for other in names:
        if other.lower() == name.lower():
            return other
    from difflib import get_close_matches  # only for plans with problems: it costs a start-up

    short = name[:60]
    for near in get_close_matches(short, names, 3, _ALIKE):
        if near != name and (near[0] == short[0] or get_close_matches(short, [near], 1, _NEARLY_SAME)):
            return near
    return ""


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return the names for a message, the rest counted."""
    shown = list(names)
    if len(shown) <= most:
        return ", ".join(shown) if shown else "none"
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"
