"""Keeping answers for a while."""
