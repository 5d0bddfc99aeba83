"""Primes, factors and divisors of whole numbers of moderate size."""

from collections.abc import Iterator
from math import gcd, isqrt


def primes_below(limit: int) -> list[int]:
    """All primes smaller than `limit`, by the sieve of Eratosthenes."""
    is_prime = [True] * max(limit, 2)
    is_prime[0] = is_prime[1] = False
    for candidate in range(2, isqrt(max(limit, 0)) + 1):
        if is_prime[candidate]:
            for multiple in range(candidate * candidate, limit, candidate):
                is_prime[multiple] = False
    return [number for number, prime in enumerate(is_prime) if prime]


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
    return numerator // shared, denominator // shared


def coprime(left: int, right: int) -> bool:
    """Whether the two numbers share no factor but 1."""
    return gcd(left, right) == 1
