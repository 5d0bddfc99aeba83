"""A model on loopback that counts what it is asked; the benchmarks' one server, for all that are compared.

Run as ``python counting_model.py LATENCY_S``; it prints its address and serves until its input ends. ``GET /stats``
tells the counts so far, and how often each question was asked.
"""

from __future__ import annotations

import asyncio
import sys

from planloom.testing.loopback import LoopbackServer, Received, Served, completion, json_answer

STATS = "/stats"


class CountingModel(LoopbackServer):
    """Answers every question after a fixed time.

    :ivar finished: questions whose answer was on its way.
    """

    def __init__(self, latency_s: float) -> None:
        super().__init__(self._answer)
        self._latency_s = latency_s

    def count(self, request: Received) -> None:
        """Book a question; a look at the counts is none."""
        if request.target != STATS:
            super().count(request)
        else:
            self.in_flight += 1

    def _answer(self, request: Received) -> Served:
        if request.target == STATS:
            return json_answer(
                {
                    "total": self.total,
                    "in_flight": self.in_flight - 1,
                    "max_in_flight": self.max_in_flight,
                    "asked": dict(self.asked),
                }
            )
        return completion(f"ok: {request.question[:64]}").after(self._latency_s)


async def _serve(latency_s: float) -> None:
    async with CountingModel(latency_s) as server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
