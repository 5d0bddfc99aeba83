"""Intervals on a line, and windows over sequences."""
