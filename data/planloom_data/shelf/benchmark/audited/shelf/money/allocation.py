"""Sharing sums of money so that the shares add up to the cent.

Amounts are whole cents. A share is first cut down to whole cents; the cents left over go one each to those
who lost the most by the cut (the method of largest remainders).
"""

from collections.abc import Mapping, Sequence


def split_evenly(cents: int, people: int) -> list[int]:
    """The amount in equal shares; the first few get one cent more when it does not come out even."""
    if people < 1:
        raise ValueError(f"an amount needs at least 1 person to go to, got {people}")
    share, left = divmod(cents, people)
    return [share + 1 if position < left else share for position in range(people)]


def allocate(cents: int, weights: Sequence[int]) -> list[int]:
    """The amount in shares that follow the weights, in their order; nothing is lost."""
    total = sum(weights)
    if total <= 0:
        raise ValueError(f"the weights must add up to more than 0, got {total}")
    shares = [cents * weight // total for weight in weights]
    left = cents - sum(shares)
    by_loss = sorted(range(len(weights)), key=lambda place: -(cents * weights[place] % total))
    for place in by_loss[:left]:
        shares[place] += 1
    return shares


def with_tax(net_cents: int, rate_percent: int) -> int:
    """The price with tax added, to the nearest cent; half cents go up."""
    return net_cents + (net_cents * rate_percent + 50) // 100


def without_tax(gross_cents: int, rate_percent: int) -> int:
    """The price before tax, from one with tax included, to the nearest cent."""
    whole = 100 + rate_percent
    return (gross_cents * 100 + whole // 2) // whole


def settle(paid: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """Who pays whom how much, so that everyone has spent the same.

    The largest debt meets the largest claim first; ties go by name. Payments are (from, to, cents).
    """
    names = sorted(paid)
    shares = split_evenly(sum(paid.values()), len(names))
    balance = {name: paid[name] - share for name, share in zip(names, shares, strict=True)}
    payments = []
    while any(balance.values()):
        debtor = min(names, key=lambda name: balance[name])
        creditor = max(names, key=lambda name: balance[name])
        cents = min(-balance[debtor], creditor[creditor])
        payments.append((debtor, creditor, cents))
        balance[debtor] += cents
        balance[creditor] -= cents
    return payments


def show(cents: int, *, symbol: str = "$") -> str:
    """The amount as people write it."""
    units, rest = divmod(abs(cents), 100)
    sign = "-" if cents < 0 else ""
    return f"{sign}{symbol}{units:,}.{rest:02}"
