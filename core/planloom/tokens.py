"""How many tokens a text has, where no server has counted it.

Two figures for two uses: an estimate for prices that people read, and an upper bound for reservations, so that a
cap is a promise. A token of any byte-level tokenizer covers at least one byte, so bytes bound tokens from above.
"""

from __future__ import annotations

__all__ = [
    "CODE_CHARACTERS_A_TOKEN",
    "TEXT_CHARACTERS_A_TOKEN",
    "estimate_code_tokens",
    "estimate_text_tokens",
]

# Measured on Python code with printed line numbers.
CODE_CHARACTERS_A_TOKEN = 2.54542
TEXT_CHARACTERS_A_TOKEN = 4.0


def estimate_code_tokens(characters: int) -> int:
    """Return the estimated tokens of that many characters of numbered code."""
    return round(characters / CODE_CHARACTERS_A_TOKEN)


def estimate_text_tokens(characters: int) -> int:
    """Return the estimated tokens of that many characters of other text."""
    return round(characters / TEXT_CHARACTERS_A_TOKEN)
