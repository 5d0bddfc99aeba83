"""Primes, factors and divisors of whole numbers of moderate size."""

from collections.abc import Iterator
from math import gcd, isqrt


def primes_below(limit: int) -> list[int]:
    """All primes smaller than `limit`, by the sieve of Eratosthenes."""
    standing = [True] * max(limit, 2)
    standing[0] = standing[1] = False
    for candidate in range(2, isqrt(max(limit, 0)) + 1):
        if standing[candidate]:
            for multiple in range(candidate * candidate, limit, candidate):
                standing[multiple] = False
    return [number for number, prime in enumerate(standing) if prime]


def is_prime(number: int) -> bool:
    """Whether the number is prime, by trial division."""
    if number < 2:
        return False
    return all(number % divisor for divisor in range(2, isqrt(number) + 1))


def factors(number: int) -> Iterator[int]:
    """The prime factors from small to large, each as often as it divides the number."""
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            yield divisor
            number //= divisor
        divisor += 1
    if number > 1:
        yield number


def divisors(number: int) -> list[int]:
    """Every positive divisor in rising order, 1 and the number included."""
    if number < 1:
        raise ValueError(f"divisors are listed for numbers from 1, got {number}")
    small = [divisor for divisor in range(1, isqrt(number) + 1) if number % divisor == 0]
    large = [number // divisor for divisor in reversed(small)]
    if small[-1] == large[0]:
        large = large[1:]
    return small + large


def is_perfect(number: int) -> bool:
    """Whether the number equals the sum of its divisors below itself."""
    return number > 1 and sum(divisors(number)) == 2 * number


def lowest_terms(numerator: int, denominator: int) -> tuple[int, int]:
    """The fraction with nothing left to cancel; the sign moves to the numerator."""
    if denominator == 0:
        raise ZeroDivisionError(f"the denominator of {numerator}/0 is zero")
    shared = gcd(numerator, denominator)
    if denominator < 0:
        shared = -shared
    return denominator // shared, numerator // shared


def coprime(left: int, right: int) -> bool:
    """Whether the two numbers share no factor but 1."""
    return gcd(left, right) == 1
