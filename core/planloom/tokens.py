"""How many tokens a text has, where no server has counted it.

Two figures for two uses: an estimate for prices that people read, and an upper bound for reservations, so that a
cap is a promise. A token of any byte-level tokenizer covers at least one byte, so bytes bound tokens from above.
"""

from __future__ import annotations

__all__ = ["TEXT_CHARACTERS_A_TOKEN", "estimate_text_tokens"]

TEXT_CHARACTERS_A_TOKEN = 4.0


def estimate_text_tokens(characters: int) -> int:
    """Return the estimated tokens of that many characters of prose; a kit that knows its texts better counts itself."""
    return round(characters / TEXT_CHARACTERS_A_TOKEN)
