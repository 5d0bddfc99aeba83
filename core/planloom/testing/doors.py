"""A front door for tests of what goes through it: a real store and a real budget, every event kept.

    async with doorway(store, {"main": client}, cap=5.0) as door:
        reply = await door.ask("is it so?")

Questions are asked as role ``worker`` of the endpoint ``main``, at 0.2 credits a call unless another price is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from planloom._abort import Abort
from planloom._budget_line import BudgetLine, OnCap
from planloom._disk import Disk
from planloom._lanes import Lane
from planloom._pauses import Pauses
from planloom._slots import Slots
from planloom.clients import ClientPlugin, Endpoint, ModelClient
from planloom.front_door import Asker, Effort, FrontDoor, Mode
from planloom.money import Price, micro_of
from planloom.plugins import load_plugins
from planloom.questions import Parameters, Question, Reply, message_of
from planloom.settings import AtQuota, RoleSettings
from planloom.stores import Store, StorePlugin

from .clocks import run_fast
from .loopback import LoopbackServer, Script

__all__ = ["BUDGET", "ENDPOINT", "Doorway", "at_the_door", "doorway", "worker_role"]

Scenario = Callable[[Any, LoopbackServer], Coroutine[Any, Any, None]]
"""What happens at a door: gets the :class:`Doorway` and the server behind it."""

BUDGET = "job"
ENDPOINT = "main"
_TIMEOUTS = ("connect", "first_byte", "between_bytes", "total")


def worker_role(price: Price | None = None, max_tokens: int = 100) -> RoleSettings:
    """Return the settings of a role ``worker`` of the endpoint ``main``."""
    price = price or Price(call=micro_of(0.2))
    parameters = {"max_tokens": max_tokens}
    return RoleSettings(name="worker", endpoint=ENDPOINT, model="m-1", price=price, parameters=parameters)


class Doorway:
    """A front door with its events; made by :func:`doorway`.

    :ivar events: (type, fields) in order. :ivar pauses: at what the run was said to be paused, ``None`` for running.
    """

    def __init__(
        self,
        store: Store,
        clients: Mapping[str, ModelClient],
        role: RoleSettings,
        *,
        budget: str,
        on_cap: OnCap,
        mode: Mode,
        in_flight: int,
        at_quota: AtQuota,
        warms: bool | None,
        hedge_after_s: float | None,
        versions: Mapping[str, int],
        seed: int,
    ) -> None:
        self.store = store
        self.role = role
        self._parameters = Parameters(role.parameters)
        self.abort = Abort()
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self.pauses: list[str | None] = []
        self.lane = Lane(Slots(in_flight, name=ENDPOINT), warms=warms, hedge_after_s=hedge_after_s)
        pauses = Pauses(self.pauses.append)
        disk = Disk(self.abort, pauses, self._hear)
        line = BudgetLine(store, budget, on_cap=on_cap, abort=self.abort, emit=self._hear, pauses=pauses, disk=disk)
        self.door = FrontDoor(
            store,
            client_of=clients.get,
            line=line,
            lane_of=lambda endpoint: self.lane,
            in_flight=in_flight,
            abort=self.abort,
            emit=self._hear,
            pauses=pauses,
            disk=disk,
            mode=mode,
            at_quota=at_quota,
            versions=versions,
            seed=seed,
        )

    def _hear(self, kind: str, fields: Mapping[str, Any]) -> None:
        self.events.append((kind, fields))

    def fields(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the fields of the events of one type, in order."""
        return [fields for name, fields in self.events if name == kind]

    def question(self, text: str, sample: int = 0, before: str = "") -> Question:
        """Return the question that :meth:`ask` asks; ``before`` is a part of its own ahead of the text."""
        return Question(
            endpoint=self.role.endpoint,
            model=self.role.model,
            messages=(message_of("user", before, text),),
            parameters=self._parameters,
            sample=(0, sample),
        )

    async def ask(
        self, text: str, sample: int = 0, thread: str = "run/t001", *, before: str = "", worker_timeout_s: float = 1_800
    ) -> Reply:
        """Ask one question."""
        asker = Asker(run="run", thread=thread, started=lambda: None)
        return await self.door.ask(self.question(text, sample, before), self.role, asker, Effort(worker_timeout_s))

    async def ask_all(self, texts: list[str]) -> list[Reply | BaseException]:
        """Ask questions at once and return what became of each, in order."""
        return await asyncio.gather(*map(self.ask, texts), return_exceptions=True)


@asynccontextmanager
async def doorway(
    store: Store,
    clients: Mapping[str, ModelClient],
    *,
    budget: str = BUDGET,
    cap: float = 1_500,
    role: RoleSettings | None = None,
    on_cap: OnCap = "stop",
    mode: Mode = "collect",
    in_flight: int = 16,
    at_quota: AtQuota = "wait",
    warms: bool | None = None,
    hedge_after_s: float | None = None,
    versions: Mapping[str, int] | None = None,
    seed: int = 0,
) -> AsyncIterator[Doorway]:
    """Give a door on a store; when it closes, the calls in flight are waited for. The store and clients stay open.

    :param cap: of the budget, in credits.
    """
    await store.open_budget(budget, micro_of(cap))
    made = Doorway(
        store,
        clients,
        role or worker_role(),
        budget=budget,
        on_cap=on_cap,
        mode=mode,
        in_flight=in_flight,
        at_quota=at_quota,
        warms=warms,
        hedge_after_s=hedge_after_s,
        versions=versions or {},
        seed=seed,
    )
    try:
        yield made
    finally:
        await made.door.drain(5.0)


def at_the_door(
    store: Path,
    script: Script,
    scenario: Scenario,
    *,
    speed: float = 1.0,
    timeouts: Mapping[str, float] | None = None,
    **options: Any,
) -> None:
    """Play a scenario at a door on a stored file that leads to a scripted server; ``options`` are :func:`doorway`'s.

    :param speed: how many seconds of the event loop pass in one. :param timeouts: of the endpoint, long ones where not
        given.
    """
    registry = load_plugins()

    async def play() -> None:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(LoopbackServer(script))
            patient = dict.fromkeys(_TIMEOUTS, 60.0 * speed)  # a minute of the world, for what really takes time
            endpoint = Endpoint(
                name=ENDPOINT, client="openai", url=server.url, timeouts={**patient, **(timeouts or {})}
            )
            client = registry.get("client", "openai", ClientPlugin).open(endpoint)
            stack.push_async_callback(client.close)
            opened = registry.get("store", "sqlite", StorePlugin).open(store)
            stack.push_async_callback(opened.close)
            door = await stack.enter_async_context(doorway(opened, {ENDPOINT: client}, **options))
            await scenario(door, server)

    run_fast(play(), speed=speed)
