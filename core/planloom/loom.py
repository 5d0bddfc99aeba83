"""The loom: what runs plans. One store, one set of clients, any number of runs.

async with open_loom(registry, settings) as loom:
    outcome = await loom.run(job, plan)
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs

from planlang import Limits, PlanError, Program

from ._abort import Abort
from ._budget_line import BudgetLine, OnCap
from ._errors import PlanloomError, RunCancelled, StoreError
from ._pauses import Pauses
from ._recorder import Recorder
from ._slots import Slots
from .clients import ClientPlugin, ModelClient
from .conversations import ModelWorkers
from .front_door import FrontDoor, Mode, stopped_by
from .job import Job, cost_facts, ending_of, new_row, plan_hash, run_id_of
from .listeners import Listener
from .money import Spent, credits_of
from .plugins import Registry
from .processes import this_machine
from .runtime import RunHost
from .settings import Settings
from .stores import RunRow, Store, StorePlugin
from .workers import Asker, Performed, WorkerRequest

__all__ = ["Job", "Loom", "Outcome", "RunControl", "ending_of", "open_loom", "plan_hash", "run_id_of"]

_NOTHING = Spent()
_DRAIN_S = 30.0
_UNFINISHED = ("created", "held", "running", "paused", "cancelled", "interrupted", "failed")
_RUNS_LOOKED_AT = 5
_FAILURES_KEPT = 20


@attrs.frozen(kw_only=True)
class Outcome:
    """How a run ended. Amounts are micro-credits.

    :ivar status: as in the run's record. :ivar exit_code: of a command that ends with it.
    :ivar holes: workers that failed or were dropped, and questions left undecided.
    :ivar paid: what the job paid now, and ``full_price`` what it costs without the ledger; ``planning`` is the part of
        the full price that was spent on the plan.
    :ivar uncertain: what calls of unknown outcome may have cost; part of no other amount.
    :ivar failures: why workers failed, and how many for that reason, the commonest first.
    :ivar asked: questions that were sent. :ivar reused: answers that the ledger gave.
    """

    run_id: str
    status: str
    exit_code: int
    result: Any
    error: str | None
    seconds: float
    agents: int
    holes: int
    paid: int
    full_price: int
    planning: int
    uncertain: int
    asked: int
    reused: int
    phases: tuple[Mapping[str, Any], ...]
    undecided: tuple[Mapping[str, Any], ...]
    failures: Mapping[str, int]
    states: Mapping[str, object]


class RunControl:
    """A hand on a run: cancel it once to let the calls in flight end, twice to cut them off.

    :ivar states: each kit's state of the run, by kit name, once it has begun.
    """

    def __init__(self) -> None:
        self.abort = Abort()
        self.door: FrontDoor | None = None
        self.states: Mapping[str, object] = {}
        self._asked = 0

    def cancel(self) -> None:
        """Stop the run: no new worker starts, waiting ones end; calls in flight get 30 s, or none the second time."""
        self._asked += 1
        self.abort.set(
            RunCancelled(
                "the run was cancelled and every answer that came is kept; run the same command again to go on"
            )
        )
        if self._asked == 1:
            asyncio.get_running_loop().call_later(_DRAIN_S, self._cut)
        else:
            self._cut()

    def _cut(self) -> None:
        if self.door is not None:
            self._cutting = asyncio.ensure_future(self.door.cut())


class Loom:
    """Runs plans against one store. Made by :func:`open_loom`."""

    def __init__(self, registry: Registry, settings: Settings, store: Store) -> None:
        self.registry = registry
        self.settings = settings
        self.store = store
        self._clients: dict[str, ModelClient] = {}
        self._slots: dict[str, Slots] = {}

    async def close(self) -> None:
        """Close the clients; the store is closed by who opened it."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))

    def client(self, endpoint_name: str) -> ModelClient:
        """Return the open client of an endpoint.

        :raises ConfigurationError: its key is missing, or its settings do not fit.
        """
        if endpoint_name not in self._clients:
            endpoint = self.settings.endpoints[endpoint_name]
            plugin = self.registry.get("client", endpoint.client, ClientPlugin)
            self._clients[endpoint_name] = plugin.open(endpoint)
        return self._clients[endpoint_name]

    def slots(self, endpoint_name: str) -> Slots:
        """Return the slots of an endpoint, shared by all runs."""
        return self._slots.setdefault(endpoint_name, Slots(self.settings.in_flight))

    async def open_budget(self, budget: str, cap: int) -> None:
        """Open a job's books. The newest cap is the person's word, also where an unfinished run had a higher one."""
        books = await self.store.open_budget(budget, cap)
        if books.cap > cap:
            await self.store.set_cap(budget, cap)

    def unfinished(self, job: Job) -> RunRow | None:
        """Return the newest run of this very job, if it did not come to an end."""
        rows = self.store.runs(1, job.key)
        return rows[0] if rows and rows[0].status in _UNFINISHED else None

    def recorded(self, job: Job, source: str) -> Mapping[str, Any]:
        """Return the journal of this job's unfinished run of the same plan under the same cap; else it is empty."""
        before = self.unfinished(job)
        if before is None or before.plan_hash != plan_hash(source) or before.facts.get("cap") != job.cap:
            return {}
        return self.store.journal(before.id)

    def recall(self, job: Job, name: str, key: str) -> Any:
        """Return what an earlier run of this job worked out under this name from the same key, or ``None``."""
        found = (row.facts.get("worked_out", {}).get(name) for row in self.store.runs(_RUNS_LOOKED_AT, job.key))
        return next((kept["value"] for kept in found if kept and kept["key"] == key), None)

    async def remember(self, run_id: str, name: str, key: str, value: Any) -> None:
        """Keep with a run what was worked out for it, for later runs of its job."""
        row = self.store.run(run_id)
        assert row is not None
        kept = {**row.facts.get("worked_out", {}), name: {"key": key, "value": value}}
        await self.store.save_run(attrs.evolve(row, facts={**row.facts, "worked_out": kept}))

    async def keep_unrun(
        self, job: Job, source: str, status: str, reason: str, *, budget: str = "", planned: Spent = _NOTHING
    ) -> str:
        """Store a job that came to no run, with its plan as far as there is one and the reason; return its run's id.

        :param planned: what planning cost, from the books ``budget``.
        """
        row = new_row(job, self.settings, source, run_id_of(job.title), budget)
        facts = {**row.facts, "cost": cost_facts(planned, 0)} if planned != _NOTHING else row.facts
        await self.store.save_run(attrs.evolve(row, status=status, error=reason, facts=facts))
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
        mode: Mode = "collect",
        on_cap: OnCap = "stop",
        listeners: Iterable[Listener] = (),
        control: RunControl | None = None,
        limits: Limits | None = None,
        roles: Iterable[str] | None = None,
    ) -> Outcome:
        """Run a plan to its end and return how it ended; faults of the plan and of the run are part of the outcome.

        :param budget: the books to use; those of a new job when ``None``.
        :param planned: what planning cost before this run, from the same books.
        :param recorded: what an unfinished run of this plan recorded, from :meth:`recorded`.
        :param roles: roles whose clients must open before anything is asked, all configured ones when ``None``;
            others open when they are first needed.
        """
        execution = _Execution(
            self, job, program, source, budget, planned, recorded or {}, mode, on_cap, listeners, control
        )
        return await execution.drive(limits or Limits(), roles)


