"""Summaries and running figures."""
