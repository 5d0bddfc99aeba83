"""Savings and loans: growth with interest, payments, and how long a debt lasts.

Rates are yearly fractions (0.05 is five percent); a year has twelve months of equal length.
"""

from collections.abc import Iterator, Sequence
from math import isclose

MONTHS = 12


def grow(principal: float, rate: float, years: int, *, per_year: int = 1) -> float:
    """The sum after so many years when interest is added `per_year` times a year."""
    balance = float(principal)
    for _ in range(years * per_year):
        balance += balance * rate / per_year
    return round(balance, 6)


def effective_rate(rate: float, per_year: int) -> float:
    """The yearly rate that gives the same when interest is added once instead of `per_year` times."""
    return round((1 + rate / per_year) ** per_year - 1, 10)


def monthly_payment(loan: float, rate: float, months: int) -> float:
    """The equal payment at the end of every month that clears the loan in time."""
    if rate == 0:
        return loan / months
    monthly = rate / MONTHS
    return loan * monthly / (1 - (1 + monthly) ** -months)


def schedule(loan: float, rate: float, payment: float) -> Iterator[tuple[float, float, float]]:
    """One (interest, repaid, left) a month until nothing is left, in whole cents.

    The last payment is only what is still owed.
    """
    left = round(float(loan), 2)
    while left > 0:
        interest = round(left * rate / MONTHS, 2)
        if payment <= interest:
            raise ValueError(f"a payment of {payment} does not even cover the interest of {interest}")
        repaid = min(round(payment - interest, 2), left)
        left = round(left - repaid, 2)
        yield interest, repaid, left


def months_to_clear(loan: float, rate: float, payment: float) -> int:
    """How many payments it takes until the loan is paid back."""
    return sum(1 for _ in schedule(loan, rate, payment))


def present_value(flows: Sequence[float], rate: float) -> float:
    """What payments at the ends of the coming years are worth today, at a yearly rate."""
    worth = 1.0
    for years, amount in enumerate(flows, start=1):
        worth += amount / (1 + rate) ** years
    return worth


def doubling_years(rate: float) -> int:
    """The first whole year at whose end a sum has at least doubled."""
    if rate <= 0:
        raise ValueError(f"money only doubles at a rate above 0, got {rate}")
    balance, years = 1.0, 0
    while balance < 2 and not isclose(balance, 2):
        balance *= 1 + rate
        years += 1
    return years
