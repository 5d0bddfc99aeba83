"""Digits, primes and rounding."""
