"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, such as ``1 file`` or ``1,373 files``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
