"""What rows take, near enough to tell a person: their texts, and a figure for the rest of the row with its indexes.

SQLite can tell exactly only where it was built with its table ``dbstat``, which most Pythons' is not.
"""

from __future__ import annotations

__all__ = ["SIZE_OF"]

SIZE_OF = {
    "part": "length(body) + 90",
    "frame": "length(text) * 2 + 20",
    "question": "length(body) + 90",
    "reply": "length(body) + 160",
    "call": "length(thread) + 65",
    "event": "length(data) + 25",
    "thread": (
        "length(id) * 2 + length(place) + length(phase) + length(label) + length(model)"
        " + length(fingerprints) + length(result) + coalesce(length(error), 0) + coalesce(length(raw), 0) + 80"
    ),
    "journal": "length(place) + length(value) + 15",
    "run": (
        "length(id) * 2 + length(title) + length(plan) + length(facts) + length(result) + length(job) * 2"
        " + coalesce(length(error), 0) + 120"
    ),
}
"""By table: an expression for the bytes of a row, of what it alone holds."""
