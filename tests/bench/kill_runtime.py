"""What ``kill -9`` costs a run: ``python -m tests.bench.bench_runtime --only kills``.

A run of 2,000 workers, 500 at once, is killed with its whole process group at a random moment, resumed, killed again,
until it is whole; then the next one, until there were a hundred kills. Every other run's answers come in bursts. After
each kill a copy of the store is looked at as it lies there, and again as the next process finds it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
from tests.bench.evidence._books import Ledger, copy_of, is_made, read_ledger
from tests.bench.evidence._section import Row, Section, table

from planloom.api import open_with
from planloom.plugins import load_plugins
from planloom.testing.looms import PRICE, settings_at
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, serving
from planloom_sqlite import check_store, open_store

KINDS = ("steady", "burst")
STEADY_S = (0.025, 0.075)
"""How long an answer takes."""
BURST_S = 0.25
"""Answers of a burst leave together, so often."""
LONGEST_LIFE_S = 3.0
"""From the first question of a life to its kill, at most."""
EARLY_SHARE, EARLY_S = 0.2, 1.5
"""Some are killed so long after their process began, asked or not: while they start, or read what there is."""
PATIENCE_S = 120.0
LOOK_S = 0.002


@attrs.define
class Counts:
    """What came of it so far; the loop over lives changes it.

    :ivar parsed_uncommitted: answers that the client had read, and whose commit was not on the disk.
    :ivar sent: calls that were in flight at a kill, by the ledger: what may cost twice.
    """

    runs: int = 0
    kills: int = 0
    kills_in_flight: int = 0
    questions: int = 0
    requests: int = 0
    sent: int = 0
    sent_most: int = 0
    delivered: int = 0
    delivered_again: int = 0
    committed: int = 0
    committed_again: int = 0
    parsed_uncommitted: int = 0
    parsed_again: int = 0
    uncertain_credits: float = 0.0
    faults: list[str] = attrs.field(factory=list)


@attrs.define
class KilledRun:
    """One run over all lives of its processes, and the server's view of it."""

    folder: Path
    kind: str
    workers: int
    at_once: int
    lives: int = 0
    delivered: set[str] = attrs.field(factory=set)
    committed: set[str] = attrs.field(factory=set)
    parsed_only: set[str] = attrs.field(factory=set)
    sent: set[int] = attrs.field(factory=set)

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    @property
    def notes(self) -> Path:
        """Where the life that goes on, or was the last, notes what it has."""
        return self.folder / f"notes-{self.lives}.txt"

    def answer(self, request: Received) -> Served:
        """Answer as a server of this kind does."""
        number = request.question.split()[-1]
        late = random.Random(number).uniform(*STEADY_S) if self.kind == "steady" else BURST_S - time.time() % BURST_S
        return completion(number).after(late)

    def begin(self, url: str) -> subprocess.Popen[bytes]:
        """Start a process that drives it, in a group of its own."""
        self.lives += 1
        script = Path(__file__).with_name("evidence") / "killed_run.py"
        given = (str(self.store), url, str(self.workers), str(self.at_once), str(self.notes))
        with (self.folder / "said.txt").open("ab") as said:
            return subprocess.Popen(
                [sys.executable, str(script), *given], stdout=said, stderr=said, start_new_session=True
            )

    def noted(self, what: str) -> set[str]:
        """Return the questions of which the last life noted something."""
        lines = self.notes.read_text(encoding="utf-8").splitlines() if self.notes.exists() else []
        return {line.split()[1] for line in lines if line.startswith(what)}


