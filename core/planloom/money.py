"""Credits: what plans and people read, and the whole numbers of 1e-6 credit that the books keep.

A credit is what a project's prices are in, US dollars by default. Fractions are rounded up to the next micro-credit
when a price is worked out, so that a sum of prices is never below what was spent.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from ._often_made import often_made
from .data_classes import frozen

__all__ = ["MICRO", "Price", "Spent", "Usage", "credits_of", "micro_of", "show_credits", "show_enough", "show_price"]

MICRO = 1_000_000
_MILLION = 1_000_000


def micro_of(credit_amount: float | int | str) -> int:
    """Return an amount of credits in micro-credits, rounded up.

    :raises ValueError: it is not a finite number of at least 0.
    """
    amount = Decimal(str(credit_amount))
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"an amount of credits must be a finite number of at least 0, got {credit_amount}")
    return int((amount * MICRO).to_integral_value(ROUND_CEILING))


def credits_of(micro: int) -> float:
    """Return micro-credits as credits."""
    return micro / MICRO


def show_credits(micro: int) -> str:
    """Return micro-credits as text with one decimal, two where that says more, or as many as a small amount needs."""
    value = micro / MICRO
    if value == 0 or abs(value) >= 0.05:
        return f"{value:.2f}".removesuffix("0")
    return f"{value:.6f}".rstrip("0")


def show_enough(micro: int) -> str:
    """Return micro-credits as text that reads back as no less, and as less than a hundredth more: advice that was
    rounded down would not help, and nobody is to be asked for more than it takes."""
    hundredth = MICRO // 100
    return show_credits(micro if micro < MICRO // 20 else -(-micro // hundredth) * hundredth)


@frozen(kw_only=True)
class Spent:
    """What something cost, in micro-credits: paid now, and at full price, which counts the ledger's answers too."""

    paid: int = 0
    full_price: int = 0


@often_made(kw_only=True)
class Usage:
    """Tokens of one call; each is ``None`` when the server did not say."""

    prompt_tokens: int | None = None
    cached_prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@frozen(kw_only=True)
class Price:
    """What a model costs, in micro-credits: so much a call and so much a million tokens of each kind.

    :ivar cached_input: a million input tokens that the provider served from its cache; the input price when ``None``.
    """

    call: int = 0
    input: int = 0
    cached_input: int | None = None
    output: int = 0

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> int:
        """Return the price of one call with these token counts, in micro-credits."""
        cached = min(cached_tokens, prompt_tokens)
        cached_rate = self.input if self.cached_input is None else self.cached_input
        scaled = (prompt_tokens - cached) * self.input + cached * cached_rate + completion_tokens * self.output
        return self.call + -(-scaled // _MILLION)

    @property
    def by_tokens(self) -> bool:
        """Whether token counts change the price."""
        return bool(self.input or self.output or self.cached_input)


def show_price(price: Price) -> str:
    """Return a price as text: credits a call, and a million tokens of each kind."""
    parts = [f"{price.call / MICRO:g} a call"] if price.call else []
    named = {"input": price.input, "cached input": price.cached_input, "output": price.output}
    parts += [f"{amount / MICRO:g} a million {what} tokens" for what, amount in named.items() if amount]
    return ", ".join(parts) or "free"
