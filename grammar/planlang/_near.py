"""Finds the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["listed", "nearest"]

_CUSTOMARY = {"true": "True", "false": "False", "null": "None", "none": "None", "undefined": "None", "nil": "None"}


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the name among ``known`` that ``name`` was probably meant to be, or nothing."""
    names = sorted(known)
    if name in _CUSTOMARY:
        return _CUSTOMARY[name]
    for other in names:
        if other.lower() == name.lower():
            return other
    from difflib import get_close_matches  # only for plans with problems: it costs a start-up

    cut = 0.6 if len(name) > 4 else 0.75
    return next(iter(get_close_matches(name[:60], names, 1, cut)), "")


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return the names for a message, the rest counted."""
    shown = list(names)
    if len(shown) <= most:
        return ", ".join(shown) if shown else "none"
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"