def one_life(run: KilledRun, server: LoopbackServer, moments: random.Random, *, kill: bool) -> bool:
    """Drive the run until its process is killed or ends; return whether it was killed.

    :raises RuntimeError: it ended otherwise than whole.
    """
    before, process = server.total, run.begin(server.url)
    try:
        if kill and moments.random() < EARLY_SHARE:
            _wait(process, moments.uniform(0.1, EARLY_S))
        elif kill:
            until = time.monotonic() + PATIENCE_S
            while process.poll() is None and server.total == before and time.monotonic() < until:
                time.sleep(LOOK_S)
            _wait(process, moments.uniform(0, LONGEST_LIFE_S))
        else:
            _wait(process, PATIENCE_S)
    finally:
        ended = process.poll()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if ended not in (0, None) or (ended is None and not kill):
        said = (run.folder / "said.txt").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"a run ended with {ended}: {said[-1_500:]}")
    return ended is None


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def after_a_kill(run: KilledRun, server: LoopbackServer, counts: Counts) -> None:
    """Look at what the killed processes left behind, in a copy."""
    run.delivered |= run.noted("delivered")
    if not run.store.exists():
        return
    with tempfile.TemporaryDirectory(prefix="planloom-left-") as folder:
        copy = copy_of(run.store, Path(folder))
        if not is_made(copy):
            return
        as_left = read_ledger(copy)
        faults = [*as_left.faults, *check_store(copy), *_unrecorded(as_left, server)]
        faults += asyncio.run(_opened_again(copy))
        faults += read_ledger(copy).faults
    counts.faults += [f"after kill {counts.kills}: {fault}" for fault in faults]
    # A life that was too short to write left those of the one before it as they were.
    sent = as_left.states.get("sent", set()) - run.sent
    run.sent |= sent
    counts.sent += len(sent)
    counts.sent_most = max(counts.sent_most, len(sent))
    counts.kills_in_flight += bool(sent)
    run.committed |= as_left.answered
    parsed_only = run.noted("parsed") - as_left.answered
    run.parsed_only |= parsed_only
    counts.parsed_uncommitted += len(parsed_only)


def _unrecorded(ledger: Ledger, server: LoopbackServer) -> Iterator[str]:
    """Yield the questions that were sent without a row that says so: a killed process would not know of them."""
    for text, asked in list(server.asked.items()):
        number = text.split()[-1]
        if asked > ledger.calls.get(number, 0):
            yield f"question {number} was sent {asked} times and has {ledger.calls.get(number, 0)} calls"


async def _opened_again(copy: Path) -> list[str]:
    """Open a store as the next process does; return what it says of calls in flight that is not so."""
    before, faults = read_ledger(copy).states, list[str]()
    cut_off = len(before.get("sent", ())) + len(before.get("uncertain", ()))
    store = open_store(copy)
    for run in store.runs():
        books = await store.open_budget(run.budget, 0)
        uncertain = store.uncertain_calls(run.budget)
        if books.reserved:
            faults.append(f"{books.reserved} micro-credits stay reserved for a process that is gone")
        if len(uncertain) != cut_off:
            faults.append(f"{cut_off} calls that were cut off became {len(uncertain)} of unknown outcome")
        if books.uncertain != len(uncertain) * PRICE.call:
            faults.append(f"{len(uncertain)} calls of unknown outcome are charged {books.uncertain} micro-credits")
    await store.close()
    return faults


def until_it_is_whole(run: KilledRun, counts: Counts, kills: int) -> None:
    """Kill a run again and again until it is whole; count what was asked more than once."""
    # Of each run others: one that is whole before its moment comes must not be followed by the same for ever.
    moments = random.Random(counts.runs)
    with serving(run.answer) as server:
        for _ in itertools.count():
            before = Counter(server.asked)
            killed = one_life(run, server, moments, kill=counts.kills < kills)
            _count_again(run, counts, {text.split()[-1] for text in server.asked - before})
            if not killed:
                break
            counts.kills += 1
            after_a_kill(run, _when_noticed(server), counts)
        _count_whole(run, counts, server)


def _when_noticed(server: LoopbackServer) -> LoopbackServer:
    """Return the server when it has seen that its clients are gone."""
    until = time.monotonic() + 5.0
    while server.in_flight and time.monotonic() < until:
        time.sleep(LOOK_S)
    return server


def _count_again(run: KilledRun, counts: Counts, asked: set[str]) -> None:
    """Count what this life asked though earlier ones had its answer."""
    counts.delivered_again += len(asked & run.delivered)
    counts.committed_again += len(asked & run.committed)
    counts.parsed_again += len(asked & run.parsed_only)
    run.parsed_only -= asked  # counted once


