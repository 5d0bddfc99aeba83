"""Sharing sums without losing a cent, and growing them."""