class _Execution:
    """One run from its record's first write to its last."""

    def __init__(
        self,
        loom: Loom,
        job: Job,
        program: Program,
        source: str,
        budget: str | None,
        planned: Spent,
        recorded: Mapping[str, Any],
        mode: Mode,
        on_cap: OnCap,
        listeners: Iterable[Listener],
        control: RunControl | None,
    ) -> None:
        self.loom, self.job, self.program = loom, job, program
        self.store = loom.store
        self.id = run_id_of(job.title)
        self.budget = budget or f"job-{self.id}"
        self.planned = planned
        self.control = control or RunControl()
        self.abort = self.control.abort
        self.mode = mode
        self.writes: set[asyncio.Task[None]] = set()
        everyone = [*loom.registry.all("listener", Listener).values(), *listeners]
        self.recorder = Recorder(self.id, self.store, everyone, asyncio.get_running_loop().time)
        driver = {"machine": this_machine(), "pid": os.getpid()}
        row = new_row(job, loom.settings, source, self.id, self.budget)
        self.row = attrs.evolve(row, facts={**row.facts, "driver": driver})
        self.states = self.control.states = {name: work.new_run(rehearsal=False) for name, work in job.works.items()}
        pauses = Pauses(self._paused)
        line = BudgetLine(
            self.store, self.budget, on_cap=on_cap, abort=self.abort, emit=self.recorder.emit, pauses=pauses
        )
        self.door = self.control.door = FrontDoor(
            self.store,
            client_of=loom.client,
            line=line,
            slots=loom.slots,
            abort=self.abort,
            emit=self.recorder.emit,
            pauses=pauses,
            mode=mode,
            seed=int(plan_hash(source)[:8], 16),
        )
        self.workers = ModelWorkers(self.door, loom.settings)
        self.host = RunHost(
            self.id,
            registry=loom.registry,
            settings=loom.settings,
            recorder=self.recorder,
            perform=self._perform,
            budget_left=self._left,
            args=job.args,
            states=self.states,
            journal=self._write_journal,
            recorded=recorded,
        )

    async def drive(self, limits: Limits, roles: Iterable[str] | None) -> Outcome:
        await self.loom.open_budget(self.budget, self.job.cap)
        if self.mode != "replay":
            self._open_clients(roles)
        await self._save(status="running")
        self.recorder.emit("run.created", {"title": self.job.title})
        result, fault = None, None
        try:
            # A set, or a pair as a key, is a result too; the store and every command hold results as JSON.
            result = json.loads((await self.program.run(self.job.args, limits, self.host)).to_json())
        except (PlanError, PlanloomError) as error:
            fault = error
        except BaseException:
            # A fault of ours, or the loop is going down: the record must not say that it runs.
            await asyncio.shield(self._save(status="interrupted"))
            raise
        await self.door.drain(_DRAIN_S)
        self.host.close()
        return await self._end(result, fault)

    def _open_clients(self, roles: Iterable[str] | None) -> None:
        settings = self.loom.settings
        for name in settings.roles if roles is None else roles:
            self.loom.client(settings.role(name).endpoint)

    async def _end(self, result: Any, fault: Exception | None) -> Outcome:
        status, code, error = ending_of(fault, self.host.holes)
        money = self.store.money(self.id)
        phases = tuple(phase.as_json() for phase in self.host.phases.all())
        self.recorder.emit(
            "run.ended",
            {
                "status": status,
                "seconds": self.recorder.seconds(),
                "agents": self.host.agents,
                "credits": credits_of(money["spent"]),
                "holes": self.host.holes,
            },
        )
        run = Spent(paid=money["spent"], full_price=self.host.full_price)
        cost = cost_facts(self.planned, money["uncertain"], run)
        counts = {
            "agents": self.host.agents,
            "holes": self.host.holes,
            "asked": self.door.asked,
            "reused": self.door.reused,
        }
        facts = {**self.row.facts, "phases": list(phases), "cost": cost, "counts": counts}
        try:
            await self._written()
            await self.recorder.flush()
            await self._save(status=status, error=error, result=result, facts=facts)
        except StoreError as unwritten:
            # What was settled is safe; the run's own record is not whole, which a fault before it explains better.
            if fault is None:
                status, code, error = ending_of(unwritten, self.host.holes)
        return Outcome(
            run_id=self.id,
            status=status,
            exit_code=code,
            result=result,
            error=error,
            seconds=self.recorder.seconds(),
            phases=phases,
            undecided=tuple(self.host.undecided),
            failures=dict(self.host.failures.most_common(_FAILURES_KEPT)),
            states=self.states,
            **cost,
            **counts,
        )

    def _left(self, full_price: int) -> int:
        books = self.store.books(self.budget)
        return books.cap - self.planned.full_price - full_price - books.reserved - books.uncertain

    def _write_journal(self, place: str, value: Any) -> None:
        self._begin_write(self.store.write_journal(self.id, place, value))

    def _paused(self, at: str | None) -> None:
        self._begin_write(self._save(status="paused" if at else "running"))

    def _begin_write(self, writing: Coroutine[Any, Any, None]) -> None:
        write = asyncio.ensure_future(writing)
        self.writes.add(write)
        write.add_done_callback(self._write_ended)

    def _write_ended(self, write: asyncio.Task[None]) -> None:
        # One that failed stays, for whoever next waits for all of them.
        if write.cancelled() or write.exception() is None:
            self.writes.discard(write)

    async def _written(self) -> None:
        """Wait for what was begun.

        :raises StoreError: some of it cannot be written.
        """
        if self.writes:
            done, _ = await asyncio.wait(self.writes)
            for write in done:
                write.result()

    async def _perform(self, request: WorkerRequest, asker: Asker) -> Performed:
        """Have a request performed once the journal is on the disk: without it a resume could go another way."""
        try:
            await self._written()
        except StoreError as error:
            raise stopped_by(error) from error
        return await self.workers.perform(request, asker)

    async def _save(self, **changes: Any) -> None:
        self.row = attrs.evolve(self.row, **changes)
        await self.store.save_run(self.row)


@asynccontextmanager
async def open_loom(registry: Registry, settings: Settings) -> AsyncIterator[Loom]:
    """Open the configured store and give a loom on it.

    :raises StoreError: the store cannot be opened.
    """
    plugin = registry.get("store", settings.store_kind, StorePlugin)
    store = plugin.open(settings.store_path)
    loom = Loom(registry, settings, store)
    try:
        yield loom
    finally:
        await loom.close()
        await store.close()
