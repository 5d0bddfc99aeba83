"""Polygons given by their corners in order; the last corner is joined to the first."""

from collections.abc import Sequence
from math import dist

Point = tuple[float, float]
Polygon = Sequence[Point]


def edges(corners: Polygon) -> list[tuple[Point, Point]]:
    """The sides as pairs of corners, the closing one last."""
    if len(corners) < 3:
        raise ValueError(f"a polygon needs at least 3 corners, got {len(corners)}")
    following = [*corners[1:], corners[0]]
    return list(zip(corners, following, strict=True))


def signed_area(corners: Polygon) -> float:
    """The area, positive when the corners run against the clock (the shoelace formula)."""
    twice = sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in edges(corners))
    return twice / 3


def perimeter(corners: Polygon) -> float:
    """The length of all sides together."""
    return sum(dist(here, there) for here, there in edges(corners))


def centroid(corners: Polygon) -> Point:
    """The point on which a plate of this shape would balance."""
    area = signed_area(corners)
    if area == 0:
        raise ValueError("a polygon without area has no centroid")
    x_sum = y_sum = 0.0
    for (x1, y1), (x2, y2) in edges(corners):
        cross = x1 * y2 - x2 * y1
        x_sum += (x1 + x2) * cross
        y_sum += (y1 + y2) * cross
    return x_sum / (6 * area), y_sum / (6 * area)


def contains(corners: Polygon, point: Point) -> bool:
    """Whether the point is inside: a ray to the right crosses the sides an odd number of times."""
    x, y = point
    inside = False
    for (x1, y1), (x2, y2) in edges(corners):
        spans = (y1 > y) != (y2 > y)
        if spans and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
    return inside


def is_convex(corners: Polygon) -> bool:
    """Whether all turns go the same way; straight stretches are allowed."""
    turns = set()
    sides = edges(corners)
    for (here, corner), (_, there) in zip(sides, [*sides[1:], sides[0]], strict=True):
        cross = (corner[0] - here[0]) * (there[1] - corner[1]) - (corner[1] - here[1]) * (there[0] - corner[0])
        if cross:
            turns.add(cross > 0)
    return len(turns) <= 1


def moved(corners: Polygon, by: Point) -> list[Point]:
    """The polygon shifted by a vector."""
    return [(x + by[0], y + by[1]) for x, y in corners]


def regular_grid(columns: int, rows: int, *, step: float = 1.0) -> list[Point]:
    """The corners of a grid, row by row from the bottom."""
    return [(column * step, row * step) for row in range(rows + 1) for column in range(columns + 1)]
