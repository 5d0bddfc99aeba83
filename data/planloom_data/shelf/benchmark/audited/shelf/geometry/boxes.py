"""Boxes with sides along the axes: fitting, overlapping and placing them. The origin is the top left."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """A box from its top left corner, with a width and a height."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Where the box ends on the right."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Where the box ends below."""
        return self.top + self.height

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    def holds(self, x: float, y: float) -> bool:
        """Whether the point is in the box; the right and bottom edges are outside."""
        return self.left <= x < self.right and self.top <= y < self.bottom


def from_corners(left: float, top: float, right: float, bottom: float) -> Box:
    """The box between two corners."""
    return Box(left, top, right - left, bottom - top)


def shared(one: Box, other: Box) -> Box | None:
    """The part that lies in both boxes, or None when they do not overlap."""
    left = max(one.left, other.left)
    top = max(one.top, other.top)
    right = min(one.right, other.right)
    bottom = min(one.bottom, other.bottom)
    if left >= right and top >= bottom:
        return None
    return from_corners(left, top, right, bottom)


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all of them."""
    placed = list(boxes)
    if not placed:
        raise ValueError("there is no box around nothing")
    left = min(box.left for box in placed)
    top = min(box.top for box in placed)
    right = max(box.right for box in placed)
    bottom = max(box.bottom for box in placed)
    return from_corners(left, top, right, bottom)


def overlap_share(one: Box, other: Box) -> float:
    """The shared area over the area of both together, from 0.0 to 1.0 (the Jaccard index)."""
    common = shared(one, other)
    if common is None:
        return 0.0
    return common.area / (one.area + other.area - common.area)


def fit(inner: Box, outer: Box) -> Box:
    """The inner box scaled to the largest size that fits the outer one, in the middle, shape kept."""
    scale = min(outer.width / inner.width, outer.height / inner.height)
    width, height = inner.width * scale, inner.height * scale
    left = outer.left + (outer.width - width) / 2
    top = outer.top + (outer.height - height) / 2
    return Box(left, top, width, height)


def grown(box: Box, by: float) -> Box:
    """The box with a margin on every side; a negative margin shrinks it, at most to nothing."""
    width = box.width + 2 * by
    height = box.height + 2 * by
    if width < 0 or height < 0:
        return Box(box.left + box.width / 2, box.top + box.height / 2, 0, 0)
    return Box(box.left - by, box.top - by, width, height)