def _count_whole(run: KilledRun, counts: Counts, server: LoopbackServer) -> None:
    """Count a run that is whole, and hold it against what it may have cost."""
    ledger, faults = read_ledger(run.store), check_store(run.store)
    faults += ledger.faults
    if server.total > run.workers + len(run.sent):
        faults.append(f"{server.total} requests for {run.workers} questions, and {len(run.sent)} in flight at kills")
    found = {state: len(calls) for state, calls in ledger.states.items()}
    if ledger.states.get("uncertain", set()) != run.sent or found.get("settled") != run.workers or len(found) > 2:
        faults.append(f"of {run.workers} questions and {len(run.sent)} calls in flight at kills the ledger has {found}")
    faults += asyncio.run(_told(run, server.url))
    counts.faults += [f"run {counts.runs}: {fault}" for fault in faults]
    counts.runs += 1
    counts.questions += run.workers
    counts.requests += server.total
    counts.delivered += len(run.delivered)
    counts.committed += len(run.committed)
    counts.uncertain_credits += len(run.sent) * PRICE.call / 1e6


async def _told(run: KilledRun, url: str) -> list[str]:
    """Return where a run's record, or its replay, says anything else than what came of it."""
    settings = settings_at(url, run.store, in_flight=run.at_once, workers=run.workers)
    async with open_with(load_plugins(), settings) as loom:
        (whole,) = loom.runs()
        replayed = await loom.replay(whole.id)
        cost = whole.record.facts["cost"]
    wanted = {"paid": run.workers * PRICE.call, "uncertain": len(run.sent) * PRICE.call}
    told = {name: cost[name] for name in wanted}
    faults = [] if told == wanted else [f"its record says {told}, not {wanted}"]
    return faults if replayed.equal else [*faults, replayed.said]


def measure(small: bool = False) -> dict[str, Any]:
    """Return what came of a hundred kills, or of a few."""
    kills, workers, at_once = (6, 300, 60) if small else (100, 2_000, 500)
    counts = Counts()
    while counts.kills < kills:
        with tempfile.TemporaryDirectory(prefix="planloom-kill-") as folder:
            kind = KINDS[counts.runs % len(KINDS)]
            run = KilledRun(Path(folder), kind, workers, at_once)
            until_it_is_whole(run, counts, kills)
    return {"workers": workers, "at_once": at_once} | attrs.asdict(counts)


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the figures as rows."""
    over = found["requests"] - found["questions"]
    yield "kills, and how many of them met calls in flight", f"{found['kills']}, {found['kills_in_flight']}", ""
    yield "answers that the plan had when it was killed, asked again", _of(found, "delivered_again", "delivered"), "0"
    yield "answers that were committed, asked again", _of(found, "committed_again", "committed"), "0"
    yield "answers read and not yet committed, asked again", _of(found, "parsed_again", "parsed_uncommitted"), ""
    yield f"requests beyond the {found['questions']:,} questions", f"{over:,}", f"at most {found['sent']:,} in flight"
    unsure = f"{found['sent']:,} calls, {found['uncertain_credits']:,.1f} credits"
    yield "of unknown outcome, charged at their worst price", unsure, "all of them"
    yield "books, rows, events, records or replays that were not right", str(len(found["faults"])), "0"


def _of(found: dict[str, Any], some: str, whole: str) -> str:
    return f"{found[some]:,} of {found[whole]:,}"


SECTION = Section(
    name="kills",
    title="Killed a hundred times",
    about=(
        "Runs of 2,000 workers, 500 at once, are killed with `kill -9` at random moments, a fifth of them while they "
        "start or are read again, and resumed until they are whole.",
        "Half of the runs get steady answers of 25 to 75 ms, half get bursts of up to 500 answers at once.",
        "After every kill the store's own check, sums over its rows in plain SQL, and the server's count of each "
        "question are compared; of a finished run the record's costs and a replay.",
    ),
    measure=measure,
    lines=table(rows),
)
