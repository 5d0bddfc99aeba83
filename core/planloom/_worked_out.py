"""What was worked out for a job, kept with its runs so that the next one need not work it out again.

Each thing stands under its name, with a key that says what it rests on: :meth:`planloom.loom.Loom.recall` gives it back
where that is still the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from .job import Job

__all__ = ["with_worked_out"]

_FACT = "worked_out"


def with_worked_out(job: Job, name: str, key: str, value: Any, before: Mapping[str, Any] | None = None) -> Job:
    """Return a job that keeps something under a name, beside what it has already.

    :param before: the facts of the run that it goes on with, if any.
    """
    known = {**(before or {}).get(_FACT, {}), **job.facts.get(_FACT, {})}
    return attrs.evolve(job, facts={**job.facts, _FACT: {**known, name: {"key": key, "value": value}}})
