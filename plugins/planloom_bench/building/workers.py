"""Several provers at work, their results in the order of the work.

What comes out depends on the work alone: no result is used before its turn, however the provers' times fall.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import TypeVar

from planloom_bench.proving import FreshProver, Job, Outcome, Prover, open_prover
from planloom_bench.proving.inside.jobs import LOST, TIMED_OUT

from .journal import Journal

__all__ = ["Proofs", "Workers"]

Work = TypeVar("Work")
Result = TypeVar("Result")


class Proofs:
    """One prover with the journal in front of it."""

    def __init__(self, prover: Prover, journal: Journal, stopping: threading.Event) -> None:
        self._prover = prover
        self._journal = journal
        self._stopping = stopping

    def prove(self, job: Job, turn: int = 0, *, patient: bool = True) -> Outcome:
        """How the job goes; a job that is lost is tried once more, and one that is too slow where ``patient``.

        :param turn: tells runs of the same job apart.
        """
        known = self._journal.find(job, turn)
        if known is not None:
            return known
        outcome = self._prover.prove(job)
        if outcome.fate == TIMED_OUT and patient:
            outcome = self._prover.prove(job)
        elif outcome.fate == LOST and not self._stopping.is_set():
            outcome = FreshProver().prove(job)
        if self._stopping.is_set():
            raise CancelledError("the build is being stopped")
        self._journal.add(job, turn, outcome)
        return outcome

    def prove_cold(self, job: Job) -> Outcome:
        """How the job goes in an interpreter that has seen nothing else; never from the journal."""
        return FreshProver().prove(job)


class Workers:
    """Owns the provers, one a thread; close it to end them."""

    def __init__(self, journal: Journal, count: int | None = None) -> None:
        count = count or _processors()
        self._stopping = threading.Event()
        self._provers = [open_prover() for _ in range(count)]
        self._idle: SimpleQueue[Proofs] = SimpleQueue()
        for prover in self._provers:
            self._idle.put(Proofs(prover, journal, self._stopping))
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="proof")

    def each(self, work: Iterable[Work], do: Callable[[Proofs, Work], Result]) -> Iterable[Result]:
        """The results of all pieces of work, in their order, each as soon as it and those before it are there."""

        def with_prover(piece: Work) -> Result:
            proofs = self._idle.get()
            try:
                return do(proofs, piece)
            finally:
                self._idle.put(proofs)

        return self._threads.map(with_prover, work)

    def close(self) -> None:
        """End the provers; what has not begun is dropped."""
        self._stopping.set()
        for prover in self._provers:
            prover.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
