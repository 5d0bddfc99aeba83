"""What the outcome of a run lacks, and why; bounded, since fifty thousand workers may fail in as many words."""

from __future__ import annotations

from collections import Counter

__all__ = ["Lacks"]

_KINDS_OF_FAILURE = 1_000
_OTHER_FAILURES = "other reasons"
_NAMED = 100
_REASON_LENGTH = 300


class Lacks:
    """What the workers, tasks and saved plans of one run did not bring.

    :ivar missing: the first of them: workers that failed or were dropped, tasks and saved plans that failed; each a
        ``kind``, a ``name`` and a ``reason``.
    :ivar failures: how many workers failed for which reason.
    """

    def __init__(self) -> None:
        self.missing: list[dict[str, str]] = []
        self.failures: Counter[str] = Counter()

    def add(self, kind: str, name: str, reason: str) -> None:
        """Note one of them."""
        if len(self.missing) < _NAMED:
            self.missing.append({"kind": kind, "name": name, "reason": reason[:_REASON_LENGTH]})

    def worker(self, name: str, error: str) -> None:
        """Note a worker that failed."""
        self.add("worker", name, error)
        has_room = error in self.failures or len(self.failures) < _KINDS_OF_FAILURE
        self.failures[error if has_room else _OTHER_FAILURES] += 1
