"""Choosing, proving and keeping the bugs of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planloom.late import late_names

if TYPE_CHECKING:
    from .library import Built, LeftOut, Library, Planted
    from .search import build

__all__ = ["Built", "LeftOut", "Library", "Planted", "build"]

__getattr__ = late_names(
    __name__,
    {
        "search": ("build",),
        "library": ("Built", "LeftOut", "Planted", "Library"),
    },
)
