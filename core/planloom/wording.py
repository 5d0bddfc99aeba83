"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return the number with its noun, such as ``1 file``, ``0 files`` or ``1,373 files``.

    :param plural: of nouns that form it otherwise than with an s.
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"
