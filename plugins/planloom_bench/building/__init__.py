"""Choosing, proving and keeping the bugs of a benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planloom.late import late_names

if TYPE_CHECKING:
    from .canary import DeafProofs
    from .library import Built, LeftOut, Library, Planted
    from .search import TooFewBugs, build

__all__ = ["Built", "DeafProofs", "LeftOut", "Library", "Planted", "TooFewBugs", "build"]

__getattr__ = late_names(
    __name__,
    {
        "search": ("TooFewBugs", "build"),
        "canary": ("DeafProofs",),
        "library": ("Built", "LeftOut", "Planted", "Library"),
    },
)
