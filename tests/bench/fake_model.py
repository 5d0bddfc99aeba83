"""A model on loopback, for benchmarks: it answers every scan with one finding, after a fixed time.

Run as ``python fake_model.py LATENCY_S``; it prints its address and serves until its input ends.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

from planloom.testing.loopback import LoopbackServer, Received, completion
from planloom.testing.loopback import Served as Answer

_SHOWN_FILE = re.compile(rb"### ([\w/.-]+\.py)")


def answering(latency_s: float) -> LoopbackServer:
    """Return a server that takes that long for every answer."""

    def answer(request: Received) -> Answer:
        shown = _SHOWN_FILE.search(request.body)
        return completion(json.dumps(_scan(shown[1].decode()) if shown else _report())).after(latency_s)

    return LoopbackServer(answer)


def _scan(path: str) -> dict[str, object]:
    claim = "the guard is one off"
    return {"findings": [{"file": path, "line": 5, "claim": claim, "failing_call": "f(0)", "confidence": 0.5}]}


def _report() -> dict[str, object]:
    return {"bugs": [{"ids": ["C1"], "severity": "low", "title": "one"}], "summary": "as expected"}


async def _serve(latency_s: float) -> None:
    async with answering(latency_s) as server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
