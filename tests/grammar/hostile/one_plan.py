"""Checks and runs one plan from standard input, and prints how it ended as one line of JSON.

A process of its own shows what a plan costs its host: the time it computes, imports included, and the most
memory that the process ever held.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from typing import Any

from tests.grammar.fuzz.conftest import vocabulary

import planlang
from planlang import PlanError, PlanFailed, PlanLimitError, PlanRejected


def ending(source: str) -> dict[str, Any]:
    """Return how the plan ended: refused with codes, at a limit, failed, or with a result."""
    try:
        program = planlang.compile(source, vocabulary())
        outcome = asyncio.run(program.run())
    except PlanRejected as refused:
        return {"end": "refused", "of": [p.code for p in refused.problems if p.severity == "problem"]}
    except PlanLimitError as error:
        return {"end": "limit", "of": error.limit, "line": error.line}
    except PlanFailed as error:
        return {"end": "failed", "of": error.kind, "line": error.line}
    except PlanError as error:
        return {"end": "ended", "of": type(error).__name__}
    return {"end": "result", "steps": outcome.steps}


def cost() -> dict[str, float]:
    """Return the seconds that this process computed, and the most memory it held in bytes."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024
    return {"took_s": used.ru_utime + used.ru_stime, "peak_bytes": used.ru_maxrss * unit}


if __name__ == "__main__":
    how = ending(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    print(json.dumps({**how, **cost()}))
