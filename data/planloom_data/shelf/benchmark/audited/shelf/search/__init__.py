"""Finding things in sorted lists and in text."""
