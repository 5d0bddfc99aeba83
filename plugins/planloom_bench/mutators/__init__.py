"""One-line edits that a person might have written by mistake, one plugin a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planloom.late import late_names

from .mutator import Mutator, is_sound, sites_of

if TYPE_CHECKING:
    from .catalogue import TWELVE_KINDS
    from .parsed import Edit, ParsedFile, name_of

__all__ = ["TWELVE_KINDS", "Edit", "Mutator", "ParsedFile", "is_sound", "name_of", "sites_of"]

__getattr__ = late_names(
    __name__,
    {"catalogue": ("TWELVE_KINDS",), "parsed": ("Edit", "ParsedFile", "name_of")},
)
