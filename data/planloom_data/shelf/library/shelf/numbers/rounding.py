"""Keeping numbers on a grid or inside bounds, and showing them to so many digits."""

from math import floor, log10

PREFIXES = ("", "k", "M", "G", "T", "P")


def clamp(value: float, low: float, high: float) -> float:
    """The value, or the bound it oversteps.

    >>> clamp(5, 0, 10)
    5
    >>> clamp(-1, 0, 10)
    0
    >>> clamp(11, 0, 10)
    10
    """
    if low > high:
        raise ValueError(f"low must not be above high, got {low} and {high}")
    return max(low, min(value, high))


def to_step(value: float, step: float) -> float:
    """The multiple of `step` nearest to the value; halfway values go up.

    >>> to_step(7, 5)
    5
    >>> to_step(7.5, 5)
    10
    >>> to_step(0.3, 0.25)
    0.25
    """
    return floor(value / step + 0.5) * step


def significant(value: float, digits: int) -> float:
    """The value rounded to so many digits that count, wherever the point is.

    >>> significant(0.0012345, 2)
    0.0012
    >>> significant(98765, 2)
    99000
    >>> significant(0, 3)
    0
    """
    if value == 0:
        return value
    magnitude = floor(log10(abs(value)))
    return round(value, digits - 1 - magnitude)


def rescale(value: float, low: float, high: float) -> float:
    """Where the value lies between the bounds, from 0.0 at `low` to 1.0 at `high`; outside it is clamped.

    >>> rescale(15, 10, 20)
    0.5
    >>> rescale(25, 10, 20)
    1.0
    >>> rescale(5, 10, 20)
    0.0
    """
    if low == high:
        raise ValueError(f"the bounds must differ, both are {low}")
    inside = clamp(value, low, high)
    return (inside - low) / (high - low)


def si_prefix(value: float, *, digits: int = 3) -> str:
    """The value with a metric prefix for thousands, rounded to so many digits that count.

    >>> si_prefix(1500)
    '1.5k'
    >>> si_prefix(999)
    '999'
    >>> si_prefix(999.9)
    '1k'
    >>> si_prefix(2_340_000)
    '2.34M'
    """
    scaled = float(value)
    for prefix in PREFIXES:
        rounded = significant(scaled, digits)
        if abs(rounded) < 1000 or prefix == PREFIXES[-1]:
            break
        scaled /= 1000
    return f"{rounded:.15g}{prefix}"


def percent(part: float, whole: float, *, places: int = 1) -> str:
    """The share as a percentage; a share of nothing is shown as a dash.

    >>> percent(1, 3)
    '33.3%'
    >>> percent(1, 8, places=2)
    '12.50%'
    >>> percent(0, 0)
    '-'
    """
    if whole == 0:
        return "-"
    return f"{100 * part / whole:.{places}f}%"
