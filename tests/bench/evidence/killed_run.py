"""The run that is killed: ``killed_run.py STORE URL WORKERS AT_ONCE NOTES``.

Begins the run, or goes on with it where the store has it, as the command line would. Every answer that the client has
read, and every one that a worker of the plan was handed, is noted in a file at once: what a killed process wrote is
there.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from types import SimpleNamespace

import attrs

from planloom.api import open_with
from planloom.clients import ClientPlugin, Endpoint, ModelClient
from planloom.hookspecs import hookimpl
from planloom.listeners import Listener
from planloom.plugins import load_plugins
from planloom.processes import seldom_collected
from planloom.questions import Question, Reply
from planloom.settings import Settings
from planloom.stores import Event
from planloom.testing.looms import settings_at
from planloom_openai import open_client

CAP = 1_000_000.0
PLAN = """\
answers = parallel([lambda n=n: agent(f"question {n}", label=f"{n}") for n in range(args["workers"])])
result = len([answer for answer in answers if answer is not None])
"""


class _Notes:
    """A file of lines ``parsed 17`` and ``delivered 17``, each written in one go."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, what: str, number: str) -> None:
        os.write(self._file, f"{what} {number}\n".encode())


class _NotingClient:
    """The client that ships, and a note of each answer that it has read."""

    def __init__(self, client: ModelClient, notes: _Notes) -> None:
        self._client, self._notes = client, notes

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        reply = await self._client.ask(question, began=began)
        self._notes.note("parsed", reply.text)
        return reply

    async def close(self) -> None:
        await self._client.close()


def _plugin(notes: _Notes) -> SimpleNamespace:
    @hookimpl
    def register_clients(register: Callable[[ClientPlugin], None]) -> None:
        def opened(endpoint: Endpoint) -> ModelClient:
            return _NotingClient(open_client(endpoint), notes)

        register(ClientPlugin(name="noting", summary="notes what it reads", open=opened))

    @hookimpl
    def register_listeners(register: Callable[[Listener], None]) -> None:
        def hear(_run: str, event: Event) -> None:
            if event.type == "run.agent_ended" and event.data["ok"]:
                notes.note("delivered", event.data["label"])

        register(Listener(name="noting", on_event=hear))

    return SimpleNamespace(register_clients=register_clients, register_listeners=register_listeners)


def settings_of(store: str, url: str, workers: int, at_once: int) -> Settings:
    """Return settings whose one endpoint is asked by the client that notes."""
    settings = settings_at(url, store, in_flight=at_once, workers=workers)
    noting = attrs.evolve(settings.endpoints["main"], client="noting")
    return attrs.evolve(settings, endpoints={"main": noting})


async def main(store: str, url: str, workers: int, at_once: int, notes: str) -> None:
    """Begin the run or go on with it, to its end."""
    registry = load_plugins([("noting", _plugin(_Notes(notes)))])
    async with open_with(registry, settings_of(store, url, workers, at_once)) as loom:
        runs = loom.runs()
        if runs and runs[0].status == "completed":
            return  # it was killed behind its last write
        if runs:
            run = await loom.resume(runs[0].id)
        else:
            run = await loom.start(PLAN, args={"workers": workers}, cap=CAP, approve=True)
        outcome = await run
    if outcome.status != "completed" or outcome.result != workers or outcome.holes:
        sys.exit(f"{outcome.run_id} is {outcome.status} with {outcome.result} answers: {outcome.error}")


if __name__ == "__main__":
    with seldom_collected():  # as the command line runs plans
        asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]))
