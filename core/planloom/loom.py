"""The loom: what runs plans. One store, one set of clients, any number of runs.

async with open_loom(registry, settings) as loom:
    outcome = await loom.run(job, plan)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import attrs

from planlang import Program

from ._budget_line import OnCap
from ._errors import RunTaken
from ._execution import Execution
from ._lanes import Lanes
from ._opened_store import opened_store
from ._start import Start
from .clients import ClientPlugin, ModelClient
from .control import RunControl
from .former import Former
from .front_door import Mode
from .job import Job, cost_facts, ending_of, is_unfinished, new_row, plan_hash, run_id_of
from .listeners import Listener
from .money import Spent
from .outcomes import Outcome
from .plugins import Registry
from .settings import Settings
from .stores import RunRow, Store

__all__ = ["Job", "Loom", "Outcome", "RunControl", "ending_of", "open_loom", "plan_hash", "run_id_of"]

_NOTHING = Spent()
_RUNS_LOOKED_AT = 5


class Loom:
    """Runs plans against one store. Made by :func:`open_loom`."""

    def __init__(self, registry: Registry, settings: Settings, store: Store) -> None:
        self.registry = registry
        self.settings = settings
        self.store = store
        self._clients: dict[str, ModelClient] = {}
        self.lanes = Lanes(settings.endpoints, settings.in_flight)

    async def close(self) -> None:
        """Close the clients; the store is closed by who opened it."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))
        self.lanes.close()

    def client(self, endpoint_name: str) -> ModelClient:
        """Return the open client of an endpoint.

        :raises ConfigurationError: its key is missing, or its settings do not fit.
        """
        if endpoint_name not in self._clients:
            endpoint = self.settings.endpoints[endpoint_name]
            plugin = self.registry.get("client", endpoint.client, ClientPlugin)
            self._clients[endpoint_name] = plugin.open(endpoint)
        return self._clients[endpoint_name]

    async def open_budget(self, budget: str, cap: int) -> None:
        """Open a job's books. The newest cap is the person's word, also where an unfinished run had a higher one."""
        books = await self.store.open_budget(budget, cap)
        if books.cap > cap:
            await self.store.set_cap(budget, cap)

    def newest(self, job: Job) -> RunRow | None:
        """Return the newest run of this very job, whatever became of it."""
        rows = self.store.runs(1, job.key)
        return rows[0] if rows else None

    def unfinished(self, job: Job) -> RunRow | None:
        """Return the newest run of this very job, if it did not come to an end."""
        newest = self.newest(job)
        return newest if newest is not None and is_unfinished(newest) else None

    def recorded(self, job: Job, source: str) -> Mapping[str, Any]:
        """Return the journal of this job's unfinished run of the same plan under the same cap; else it is empty."""
        before = self.unfinished(job)
        if before is None or before.plan_hash != plan_hash(source) or before.facts.get("cap") != job.cap:
            return {}
        return self.store.journal(before.id)

    def recall(self, job_key: str, name: str, key: str) -> Any:
        """Return what an earlier run of a job worked out under this name from the same key, or ``None``."""
        found = (row.facts.get("worked_out", {}).get(name) for row in self.store.runs(_RUNS_LOOKED_AT, job_key))
        return next((kept["value"] for kept in found if kept and kept["key"] == key), None)

    async def remember(self, run_id: str, name: str, key: str, value: Any) -> None:
        """Keep with a run what was worked out for it, for later runs of its job."""
        row = self.store.run(run_id)
        assert row is not None
        kept = {**row.facts.get("worked_out", {}), name: {"key": key, "value": value}}
        with suppress(RunTaken):  # it is going on elsewhere, and works it out for itself
            await self.store.save_run(attrs.evolve(row, facts={**row.facts, "worked_out": kept}))

    async def keep_unrun(
        self,
        job: Job,
        source: str,
        status: str,
        reason: str = "",
        *,
        budget: str = "",
        planned: Spent = _NOTHING,
        roles: Iterable[str] | None = None,
        run_id: str = "",
    ) -> str:
        """Store a job that has not run, with its plan as far as there is one and the reason; return its run's id.

        :param planned: what planning cost, from the books ``budget``. :param roles: those that the plan uses.
        :param run_id: of a run that is stored already.
        """
        row = new_row(job, self.settings, source, run_id or run_id_of(job.title), budget, planned=planned, roles=roles)
        facts = {**row.facts, "cost": cost_facts(planned, 0)} if planned != _NOTHING else row.facts
        await self.store.save_run(attrs.evolve(row, status=status, error=reason or None, facts=facts))
        return row.id

    async def run(
        self,
        job: Job,
        program: Program,
        source: str,
        *,
        budget: str | None = None,
        planned: Spent = _NOTHING,
        recorded: Mapping[str, Any] | None = None,
        former: Former | None = None,
        mode: Mode = "collect",
        on_cap: OnCap = "stop",
        listeners: Iterable[Listener] = (),
        control: RunControl | None = None,
        roles: Iterable[str] | None = None,
        workers: int | None = None,
    ) -> Outcome:
        """Run a plan to its end and return how it ended; faults of the plan and of the run are part of the outcome.

        :param budget: the books to use; those of a new job when ``None``.
        :param planned: what planning cost before this run, from the same books.
        :param recorded: what an unfinished run of this plan recorded, from :meth:`recorded`.
        :param former: the run's earlier starts, for a run that goes on under its own id.
        :param mode: ``replay`` asks and writes nothing.
        :param roles: roles whose clients must open before anything is asked, all configured ones when ``None``;
            others open when they are first needed.
        :param workers: how many it may have, where that is not the configured number.
        :raises Misuse: another process drives this run.
        """
        settings = self.settings if workers is None else attrs.evolve(self.settings, workers=workers)
        start = Start(
            job=job,
            program=program,
            source=source,
            settings=settings,
            budget=budget,
            planned=planned,
            recorded=recorded or {},
            former=former,
            mode=mode,
            on_cap=on_cap,
            listeners=tuple(listeners),
            roles=None if roles is None else tuple(roles),
        )
        return await Execution(self, start, control or RunControl()).drive()


@asynccontextmanager
async def open_loom(registry: Registry, settings: Settings, *, read_only: bool = False) -> AsyncIterator[Loom]:
    """Open the configured store and give a loom on it.

    :param read_only: nothing is to be written, so that a store which cannot be written will do.
    :raises StoreError: the store cannot be opened.
    """
    async with opened_store(registry, settings, read_only=read_only) as store:
        loom = Loom(registry, settings, store)
        try:
            yield loom
        finally:
            await loom.close()
