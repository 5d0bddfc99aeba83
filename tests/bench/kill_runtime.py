"""What ``kill -9`` costs: ``python -m tests.bench.kill_runtime [KILLS]``.

A process asks 2,000 questions through the front door, 250 at once, of a server on this machine that answers after 50
ms. It is killed at random moments and started again, until all is answered; then another run begins, until so many
kills are done. After each kill the store is checked, and what is asked again is counted:

- *delivered*: the answer was handed to who asked; none of these may ever be asked again;
- *parsed*: the client had read the answer, and its commit was perhaps not back;
- *in flight*: sent, with no answer read: the only ones that may cost twice, at most as many as were in flight.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from planloom.clients import Endpoint, ModelClient
from planloom.questions import Question, Reply
from planloom.testing.doors import BUDGET, ENDPOINT, doorway
from planloom.testing.loopback import Received, Served, completion, serving
from planloom_openai import open_client
from planloom_sqlite import check_store, open_store

CALLS, IN_FLIGHT, LATENCY_S = 2_000, 250, 0.05
LONGEST_LIFE_S = 2.5
ALL_ANSWERED = "all answered"


# --- the process that is killed


class _Telling:
    """A client that tells which answers it has read."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        reply = await self._client.ask(question, began=began)
        _tell("parsed", reply.text)
        return reply

    async def close(self) -> None:
        await self._client.close()


def _tell(what: str, text: str = "") -> None:
    os.write(1, f"{what} {text}\n".encode())


async def ask_all(path: str, url: str) -> None:
    """Ask all questions and tell what comes back."""
    store = open_store(path)
    client = _Telling(open_client(Endpoint(name=ENDPOINT, client="openai", url=url)))
    waiting = iter(range(CALLS))
    async with doorway(store, {ENDPOINT: client}, cap=1e6, in_flight=IN_FLIGHT) as door:
        _tell("began")

        async def worker() -> None:
            for number in waiting:
                _tell("delivered", (await door.ask(str(number))).text)

        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    await client.close()
    await store.close()
    _tell(ALL_ANSWERED)


# --- the one that kills


@attrs.define
class Counts:
    """What came of it so far; the loop over lives changes it."""

    kills: int = 0
    kills_in_flight: int = 0
    requests: int = 0
    questions: int = 0
    delivered: int = 0
    delivered_again: int = 0
    parsed: int = 0
    parsed_again: int = 0
    parsed_again_most: int = 0
    in_flight: int = 0
    in_flight_most: int = 0
    uncertain: int = 0
    faults: list[str] = attrs.field(factory=list)


@attrs.define
class Run:
    """One store and one server's view of it, over all lives of the process that asks."""

    folder: Path
    asked: Counter[str] = attrs.field(factory=Counter)
    delivered: set[str] = attrs.field(factory=set)

    @property
    def path(self) -> Path:
        return self.folder / "store.db"

    def answer(self, request: Received) -> Served:
        number = request.json["messages"][-1]["content"]
        self.asked[number] += 1
        return completion(number).after(LATENCY_S)


def one_life(run: Run, url: str, life_s: float | None) -> tuple[bool, dict[str, set[str]]]:
    """Let the process live so long from its first question; return whether all was answered, and what it told."""
    command = [sys.executable, "-m", "tests.bench.kill_runtime", "--ask", str(run.path), url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "began"
    if life_s is not None:
        time.sleep(life_s)
        process.kill()
    output, _ = process.communicate()
    told: dict[str, set[str]] = {"parsed": set(), "delivered": set()}
    for line in output.splitlines(keepends=True):
        what, _, text = line.strip().partition(" ")
        if line.endswith("\n") and what in told:  # the last line may be cut
            told[what].add(text)
    return ALL_ANSWERED in output, told


def after_a_kill(run: Run, counts: Counts, told: dict[str, set[str]]) -> None:
    """Look at what the killed process left behind."""

    async def look() -> None:
        store = open_store(run.path)
        books, uncertain = store.books(BUDGET), store.uncertain_calls(BUDGET)
        await store.close()
        if books.reserved or books.uncertain != sum(call.worst for call in uncertain):
            counts.faults.append(f"after kill {counts.kills}: {books}")
        counts.uncertain = len(uncertain)

    before = counts.uncertain
    asyncio.run(look())
    counts.faults += [f"after kill {counts.kills}: {fault}" for fault in check_store(run.path)]
    left_open = counts.uncertain - before
    counts.kills_in_flight += left_open > 0
    counts.in_flight += left_open
    counts.in_flight_most = max(counts.in_flight_most, left_open)
    run.delivered |= told["delivered"]


def until_all_is_answered(run: Run, counts: Counts, kills: int) -> None:
    """Kill a run again and again until it is whole; count what was asked more than once."""
    moments, open_parsed = random.Random(counts.kills), set[str]()
    counts.uncertain = 0
    with serving(run.answer) as server:
        for _ in itertools.count():
            before = Counter(run.asked)
            life_s = moments.uniform(0, LONGEST_LIFE_S) if counts.kills < kills else None
            whole, told = one_life(run, server.url, life_s)
            _count_again(run, counts, before, open_parsed)
            if whole:
                break
            counts.kills += 1
            open_parsed = told["parsed"] - told["delivered"]
            counts.parsed += len(open_parsed)
            after_a_kill(run, counts, told)
    counts.requests += sum(run.asked.values())
    counts.questions += CALLS
    counts.delivered += len(run.delivered)


def _count_again(run: Run, counts: Counts, before: Counter[str], open_parsed: set[str]) -> None:
    """Count what this life asked that earlier ones had an answer to."""
    asked_now = set(run.asked - before)
    counts.delivered_again += len(asked_now & run.delivered)
    again = len(asked_now & open_parsed)
    counts.parsed_again += again
    counts.parsed_again_most = max(counts.parsed_again_most, again)


def measure(kills: int) -> dict[str, Any]:
    """Return what came of so many kills."""
    counts = Counts()
    while counts.kills < kills:
        with tempfile.TemporaryDirectory(prefix="planloom-kill-") as folder:
            until_all_is_answered(Run(Path(folder)), counts, kills)
    return attrs.asdict(counts) | {"requests_over_questions": counts.requests - counts.questions}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        asyncio.run(ask_all(*sys.argv[2:]))
    else:
        print(json.dumps(measure(int(sys.argv[1]) if sys.argv[1:] else 100), indent=2))
