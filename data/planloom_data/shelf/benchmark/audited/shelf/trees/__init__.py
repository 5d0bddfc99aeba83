"""Nested mappings and words stored by prefix."""
