"""How far a share of few cases can be trusted."""

from __future__ import annotations

from math import sqrt

# The 97.5th percentile of the normal distribution: 95 % lie between it and its opposite.
_Z = 1.959963984540054


def wilson(hits: int, cases: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, 1927), within [0, 1]; all of it when there are no cases."""
    if cases == 0:
        return (0.0, 1.0)
    share = hits / cases
    scale = 1 + _Z**2 / cases
    centre = (share + _Z**2 / (2 * cases)) / scale
    half = _Z / scale * sqrt(share * (1 - share) / cases + _Z**2 / (4 * cases**2))
    return (max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share)))
