"""In which order files are tried: by seed, and spread over the folders and sizes of the library."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest

from .candidates import Candidate

__all__ = ["spread"]

_SIZES = 3


def spread(candidates: Sequence[Candidate], seed: int) -> tuple[Candidate, ...]:
    """The candidates in turn from every folder and third of sizes, each group and the groups shuffled by ``seed``."""
    by_size = sorted(candidates, key=lambda candidate: (candidate.source.line_count, candidate.path))
    groups: defaultdict[tuple[str, int], list[Candidate]] = defaultdict(list)
    for rank, candidate in enumerate(by_size):
        groups[candidate.path.rpartition("/")[0], rank * _SIZES // len(by_size)].append(candidate)
    draw = random.Random(f"files {seed}")
    ordered = [sorted(groups[key], key=lambda candidate: candidate.path) for key in sorted(groups)]
    for group in ordered:
        draw.shuffle(group)
    draw.shuffle(ordered)
    rows = chain.from_iterable(zip_longest(*ordered))
    return tuple(candidate for candidate in rows if candidate is not None)
