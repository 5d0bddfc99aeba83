"""The leak test: whether anything that auditors read gives a planted bug away."""

from __future__ import annotations

from .finding import find_leaks
from .leak import Leak, describe

__all__ = ["Leak", "describe", "find_leaks"]
