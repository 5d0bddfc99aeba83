"""What is asked for together: its order, and how much of it goes into one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ._operations import Flush, MarkUncertain, Operation, Release, Reserve, Settle
from ._run_operations import AppendEvents, SaveThreads
from ._waits import MarkSent, MarkWaiting

__all__ = ["LOT", "MOST_ROWS", "Waiter", "in_order", "is_small"]

LOT = 128
"""Operations of one turn of the loop that need not wait for its end."""

Waiter = tuple[Operation, asyncio.Future[Any] | None]
"""An operation and who awaits it; nobody, when the store itself asked."""

_MOST_OPERATIONS = 4 * LOT
"""In a small lot."""
_MOST_SIZE = 64_000
"""Of the texts in a small lot, as UTF-8 or in characters: some 3 ms to pack, which needs no lock of Python's."""

MOST_ROWS = 256
"""Rows of threads and events in a commit that calls wait for, unless a single operation has more."""
_ROWS_A_CALL = 2
"""The same for each question and each answer in it, where they are many: a worker leaves one of both and three rows. If
fewer were written at a time they would pile up in memory: 25 MB of 50,000 workers whose model answers at once."""
MOST_ROWS_ALONE = 1_024
"""The same in a commit that none waits for, though one may come meanwhile: on the thread."""

_MOST_ROWS_HERE = 2 * MOST_ROWS
"""In a small lot: some 5 ms."""

_SHORT = frozenset({Flush, MarkSent, MarkUncertain, MarkWaiting, Release})


def is_small(lot: Sequence[Waiter]) -> bool:
    """Whether a lot takes some milliseconds at most: calls with short texts, and few rows."""
    if len(lot) > _MOST_OPERATIONS:
        return False
    size = rows = 0
    for operation, _ in lot:
        if isinstance(operation, Settle):
            size += len(operation.reply.text)
        elif isinstance(operation, Reserve):
            for part in operation.question.large:
                size += part.size_bytes
        elif isinstance(operation, SaveThreads):
            rows += operation.rows
            try:
                size += operation.size_up_to(_MOST_SIZE)
            except Exception:  # whose fault that is is told where it is packed
                return False
        elif isinstance(operation, AppendEvents):
            rows += operation.rows
        elif type(operation) not in _SHORT:
            return False
        if rows > _MOST_ROWS_HERE or size > _MOST_SIZE:
            return False
    return True


def in_order(lot: Sequence[Waiter], *, most_alone: int = MOST_ROWS_ALONE) -> tuple[list[Waiter], list[Waiter]]:
    """Return what to write now, in order of rank, and what later: of threads and events only so many rows at a time,
    for who has an answer or a question must not wait for hundreds of them.

    A question whose asker was cancelled is left out.

    :param most_alone: rows of threads and events where nothing else is to be written.
    """
    frees, takes, records, ends = _by_rank(lot)
    later: list[Waiter] = []
    if records and not ends and not any(isinstance(operation, Flush) for operation, _ in records):
        calls = len(frees) + len(takes)
        records, later = _shortened(records, max(MOST_ROWS, _ROWS_A_CALL * calls) if calls else most_alone)
    return [*frees, *takes, *records, *ends], later


def _by_rank(lot: Sequence[Waiter]) -> tuple[list[Waiter], ...]:
    """Return what is to be written, by rank, each in the order in which it was asked for."""
    ranks: tuple[list[Waiter], ...] = ([], [], [], [])
    for waiter in lot:
        operation, future = waiter
        if future is not None and future.cancelled() and isinstance(operation, Reserve):
            continue
        ranks[operation.rank].append(waiter)
    return ranks


def _shortened(records: Sequence[Waiter], most: int) -> tuple[list[Waiter], list[Waiter]]:
    """Return what to write now and what later, each in the order in which it was asked for.

    :param most: how many rows of threads and events to write, unless a single operation has more.
    """
    now: list[Waiter] = []
    later: list[Waiter] = []
    rows = 0
    for waiter in records:
        operation = waiter[0]
        if isinstance(operation, (SaveThreads, AppendEvents)):
            rows += operation.rows
            if later or (rows > most and rows > operation.rows):
                later.append(waiter)
                continue
        now.append(waiter)
    return now, later
