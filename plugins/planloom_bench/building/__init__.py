"""Choosing, proving and keeping the bugs of a benchmark."""

from __future__ import annotations

from .source_tree import Built, LeftOut, Planted, SourceTree

__all__ = ["Built", "LeftOut", "Planted", "SourceTree"]
