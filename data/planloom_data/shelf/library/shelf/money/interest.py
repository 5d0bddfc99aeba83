"""Savings and loans: growth with interest, payments, and how long a debt lasts.

Rates are yearly fractions (0.05 is five percent); a year has twelve months of equal length.
"""

from collections.abc import Iterator, Sequence
from math import isclose

MONTHS = 12


def grow(principal: float, rate: float, years: int, *, per_year: int = 1) -> float:
    """The sum after so many years when interest is added `per_year` times a year.

    >>> grow(1000, 0.10, 2)
    1210.0
    >>> round(grow(1000, 0.12, 1, per_year=12), 2)
    1126.83
    >>> grow(1000, 0.10, 0)
    1000.0
    """
    balance = float(principal)
    for _ in range(years * per_year):
        balance += balance * rate / per_year
    return round(balance, 6)


def effective_rate(rate: float, per_year: int) -> float:
    """The yearly rate that gives the same when interest is added once instead of `per_year` times.

    >>> round(effective_rate(0.12, 12), 4)
    0.1268
    >>> effective_rate(0.05, 1)
    0.05
    """
    return round((1 + rate / per_year) ** per_year - 1, 10)


def monthly_payment(loan: float, rate: float, months: int) -> float:
    """The equal payment at the end of every month that clears the loan in time.

    >>> round(monthly_payment(10_000, 0.06, 12), 2)
    860.66
    >>> monthly_payment(1200, 0, 12)
    100.0
    """
    if rate == 0:
        return loan / months
    monthly = rate / MONTHS
    return loan * monthly / (1 - (1 + monthly) ** -months)


def schedule(loan: float, rate: float, payment: float) -> Iterator[tuple[float, float, float]]:
    """One (interest, repaid, left) a month until nothing is left, in whole cents.

    The last payment is only what is still owed.

    >>> list(schedule(200, 0.12, 150))
    [(2.0, 148.0, 52.0), (0.52, 52.0, 0.0)]
    >>> list(schedule(100, 0.12, 1))
    Traceback (most recent call last):
        ...
    ValueError: a payment of 1 does not even cover the interest of 1.0
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
    """How many payments it takes until the loan is paid back.

    >>> months_to_clear(1200, 0, 100)
    12
    >>> months_to_clear(200, 0.12, 150)
    2
    """
    return sum(1 for _ in schedule(loan, rate, payment))


def present_value(flows: Sequence[float], rate: float) -> float:
    """What payments at the ends of the coming years are worth today, at a yearly rate.

    >>> round(present_value([110, 121], 0.10), 2)
    200.0
    >>> present_value([], 0.10)
    0.0
    """
    worth = 0.0
    for years, amount in enumerate(flows, start=1):
        worth += amount / (1 + rate) ** years
    return worth


def doubling_years(rate: float) -> int:
    """The first whole year at whose end a sum has at least doubled.

    >>> doubling_years(0.10)
    8
    >>> doubling_years(1.0)
    1
    """
    if rate <= 0:
        raise ValueError(f"money only doubles at a rate above 0, got {rate}")
    balance, years = 1.0, 0
    while balance < 2 and not isclose(balance, 2):
        balance *= 1 + rate
        years += 1
    return years
