"""What a plan sees of a word: the signature of a shape, a function that is never called."""

from __future__ import annotations

import inspect

__all__ = ["signature_of"]


def signature_of(shape: object) -> inspect.Signature:
    """Return the signature that a plan sees: that of ``shape``, with its annotations as types."""
    return inspect.signature(shape, eval_str=True)  # type: ignore[arg-type]  # any function will do
