"""What to say of a limit that was hit: the figure in a person's units, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["limit_text"]

_MB: Final = 1024 * 1024

_TEXTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "steps": (
        "computing",
        "steps",
        "look at fewer items: loops inside loops over long lists take most, and a dict finds a key in one step",
    ),
    "memory_bytes": (
        "memory",
        "MB",
        "it counts all that is ever made: keep what later steps need of an answer instead of all of it, put texts "
        "together once with `join`, and do not copy long lists in a loop",
    ),
    "call_depth": ("calls inside one another", "calls", "use a loop over a list of what is still to be done"),
    "host_frames": ("calls inside one another", "frames", "call fewer functions inside one another, or use a loop"),
    "data_depth": ("nesting", "levels", "keep the value flatter: a list of parts instead of parts inside parts"),
    "integer_bits": ("integers", "bits", "keep the number smaller, or use a float"),
    "text_length": ("texts", "characters", "keep the text in parts, and give each worker its own"),
    "collection_length": ("collections", "items", "keep fewer items, such as those that later steps need"),
    "host_calls": ("calls of words", "calls", "call words for fewer items; one that may wait counts as eight"),
    "bytes_to_host": ("what words are given", "MB", "give each call only what it needs"),
    "bytes_from_host": ("what words give back", "MB", "ask for less of it, or for shorter answers"),
    "compute_s": (
        "computing without a pause",
        "s",
        "look at fewer items at once: loops inside loops over long lists take most",
    ),
}


def limit_text(limit: str, value: float, allowed: float) -> str:
    """Return that a limit was hit, by how much, and what to do next.

    :param limit: a field of :class:`planlang.Limits`. :param value: the figure that was reached or asked for.
    :param allowed: what the limit allows; 0 where the machine itself had no more before that.
    """
    what, unit, advice = _TEXTS[limit]
    if not allowed:
        return f"the limit on {what} was hit: this machine has less than the plan's own limit allows; {advice}"
    return f"the limit on {what} was hit: {_amount(value, unit)} of {_amount(allowed, unit)} {unit}; {advice}"


def _amount(value: float, unit: str) -> str:
    if unit == "MB":
        return f"{value / _MB:,.1f}".removesuffix(".0")
    return f"{value:,}"
