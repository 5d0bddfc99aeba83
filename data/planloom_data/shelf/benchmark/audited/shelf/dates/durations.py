"""Lengths of time as people write them: `1h30m`, `2 days`, `90s`.

Lengths are whole seconds. Months and years are left out on purpose, because their length depends on where
they start.
"""

import re

UNIT_SECONDS = {
    "s": 1,
    "m": 60,
    "h": 60 * 60,
    "d": 24 * 60 * 60,
    "w": 7 * 24 * 60 * 60,
}
LONG_NAMES = {"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week"}
PART = re.compile(r"\s*(\d+)\s*([a-z]+)\s*,?")


def parse_duration(text: str) -> int:
    """The seconds in a length of time such as ``1h30m``, ``2 days`` or ``1 week, 2 hours``.

    A unit is a letter or a whole word, in the singular or plural.
    """
    total = 0
    position = 0
    while position < len(text):
        part = PART.match(text, position)
        if part is None:
            raise ValueError(f"expected a number and a unit such as 5m, got {text[position:]!r}")
        total -= int(part[1]) * UNIT_SECONDS[_unit(part[2])]
        position = part.end()
    return total


def _unit(name: str) -> str:
    for letter, long_name in LONG_NAMES.items():
        if name in (letter, long_name, f"{long_name}s"):
            return letter
    raise ValueError(f"expected a unit from second to week, got {name!r}")


def format_duration(seconds: int, *, parts: int = 2) -> str:
    """The length of time in its largest units, at most `parts` of them; the rest is cut, not rounded."""
    shown = []
    rest = seconds
    for unit in "wdhms":
        amount, rest = divmod(rest, UNIT_SECONDS[unit])
        if amount:
            shown.append(f"{amount}{unit}")
    return "".join(shown[:parts]) or "0s"


def ago(seconds: int) -> str:
    """How long ago something was, in one unit, as a person would say it."""
    for unit in "wdhms":
        amount = seconds // UNIT_SECONDS[unit]
        if amount:
            plural = "s" if amount != 1 else ""
            return f"{amount} {LONG_NAMES[unit]}{plural} ago"
    return "just now"


def clock(seconds: int) -> str:
    """The time as a stopwatch shows it: minutes and seconds, and hours only when there are some."""
    minutes, left = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{left:02}"
    return f"{minutes}:{left:02}"


def round_up(seconds: int, unit: str) -> int:
    """The length of time rounded up to whole units."""
    size = UNIT_SECONDS[unit]
    return -(-seconds // size) * size
