"""Credits are whole numbers of 1e-6, rounded up, so that no sum of prices is below what was spent."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.money import MICRO, Price, credits_of, micro_of, show_credits, show_enough

TOKENS = st.integers(0, 10**7)
RATES = st.integers(0, 100 * MICRO)


@given(st.decimals(0, 10**6, places=6))
def test_credits_with_six_decimals_are_kept_exactly(amount: Decimal) -> None:
    assert Decimal(micro_of(str(amount))) == amount * MICRO


@given(st.floats(0, 10**6))
def test_an_amount_is_never_rounded_down(amount: float) -> None:
    assert Decimal(micro_of(amount)) >= Decimal(str(amount)) * MICRO


@pytest.mark.parametrize("amount", [-0.1, "-1", float("nan"), float("inf")])
def test_an_amount_that_is_no_price_is_refused_with_its_value(amount: float | str) -> None:
    with pytest.raises(ValueError, match=f"got {amount}"):
        micro_of(amount)


@given(TOKENS, TOKENS, TOKENS, RATES, RATES, RATES)
def test_a_price_is_never_below_the_exact_sum(
    prompt: int, completion: int, cached: int, into: int, kept: int, out: int
) -> None:
    price = Price(call=7, input=into, cached_input=kept, output=out).of(prompt, completion, cached)
    of_cached = min(cached, prompt)
    exact = Decimal((prompt - of_cached) * into + of_cached * kept + completion * out) / MICRO + 7
    assert exact <= price < exact + 1


def test_cached_input_costs_as_much_as_other_input_unless_a_price_says_otherwise() -> None:
    price = Price(input=2 * MICRO)
    assert price.of(1_000_000, 0, 500_000) == price.of(1_000_000, 0) == 2 * MICRO


@pytest.mark.parametrize(
    ("micro", "shown"),
    [
        (0, "0.0"),
        (MICRO // 5, "0.2"),
        (49 * MICRO // 10, "4.9"),
        (59 * MICRO // 100, "0.59"),
        (1, "0.000001"),
        (12_300, "0.0123"),
    ],
)
def test_an_amount_is_shown_so_that_it_can_be_seen(micro: int, shown: str) -> None:
    assert show_credits(micro) == shown
    assert credits_of(micro) == float(shown)


@pytest.mark.parametrize(("micro", "shown"), [(4_963_000, "4.96"), (2_996_000, "3.0"), (12 * MICRO, "12.0")])
def test_of_an_amount_no_more_than_hundredths_are_shown(micro: int, shown: str) -> None:
    assert show_credits(micro) == shown


@pytest.mark.parametrize(
    ("micro", "shown"),
    [(250_000, "0.25"), (200_000, "0.2"), (8 * MICRO, "8.0"), (1_231_000, "1.24"), (12_300, "0.0123")],
)
def test_no_more_is_advised_than_is_enough(micro: int, shown: str) -> None:
    assert show_enough(micro) == shown


@given(st.integers(0, 10**12))
def test_an_amount_that_is_advised_is_enough(micro: int) -> None:
    assert micro <= micro_of(show_enough(micro)) < micro + MICRO // 100
