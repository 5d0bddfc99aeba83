"""Checks and runs one plan from standard input, and prints how it ended as one line of JSON.

A process of its own shows what a plan costs its host: wall time from the first line of Python, and the most memory the
process ever held.
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


def peak_bytes() -> int:
    """Return the most memory that this process held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    how = ending(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
    print(json.dumps({**how, "peak_bytes": peak_bytes()}))
