"""Proofs that were made already, so that a build that was stopped goes on where it was.

A line a proof, by the hash of all that decides it: the whole library, the text that was put in, the Python that ran it.
A last line that was cut off is passed over.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from planloom_bench.proving import Job, Outcome
from planloom_bench.proving.inside.jobs import outcome_from
from planloom_code import SourceFile

__all__ = ["Journal", "digest_of"]

_NAME = "proofs.jsonl"
# Changes whenever a proof is run or counted in another way.
_FORMAT = "2"


def digest_of(files: Iterable[SourceFile]) -> str:
    """One hash over the paths and contents of a library's files."""
    rows = sorted((file.path, file.sha256) for file in files)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


class Journal:
    """The proofs of one library, in a folder or in memory alone. Any number of threads may read and add."""

    def __init__(self, folder: Path | None, digest: str) -> None:
        self._digest = digest
        self._known: dict[str, Outcome] = {}
        self._lock = threading.Lock()
        self._file: IO[str] | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / _NAME
            self._known = dict(_read(path))
            self._file = path.open("a", encoding="utf-8")
            # Begins a line of its own where the last one was cut off.
            self._file.write("\n" if path.stat().st_size else "")

    def find(self, job: Job, turn: int) -> Outcome | None:
        """The outcome of the job's ``turn``-th run."""
        return self._known.get(self._key(job, turn))

    def add(self, job: Job, turn: int, outcome: Outcome) -> None:
        """Keep an outcome."""
        key = self._key(job, turn)
        with self._lock:
            self._known[key] = outcome
            if self._file is not None:
                self._file.write(json.dumps([key, outcome._asdict()]) + "\n")
                self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _key(self, job: Job, turn: int) -> str:
        # Without the limit: it comes from a time, and a time is never the same twice.
        parts = [_FORMAT, sys.version, self._digest, turn, job._replace(limit_s=0, text="")]
        digest = hashlib.sha256(json.dumps(parts).encode())
        digest.update(job.text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def _read(path: Path) -> Iterable[tuple[str, Outcome]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            key, outcome = json.loads(line)
            yield key, outcome_from(json.dumps(outcome).encode())
        except (ValueError, TypeError):
            continue
