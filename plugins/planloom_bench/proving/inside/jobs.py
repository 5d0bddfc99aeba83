"""What is to be proved, and how it went, as one line of JSON each."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

RAN = "ran"
MISSING_MODULE = "missing module"
NO_IMPORT = "no import"
NOT_LOADED = "not loaded"
NOT_COLLECTED = "not collected"
NOT_RUN = "not run"
TIMED_OUT = "timed out"
ENDED = "ended"
KILLED = "killed"
FLOODED = "flooded"
LOST = "lost"


class Job(NamedTuple):
    """Run the examples of one module, with ``text`` in the place of its file.

    :ivar path: the file, absolute.
    :ivar first: folders put first on the import path; ``last`` are put last.
    :ivar trees: folders with a slash at their ends whose modules are compiled from source and kept compiled.
    :ivar flags: the bits of doctest's options.
    :ivar limit_s: seconds of processor time; five times as long on the wall clock.
    """

    path: str
    text: str
    module: str
    first: tuple[str, ...]
    last: tuple[str, ...]
    trees: tuple[str, ...]
    flags: int
    limit_s: float
    seed: int = 0


class Outcome(NamedTuple):
    """How one proof went.

    :ivar fate: ``ran``, or one of the other words above for why the examples could not all be run.
    :ivar failed: how many examples failed, of ``total`` that ran.
    :ivar cpu_s: processor time, with the import.
    :ivar detail: the first failure, the exception, the exit code or the signal, in a few words.
    :ivar refused: what the code tried and was not allowed.
    :ivar compiled: files of the trees that were compiled for this proof; of use to the server alone, as the next.
    :ivar imported: modules of the standard library that were imported for this proof.
    """

    fate: str
    failed: int = 0
    total: int = 0
    cpu_s: float = 0.0
    detail: str = ""
    refused: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()


def job_from(line: bytes) -> Job:
    """The job that a line holds."""
    return Job(**_fields(json.loads(line)))


def outcome_from(line: bytes) -> Outcome:
    """The outcome that a line holds.

    :raises ValueError: the line holds none.
    """
    raw = json.loads(line)
    if not isinstance(raw, dict):
        raise ValueError(f"an outcome is an object, got {type(raw).__name__}")
    try:
        return Outcome(**_fields(raw))
    except TypeError as error:
        raise ValueError(str(error)) from error


def _fields(raw: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()}


def to_line(value: Job | Outcome) -> bytes:
    """The job or the outcome as one line."""
    return json.dumps(value._asdict()).encode() + b"\n"
