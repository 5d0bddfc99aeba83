"""Sharing sums of money so that the shares add up to the cent.

Amounts are whole cents. A share is first cut down to whole cents; the cents left over go one each to those
who lost the most by the cut (the method of largest remainders).
"""

from collections.abc import Mapping, Sequence


def split_evenly(cents: int, people: int) -> list[int]:
    """The amount in equal shares; the first few get one cent more when it does not come out even.

    >>> split_evenly(1000, 3)
    [334, 333, 333]
    >>> split_evenly(900, 3)
    [300, 300, 300]
    >>> split_evenly(2, 3)
    [1, 1, 0]
    """
    if people < 1:
        raise ValueError(f"an amount needs at least 1 person to go to, got {people}")
    share, left = divmod(cents, people)
    return [share + 1 if position < left else share for position in range(people)]


def allocate(cents: int, weights: Sequence[int]) -> list[int]:
    """The amount in shares that follow the weights, in their order; nothing is lost.

    >>> allocate(100, [1, 1, 1])
    [34, 33, 33]
    >>> allocate(1000, [3, 1])
    [750, 250]
    >>> allocate(5, [70, 30])
    [4, 1]
    >>> allocate(100, [0, 1])
    [0, 100]
    """
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
    """The price with tax added, to the nearest cent; half cents go up.

    >>> with_tax(1000, 19)
    1190
    >>> with_tax(50, 5)
    53
    """
    return net_cents + (net_cents * rate_percent + 50) // 100


def without_tax(gross_cents: int, rate_percent: int) -> int:
    """The price before tax, from one with tax included, to the nearest cent.

    >>> without_tax(1190, 19)
    1000
    >>> without_tax(107, 7)
    100
    """
    whole = 100 + rate_percent
    return (gross_cents * 100 + whole // 2) // whole


def settle(paid: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """Who pays whom how much, so that everyone has spent the same.

    The largest debt meets the largest claim first; ties go by name. Payments are (from, to, cents).

    >>> settle({"ann": 900, "bob": 0, "cy": 0})
    [('bob', 'ann', 300), ('cy', 'ann', 300)]
    >>> settle({"ann": 100, "bob": 100})
    []
    >>> settle({"ann": 60, "bob": 30, "cy": 0})
    [('cy', 'ann', 30)]
    """
    names = sorted(paid)
    shares = split_evenly(sum(paid.values()), len(names))
    balance = {name: paid[name] - share for name, share in zip(names, shares, strict=True)}
    payments = []
    while any(balance.values()):
        debtor = min(names, key=lambda name: balance[name])
        creditor = max(names, key=lambda name: balance[name])
        cents = min(-balance[debtor], balance[creditor])
        payments.append((debtor, creditor, cents))
        balance[debtor] += cents
        balance[creditor] -= cents
    return payments


def show(cents: int, *, symbol: str = "$") -> str:
    """The amount as people write it.

    >>> show(123456)
    '$1,234.56'
    >>> show(-5)
    '-$0.05'
    """
    units, rest = divmod(abs(cents), 100)
    sign = "-" if cents < 0 else ""
    return f"{sign}{symbol}{units:,}.{rest:02}"
