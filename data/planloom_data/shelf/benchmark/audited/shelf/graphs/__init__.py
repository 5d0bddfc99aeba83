"""Shortest paths and orderings of directed graphs."""
