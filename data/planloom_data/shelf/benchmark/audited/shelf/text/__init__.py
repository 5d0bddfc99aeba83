"""Case, layout and likeness of plain text."""
