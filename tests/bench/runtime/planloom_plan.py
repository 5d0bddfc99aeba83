"""A whole run: the plan compiled and metered, workers, phases, events, threads, ledger, budget, the shipped client."""

import asyncio
import importlib
import time

from tests.bench.runtime._contestant import AT_ONCE, CALLS, FOLDER, URL, delivered, finish

from planloom.plugins import load_plugins
from planloom.processes import seldom_collected
from planloom.stores import Event
from planloom.testing.looms import loom_at, run_plan

# What a plan's first step would import is imported before the clock starts, as on the other contestants' side.
for _module in (
    "planlang._interp.run",
    "planloom.conversations",
    "planloom.wire._transport",
    "planloom.words",
    "planloom_openai._client",
    "planloom_sqlite._store",
):
    importlib.import_module(_module)

PLAN = """\
answers = parallel([lambda n=n: agent(f"question {n}", label=f"{n}") for n in range(args["calls"])])
result = len([answer for answer in answers if answer is not None])
"""


class Noting:
    """Hears when a worker has its answer."""

    name = "noting"

    def on_event(self, _run: str, event: Event) -> None:
        """Note a worker that is done."""
        if event.type == "run.agent_ended" and event.data["ok"]:
            delivered(int(event.data["label"]))


async def main() -> None:
    """Run the plan, on the answers that are there already."""
    registry = load_plugins()
    began = time.perf_counter()
    async with loom_at(URL, FOLDER / "store.db", registry=registry, in_flight=AT_ONCE, workers=CALLS) as loom:
        outcome = await run_plan(loom, PLAN, cap=10_000, args={"calls": CALLS}, listeners=(Noting(),))
    finish(outcome.result or 0, began)


# As the command line runs plans.
with seldom_collected():
    asyncio.run(main())
