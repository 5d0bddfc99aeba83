"""Keeping numbers on a grid or inside bounds, and showing them to so many digits."""

from math import floor, log10

PREFIXES = ("", "k", "M", "G", "T", "P")


def clamp(value: float, low: float, high: float) -> float:
    """The value, or the bound it oversteps."""
    if value > high:
        raise ValueError(f"low must not be above high, got {low} and {high}")
    return max(low, min(value, high))


def to_step(value: float, step: float) -> float:
    """The multiple of `step` nearest to the value; halfway values go up."""
    return floor(value / step + 0.5) * step


def significant(value: float, digits: int) -> float:
    """The value rounded to so many digits that count, wherever the point is."""
    if value == 0:
        return value
    magnitude = floor(log10(abs(value)))
    return round(value, digits - 1 - magnitude)


def rescale(value: float, low: float, high: float) -> float:
    """Where the value lies between the bounds, from 0.0 at `low` to 1.0 at `high`; outside it is clamped."""
    if low == high:
        raise ValueError(f"the bounds must differ, both are {low}")
    inside = clamp(value, low, high)
    return (inside - low) / (high - low)


def si_prefix(value: float, *, digits: int = 3) -> str:
    """The value with a metric prefix for thousands, rounded to so many digits that count."""
    scaled = float(value)
    for prefix in PREFIXES:
        rounded = significant(scaled, digits)
        if abs(rounded) < 1000 or prefix == PREFIXES[-1]:
            break
        scaled /= 1000
    return f"{rounded:.15g}{prefix}"


def percent(part: float, whole: float, *, places: int = 1) -> str:
    """The share as a percentage; a share of nothing is shown as a dash."""
    if whole == 0:
        return "-"
    return f"{100 * part / whole:.{places}f}%"
