"""One start of a run, from the first write of its record to the last.

A new run and one that goes on differ in what they begin with: the second has the journal, the threads' ids, the
replies' versions and the event numbers of its earlier starts. Either way the plan runs from its beginning, and what is
known costs nothing. A replay is the same once more, and writes nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import attrs

from planlang import PlanError, PlanFailed

from ._blame import word_blamed
from ._budget_line import BudgetLine
from ._disk import Disk, stopped_by
from ._errors import (
    CacheMiss,
    Misuse,
    PlanloomError,
    PluginError,
    RunAborted,
    RunCancelled,
    RunTaken,
    StoreError,
    TakenOver,
)
from ._json_modes import JsonModes
from ._pauses import Pauses
from ._recorder import Recorder
from ._room import store_room, unspent
from ._run_record import RunRecord
from ._start import STARTS, Start
from .control import CANCEL, DRAIN_S, RunControl, calls_left_text
from .conversations import ModelWorkers
from .crashes import traceback_told
from .front_door import FrontDoor
from .job import cost_facts, ending_of, plan_hash, role_facts
from .listeners import Listener
from .money import Spent, credits_of
from .outcomes import Outcome, ended_facts
from .runtime import RunHost
from .status import cancelling_fact, driven_text
from .workers import Asker, Performed, WorkerRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .loom import Loom
    from .stores import Store

__all__ = ["Execution"]

_REQUESTS_POLL_S = 0.2
_UNSAID_S = 1.0


class Execution:
    """One start of a run. Made and driven once."""

    def __init__(self, loom: Loom, start: Start, control: RunControl) -> None:
        self.loom, self.start, self.control = loom, start, control
        self.job, self.former, self.store = start.job, start.former, loom.store
        self.replaying = start.mode == "replay"
        self._goes_on = bool(self.former.seq if self.former else start.recorded)
        kept = None if self.replaying else loom.store
        row = start.row()
        self.id, self.budget = row.id, row.budget
        self._lost: RunAborted | None = None
        self._is_over = False
        self.abort = control.abort
        self.pauses = Pauses(self._paused)
        self.disk = Disk(self.abort, self.pauses, self._emit)
        self.record = RunRecord(kept, row, self.disk)
        control.run_id = self.id
        control.say = lambda text: self._emit("run.log", {"message": text})
        control.winds_down = self._winds_down
        self.recorder = self._new_recorder(kept)
        self.states = control.states = {name: work.new_run(rehearsal=False) for name, work in self.job.works.items()}
        self.door = control.door = self._front_door()
        self.host = self._new_host(self.former.journal if self.former else start.recorded)
        control.phases = self.host.phases

    def _new_recorder(self, kept: Store | None) -> Recorder:
        going_on = None if self.replaying else self.former
        return Recorder(
            self.id,
            kept,
            [*self.loom.registry.all("listener", Listener).values(), *self.start.listeners],
            asyncio.get_running_loop().time,
            disk=self.disk,
            first_seq=going_on.seq + 1 if going_on else 1,
            began_s=going_on.t if going_on else 0.0,
        )

    def _new_host(self, recorded: Mapping[str, Any]) -> RunHost:
        settings, former = self.start.settings, self.former
        json_modes = JsonModes(recorded, self._journal, lambda text: self._emit("run.log", {"message": text}))
        self.workers = ModelWorkers(self.door, settings, run_number=self.job.repeat, json_modes=json_modes)
        return RunHost(
            self.id,
            registry=self.loom.registry,
            settings=settings,
            recorder=self.recorder,
            perform=self._perform,
            recall=self.workers.recalled,
            budget_left=self._left,
            args=self.job.args,
            states=self.states,
            journal=self._journal,
            recorded=recorded,
            threads=former.threads if former else {},
            newest_thread=former.newest_thread if former else 0,
        )

    def _front_door(self) -> FrontDoor:
        line = BudgetLine(
            self.store,
            self.budget,
            on_cap=self.start.on_cap,
            abort=self.abort,
            emit=self.recorder.emit,
            pauses=self.pauses,
            disk=self.disk,
        )
        return FrontDoor(
            self.store,
            client_of=self.loom.client,
            line=line,
            lane_of=self.loom.lanes.of,
            in_flight=self.start.settings.in_flight if self.job.kits else self.start.settings.bare_in_flight,
            at_quota=self.start.settings.at_quota,
            abort=self.abort,
            emit=self.recorder.emit,
            pauses=self.pauses,
            disk=self.disk,
            mode=self.start.asks,
            versions=self.former.versions if self.former else {},
            seed=int(plan_hash(self.start.source)[:8], 16),
        )

    async def drive(self) -> Outcome:
        """Run the plan to its end.

        :raises Misuse: another process drives the run, or it went on since ``former`` was read.
        """
        if self.replaying:
            return await self._end(*await self._played())
        async with self._claimed():
            await self.loom.open_budget(self.budget, self.job.cap)
            self._open_clients()
            await self._begin()
            heeding = asyncio.ensure_future(self._heed())
            try:
                result, fault = await self._played()
                await self._stay_driver()
                return await self._end(result, self._lost or fault)
            finally:
                heeding.cancel()
                await asyncio.wait({heeding})
                if not heeding.cancelled():
                    heeding.result()

    @asynccontextmanager
    async def _claimed(self) -> AsyncIterator[None]:
        holder = await self.store.claim_run(self.id)
        if holder is not None:
            raise Misuse(driven_text(self.id, holder))
        try:
            self._check_unmoved()
            self._heard = max((request.number for request in self.store.requests(self.id)), default=0)
            yield
        finally:
            # A claim that cannot be given up ends with this process.
            with suppress(StoreError):
                await asyncio.shield(self.store.release_run(self.id))

    def _check_unmoved(self) -> None:
        if self.former is None:
            return
        row = self.store.run(self.id)
        if row is None or row.status != self.former.row.status or self.store.progress(self.id).seq != self.former.seq:
            raise Misuse(f"the run {self.id} went on meanwhile; look at it with `planloom show {self.id}`")

    def _open_clients(self) -> None:
        settings = self.start.settings
        for name in settings.roles if self.start.roles is None else self.start.roles:
            self.loom.client(settings.role(name).endpoint)

    async def _begin(self) -> None:
        await self.record.save(status="running")
        self.control.begun.set()
        if self.former is not None and self.former.seq:
            known = {"reused": len(self.former.versions), "asked": self.former.calls}
            self.recorder.emit("run.resumed", known)
        else:
            self.recorder.emit("run.created", {"title": self.job.title})

    async def _heed(self) -> None:
        """Do what other processes ask of this run's driver."""
        while True:
            await asyncio.sleep(_REQUESTS_POLL_S)
            with suppress(StoreError):
                await self._stay_driver()
                for request in self.store.requests(self.id, self._heard):
                    self._heard = request.number
                    if request.what == CANCEL:
                        self.control.cancel()

    async def _stay_driver(self) -> None:
        """A process that was suspended for longer than its lease keeps its run, or leaves it to who took it."""
        holder = self.store.driver(self.id)
        if self._lost is not None or (holder is not None and holder.here):
            return
        try:
            # A store whose lease ran out, and whose runs nobody took, has them again with its next write.
            await self.store.append_events(self.id, [])
        except RunTaken as taken:
            self._leave(taken)

    def _leave(self, taken: RunTaken) -> RunAborted:
        """Write nothing more of a run that is this process's no longer, and end here; return why."""
        if self._lost is None:
            self.record.leave()
            self.recorder.leave()
            self._lost = self._lost_by(taken)
            self.abort.set(self._lost)
        return self._lost

    def _lost_by(self, taken: RunTaken) -> RunAborted:
        row = self.store.run(self.id)
        if row is None or row.status != "cancelled" or row.facts.get(STARTS) != self.record.row.facts[STARTS]:
            return TakenOver(str(taken))
        return RunCancelled(
            "this process was away for longer than its lease, and the run was cancelled meanwhile; "
            f"`planloom resume {self.id}` goes on"
        )

    async def _played(self) -> tuple[Any, Exception | None]:
        """Run the plan; return its result, or the fault that ended it."""
        start = self.start
        result, fault = None, None
        try:
            # A set, or a pair as a key, is a result too; the store and every command hold results as JSON.
            result = json.loads((await start.program.run(self.job.args, start.limits, self.host)).to_json())
        except (PlanError, PlanloomError) as error:
            fault = self._blamed(error)
        except BaseException:
            # A fault of ours, or the loop is going down: the record must not say that it runs.
            with suppress(StoreError):
                await asyncio.shield(self.record.save(status="interrupted"))
            raise
        await self._let_calls_end()
        self.host.close()
        return result, fault

    def _blamed(self, fault: PlanError | PlanloomError) -> Exception:
        """Return what ended the plan: for a plugin's word that failed, with where its author finds the traceback."""
        if not isinstance(fault, PlanFailed) or fault.__cause__ is None:
            return fault
        whose = word_blamed(self.loom.registry, fault, self.start.source)
        if not whose:
            return fault
        place = f"line {fault.line}, column {fault.column} of the plan"
        said = f"{whose} failed at {place}: {fault.kind}: {fault.detail}; {traceback_told(fault.__cause__)}"
        return PluginError(f"{said}. Once the plugin is mended `planloom resume {self.id}` goes on")

    async def _let_calls_end(self) -> None:
        """Wait for calls whose workers were cancelled: each has some seconds left, of which most have gone by now."""
        self.control.only_calls_left = True
        if left := await self.door.ended(_UNSAID_S):
            self.recorder.emit("run.log", {"message": calls_left_text(left)})
            await self.door.drain(DRAIN_S)

    async def _end(self, result: Any, fault: Exception | None) -> Outcome:
        outcome = self._outcome(result, fault)
        ended = {name: getattr(outcome, name) for name in ("status", "seconds", "agents", "holes")}
        paid = self._paid()["spent"]
        self.recorder.emit("run.ended", {**ended, "credits": credits_of(paid)})
        # An earlier start's result stays where this one came to none.
        kept = self.record.row.result if fault is not None else result
        facts = {**self.record.row.facts, **ended_facts(outcome), "roles": self._roles()}
        facts.pop("cancelling", None)  # a run that stopped for another reason meanwhile is cancelled no more
        try:
            await self.record.written()
            await self.recorder.flush()
            self._is_over = True
            await self.record.save(status=outcome.status, error=outcome.error, result=kept, facts=facts)
        except RunTaken as taken:
            return _ended_by(self._leave(taken), outcome)
        except StoreError as unwritten:
            return _unwritten(unwritten, outcome, fault)
        return outcome

    def _roles(self) -> dict[str, Any]:
        """Return what each role was asked with, those too that the rehearsal did not foresee."""
        kept = self.record.row.facts.get("roles", {})
        met = sorted(self.workers.roles - kept.keys())
        return {**kept, **{name: role_facts(self.start.settings, name) for name in met}}

    def _outcome(self, result: Any, fault: Exception | None) -> Outcome:
        status, code, error = ending_of(fault, self.host.holes)
        money = self._paid()
        # Answers that came too late for a race were paid for too.
        run = Spent(paid=money["spent"], full_price=max(self.host.full_price, money["spent"]))
        return Outcome(
            run_id=self.id,
            status=status,
            exit_code=code,
            result=result,
            error=error,
            paused_at=self.pauses.at,
            seconds=self.recorder.seconds(),
            agents=self.host.agents,
            holes=self.host.holes,
            asked=self.door.asked,
            reused=self.door.reused,
            paid_before=self.former.paid + self.start.planned.paid if self.former and self.former.seq else None,
            paid_elsewhere=self._paid_elsewhere(money["spent"]),
            phases=tuple(phase.as_json() for phase in self.host.phases.all()),
            undecided=tuple(self.host.undecided),
            failures=dict(self.host.lacks.failures.most_common()),
            missing=tuple(self.host.lacks.missing),
            states=self.states,
            **cost_facts(self.start.planned, money["uncertain"], run),
        )

    def _paid_elsewhere(self, spent: int) -> int:
        """Return what of a run's calls was paid neither here nor before. Of what hedges answered late nobody knows."""
        hedges = any(endpoint.hedge_after_s for endpoint in self.start.settings.endpoints.values())
        before = self.former.paid if self.former else 0
        return 0 if self.replaying or hedges else max(0, spent - before - self.door.paid)

    def _paid(self) -> Mapping[str, int]:
        return {"spent": 0, "uncertain": 0} if self.replaying else self.store.money(self.id)

    def _left(self, full_price: int) -> int:
        planned = self.start.planned.full_price
        full_price += self.door.unclaimed
        if self.replaying:
            return self.job.cap - planned - full_price
        books = self.store.books(self.budget)
        left = books.cap - planned - full_price - books.reserved - books.uncertain
        whole = store_room(self.store, self.job, self.budget)
        left = left if whole is None else min(left, whole - planned - full_price)
        # What an earlier start paid for answers that nobody has now, as those of a race's losers, stands in the books
        # alone. One that has no journal to go on from has to see what its rehearsal saw.
        return min(left, unspent(self.store, self.budget)) if self._goes_on else left

    def _emit(self, kind: str, fields: Mapping[str, Any]) -> None:
        self.recorder.emit(kind, fields)

    def _journal(self, place: str, entry: Mapping[str, Any]) -> None:
        """Write down what a word returned, unless an earlier start did: the next question would wait for that."""
        if self.former is None or self.former.journal.get(place) != entry:
            self.record.journal(place, entry)

    def _paused(self, at: str | None) -> None:
        if not self._is_over:
            self.record.begin_add("paused" if at else "running", paused_at=at)

    def _winds_down(self, calls: int) -> None:
        if not self._is_over:
            row = self.record.row
            self.record.begin_add(row.status, cancelling=cancelling_fact(row, calls, DRAIN_S))

    async def _perform(self, request: WorkerRequest, asker: Asker) -> Performed:
        """Have a request performed once the journal is on the disk: without it a resume could go another way."""
        try:
            if self.record.unwritten:
                await self.record.written()
        except RunTaken as taken:
            raise self._leave(taken) from taken
        except StoreError as error:
            raise stopped_by(error) from error
        try:
            return await self.workers.perform(request, asker)
        except CacheMiss:
            # What failed was never answered, and fails in a replay as it did.
            if self.former is not None and asker.thread in self.former.failures:
                return Performed(value=None, error=self.former.failures[asker.thread])
            raise


def _unwritten(unwritten: StoreError, outcome: Outcome, fault: Exception | None) -> Outcome:
    """Return how a run ended whose end cannot be written: what was settled is safe, its own record is not whole."""
    if fault is None:
        return _ended_by(unwritten, outcome)
    if isinstance(fault, RunCancelled):
        # That all is kept, as a cancelled run says, is not so here.
        going_on = f"`planloom resume {outcome.run_id}` then asks again what came and could not be kept"
        return attrs.evolve(outcome, error=f"the run was cancelled, but {unwritten}; {going_on}")
    return outcome  # that explains it better


def _ended_by(fault: Exception, outcome: Outcome) -> Outcome:
    status, code, error = ending_of(fault, outcome.holes)
    return attrs.evolve(outcome, status=status, exit_code=code, error=error)
