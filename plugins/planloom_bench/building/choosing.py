"""Which edit is tried next, and when a kind has enough bugs.

The search goes in rounds of a fixed width. A round is fixed before any of its proofs begins: the kinds with the fewest
bugs put forward one attempt each, the scarcest kind first, each in another file. Its proofs may then be made in any
order and on any number of processors; the next round depends on their outcomes alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from planloom_bench.mutators import Edit, Mutator, is_sound, sites_of

from .candidates import Candidate

__all__ = ["Attempt", "Choice"]

# Wide enough for the processors of a large machine; a wider round would try what an earlier answer makes needless.
_WIDTH = 24
# Edits of one kind in one file. More would only try again what its examples do not look at.
_TRIES = 4


@attrs.frozen(eq=False)
class Attempt:
    """An edit that may be planted."""

    candidate: Candidate
    kind: str
    edit: Edit

    @property
    def function(self) -> str:
        """The function that the edit is in."""
        return self.candidate.parsed.places.function_at(self.edit.line) or ""


class Choice:
    """The state of one search: what was taken, and what is left to try. One thread changes it."""

    def __init__(
        self, candidates: Sequence[Candidate], mutators: Iterable[Mutator], *, bugs: int, seed: int, per_file: int
    ) -> None:
        self.taken: list[Attempt] = []
        self._bugs = bugs
        self._per_file = per_file
        self._left = dict(_attempts(candidates, mutators, seed, _TRIES * per_file))
        self._scarcity = {kind: len({one.candidate.path for one in left}) for kind, left in self._left.items()}
        self._dropped: set[str] = set()

    @property
    def sites(self) -> dict[str, int]:
        """How many files hold a site of each kind."""
        return dict(self._scarcity)

    def next_round(self) -> list[Attempt]:
        """The attempts to prove next, in order; none when there are bugs enough or nothing is left to try."""
        counts = Counter(attempt.kind for attempt in self.taken)
        width, most = min(_WIDTH, self._bugs - len(self.taken)), self._most_of_a_kind(counts)
        chosen: list[Attempt] = []
        while len(chosen) < width:
            before = len(chosen)
            for kind in sorted(self._left, key=lambda kind: (counts[kind], self._scarcity[kind], kind)):
                attempt = self._next(kind, chosen) if counts[kind] < most and len(chosen) < width else None
                if attempt is not None:
                    chosen.append(attempt)
                    counts[kind] += 1
            if len(chosen) == before:
                break
        return chosen

    def take(self, attempt: Attempt) -> None:
        """Plant an edit that was accepted."""
        self.taken.append(attempt)

    def drop(self, path: str) -> None:
        """Take back what was planted in a file, and try nothing in it again."""
        self._dropped.add(path)
        self.taken = [attempt for attempt in self.taken if attempt.candidate.path != path]

    def _most_of_a_kind(self, counts: Counter[str]) -> int:
        """The fair share of the kinds that still have something to try, of what the others do not give."""
        alive = [kind for kind, left in self._left.items() if any(map(self._is_open, left))]
        others = sum(counts[kind] for kind in self._left if kind not in alive)
        return -(-(self._bugs - others) // max(1, len(alive)))

    def _next(self, kind: str, chosen: Sequence[Attempt]) -> Attempt | None:
        busy = {attempt.candidate.path for attempt in chosen}
        left = self._left[kind]
        for attempt in list(left):
            if not self._is_open(attempt):
                left.remove(attempt)
            elif attempt.candidate.path not in busy:
                left.remove(attempt)
                if is_sound(attempt.edit, attempt.candidate.parsed):
                    return attempt
        return None

    def _is_open(self, attempt: Attempt) -> bool:
        path = attempt.candidate.path
        if path in self._dropped:
            return False
        here = [other for other in self.taken if other.candidate.path == path]
        return len(here) < self._per_file and all(other.function != attempt.function for other in here)


def _attempts(
    candidates: Sequence[Candidate], mutators: Iterable[Mutator], seed: int, tries: int
) -> Iterator[tuple[str, list[Attempt]]]:
    """For each kind what is tried: an edit of every file, in the order of the files, then the next edit of each."""
    for mutator in mutators:
        turns: list[list[Attempt]] = [[] for _ in range(tries)]
        for candidate in candidates:
            edits = list(sites_of(mutator, candidate.parsed))
            random.Random(f"edits {seed} {mutator.name} {candidate.path}").shuffle(edits)
            for turn, edit in zip(turns, edits, strict=False):
                turn.append(Attempt(candidate, mutator.name, edit))
        yield mutator.name, [attempt for turn in turns for attempt in turn]
