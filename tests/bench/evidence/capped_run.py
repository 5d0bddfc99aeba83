"""One of several runs under one cap: ``capped_run.py STORE URL FIRST WORKERS CAP PRICE FOUND``.

Asks WORKERS questions from number FIRST on, with the books that all share, and waits at the cap. At every event of its
stream it looks at the books as they are then; what it saw is written to FOUND when it ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import attrs

from planloom.listeners import Listener
from planloom.money import Price, micro_of
from planloom.plugins import load_plugins
from planloom.processes import seldom_collected
from planloom.stores import Event, Store
from planloom.testing.looms import PRICE, loom_at, run_plan

BUDGET = "shared"
IN_FLIGHT = 64
PRICES = {"flat": PRICE, "by tokens": Price(input=micro_of(1_000), output=micro_of(4_000))}
"""A flat price is what is reserved; one by tokens is reserved at its most, and comes to a fraction of that."""
PLAN = """\
answers = parallel([lambda n=n: agent(f"question {n}", label=f"{n}") for n in range(args["first"], args["end"])])
result = len([answer for answer in answers if answer is not None])
"""


@attrs.define
class Watch:
    """The books at every event, and what the events themselves say of them."""

    store: Store
    events: int = 0
    over: int = 0
    most: int = 0
    ended_credits: float = 0.0

    def hear(self, _run: str, event: Event) -> None:
        """Look at the books."""
        books = self.store.books(BUDGET)
        held = books.spent + books.reserved + books.uncertain
        self.events += 1
        self.most = max(self.most, held)
        self.over += held > books.cap
        if event.type in ("run.budget_paused", "run.budget_raised"):
            self.over += event.data["spent"] + event.data["reserved"] > event.data["cap"] + 1e-9
        if event.type == "run.agent_ended":
            self.ended_credits += event.data["credits"]


async def main(store: str, url: str, first: int, workers: int, cap: float, price: str, found: str) -> None:
    """Run to the end, waiting at the cap."""
    async with loom_at(url, store, price=PRICES[price], in_flight=IN_FLIGHT, workers=workers) as loom:
        watch = Watch(loom.store)
        outcome = await run_plan(
            loom,
            PLAN,
            cap=cap,
            args={"first": first, "end": first + workers},
            budget=BUDGET,
            on_cap="wait",
            listeners=[Listener(name="watch", on_event=watch.hear)],
        )
    told: dict[str, Any] = attrs.asdict(watch, filter=lambda field, _: field.name != "store")
    told |= {"status": outcome.status, "result": outcome.result, "holes": outcome.holes}
    Path(found).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    load_plugins()
    with seldom_collected():
        given = sys.argv
        asyncio.run(main(given[1], given[2], int(given[3]), int(given[4]), float(given[5]), given[6], given[7]))
