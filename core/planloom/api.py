"""planloom from Python: the steps that the commands take, without a terminal.

    async with planloom.open() as loom:
        run = await loom.start("jobs/review.plan", target="src", cap=20)
        async for event in run.events():
            print(event.type)
        print((await run).result)

A run that was started here belongs to this process: leaving the block waits for it, and an exception cancels it. Runs
of other processes can be listed, followed, cancelled and raised alike.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import attrs

from ._budget_line import OnCap
from ._errors import Misuse, PlanHeld, PlanRefused, did_you_mean
from ._given_files import text_of
from ._given_values import given_args, given_choice, given_count, given_credits
from ._room import Room, room_for
from ._run_handle import Run
from .configuration import load_settings
from .control import RunControl
from .gates import Decision
from .job import Job, plan_hash
from .jobs import PricedPlan, check_target, decide, kits_in, price_plan, require_roles
from .kits import Kit
from .loom import Loom, open_loom
from .outcomes import Outcome
from .plugins import Registry, load_plugins
from .replaying import Replayed, replay_run
from .resuming import (
    cap_of,
    check_resumable,
    find_run,
    job_of,
    lacks_nothing,
    reopen,
    target_facts,
    unapproved,
)
from .saved_plans import saved_plans
from .settings import Settings
from .stores import RunRow
from .visible import visible
from .words import build_vocabulary

__all__ = ["Approve", "Planloom", "Run", "open", "open_with"]

Approve = Callable[[PricedPlan, Decision], bool]
"""Decides over a plan that the gate holds: its price and the gate's reason in, yes or no out."""


@asynccontextmanager
async def open(  # noqa: A001 - read as `planloom.open`
    folder: str | os.PathLike[str] | None = None,
    *,
    config: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    read_only: bool = False,
) -> AsyncIterator[Planloom]:
    """Give planloom as it is configured for a folder.

    :param folder: the working folder; the process's own when ``None``.
    :param config: read this file instead of the folder's ``planloom.toml``.
    :param store: keep answers and runs there, instead of where the configuration says.
    :param read_only: runs are only listed, followed and replayed, also from a store that cannot be written.
    :raises Misuse: there is no such folder. :raises ConfigurationError: something in the configuration is wrong.
    :raises StoreError: the store cannot be opened.
    """
    base = Path.cwd() if folder is None else Path(folder)
    if not base.is_dir():
        raise Misuse(f"there is no folder {base}; name the one that planloom.toml is in, or is to be in")
    registry = load_plugins()
    settings = load_settings(registry, folder=base, config=None if config is None else Path(config))
    path = base / settings.store_path if store is None else Path(store)
    async with open_with(registry, attrs.evolve(settings, store_path=str(path)), read_only=read_only) as loom:
        yield loom


@asynccontextmanager
async def open_with(registry: Registry, settings: Settings, *, read_only: bool = False) -> AsyncIterator[Planloom]:
    """Give planloom with these plugins and settings."""
    async with open_loom(registry, settings, read_only=read_only) as loom:
        opened = Planloom(loom)
        try:
            yield opened
        except BaseException:
            opened.cancel_all()
            raise
        finally:
            await opened.ended()


def _resolved(target: str | os.PathLike[str] | None) -> str:
    return "" if target is None else str(Path(target).resolve())


class Planloom:
    """Starts, lists and steers runs of one store. Made by :func:`open`."""

    def __init__(self, loom: Loom) -> None:
        self.loom = loom
        self._driven: dict[str, tuple[RunControl, asyncio.Task[Outcome]]] = {}
        self._going_on: dict[asyncio.Task[Outcome], RunControl] = {}

    # --- what there is

    def run(self, run_id: str) -> Run:
        """Return a run by its id or by the beginning of its id alone, whoever drives it.

        :raises UnknownNameError: there is no such run.
        :raises Misuse: the ids of several begin so.
        """
        return Run(self, find_run(self.loom.store, run_id).id)

    def runs(self, limit: int = 50) -> list[Run]:
        """Return the newest runs, newest first."""
        return [Run(self, row.id) for row in self.loom.store.runs(limit)]

    # --- what is begun here

    async def start(
        self,
        plan: str | os.PathLike[str],
        *,
        kit: str | None = None,
        target: str | os.PathLike[str] | None = None,
        args: Mapping[str, Any] | None = None,
        cap: float | None = None,
        title: str | None = None,
        repeat: int = 1,
        refresh: bool = False,
        approve: Approve | bool = False,
        at_cap: OnCap = "stop",
    ) -> Run:
        """Check, rehearse and begin a plan; return its run when it is under way.

        :param plan: its text, a file, or a saved plan's name.
        :param kit: a kit to have beside those whose words the plan uses. :param target: what the kits work on.
        :param cap: the budget in credits, the configured one when ``None``.
        :param repeat: the n-th repeat of the job draws answers of its own.
        :param refresh: ask the workers' questions again, also those that the ledger has answers to.
        :param approve: decides where the gate holds the plan; ``True`` approves.
        :param at_cap: ``stop`` there, or ``wait`` for a raise.
        :raises PlanRefused: by the check, the rehearsal or the gate. :raises PlanHeld: it needs approval and got none.
        :raises Misuse: there is no such plan, a kit lacks its target, or a target its kit; or a value that is given
            cannot be used.
        """
        loom = self.loom
        given_choice("at_cap", at_cap, get_args(OnCap))
        credit_cap = loom.settings.cap if cap is None else given_credits("cap", cap)
        source, name = self._plan(plan)
        path = _resolved(target)
        if kit is None:
            check_target(loom.registry, loom.settings, source, name, path, "`target`")
        elif not path:
            raise Misuse(f"the kit {kit} has nothing to work on; say what with `target`")
        kits = kits_in(loom.registry, loom.settings, source)
        if kit is not None and kit not in [one.name for one in kits]:
            kits = (*kits, loom.registry.get("kit", kit, Kit))
        works = {one.name: await asyncio.to_thread(one.open, path, {}) for one in kits} if path else {}
        job = Job(
            title=title or name,
            kits=kits,
            works=works,
            target=visible(path),
            plan=plan_hash(source),
            args=given_args({} if args is None else args),
            cap=credit_cap,
            repeat=given_count("repeat", repeat) - 1,
            refresh=refresh,
            facts=target_facts(path, visible(path)),
        )
        return await self._price_and_begin(job, source, name, approve, at_cap)

    async def resume(
        self,
        run_id: str,
        *,
        cap: float | None = None,
        workers: int | None = None,
        args: Mapping[str, Any] | None = None,
        plan: str | os.PathLike[str] | None = None,
        as_new_run: bool = False,
        release_uncertain: bool = False,
        approve: Approve | bool = False,
        at_cap: OnCap = "stop",
    ) -> Run:
        """Go on with a run that is not whole; what is answered is not asked again.

        :param cap: its budget from now on, in credits. :param workers: how many workers it may have from now on.
        :param args: arguments, and ``plan`` the plan, as they are now; with ``as_new_run`` they may be others.
        :param release_uncertain: free what calls of unknown outcome keep charged, also where nothing else is missing.
        :raises JournalDiverged: it is not what its record says, and ``as_new_run`` is not said.
        :raises Misuse: somebody drives it, or nothing is missing; or a value that is given cannot be used.
        """
        loom, store = self.loom, self.loom.store
        given_choice("at_cap", at_cap, get_args(OnCap))
        credit_cap = None if cap is None else given_credits("cap", cap)
        workers = None if workers is None else given_count("workers", workers)
        args = None if args is None else given_args(args)
        row = find_run(store, run_id)
        source = None if plan is None else self._plan(plan)[0]
        if as_new_run:
            job = await asyncio.to_thread(job_of, loom.registry, row, args)
            new_cap = cap_of(store, row) if credit_cap is None else credit_cap
            return await self._begin_anew(job, source or row.plan, row.title, new_cap, approve, at_cap)
        check_resumable(store, row, workers or loom.settings.workers)
        if release_uncertain:
            for call in store.uncertain_calls(row.budget):
                await store.release(call.call_id)
        if await asyncio.to_thread(lacks_nothing, loom.registry, loom.settings, store, row, args=args, source=source):
            raise Misuse(f"the run {row.id} is whole and nothing is missing; `replay` gives its result again")
        reopened = await asyncio.to_thread(
            reopen, loom.registry, loom.settings, store, row, args=args, source=source, workers=workers
        )
        job = reopened.job if credit_cap is None else attrs.evolve(reopened.job, cap=credit_cap)
        if unapproved(row):
            job = await self._approved(job, row, approve)
        return await self._begin(
            job,
            reopened.source,
            program=reopened.program,
            former=reopened.former,
            planned=reopened.planned,
            workers=reopened.workers,
            roles=reopened.roles,
            on_cap=at_cap,
        )

    async def _approved(self, job: Job, row: RunRow, approve: Approve | bool) -> Job:
        """Return the job of a run that nobody approved yet, with its approval."""
        room = attrs.evolve(room_for(self.loom, job, row.plan, row.budget), recorded={})
        priced = await self._priced(job, row.plan, row.title, room)
        decision = await self._decide(job, priced, room, approve, row)
        return attrs.evolve(job, facts={"decision": attrs.asdict(decision)})

    async def replay(self, run_id: str) -> Replayed:
        """Play a run again from what is stored, asking nothing and writing nothing."""
        return await replay_run(self.loom, find_run(self.loom.store, run_id))

    def _plan(self, plan: str | os.PathLike[str]) -> tuple[str, str]:
        """Return a plan's text and name."""
        loom = self.loom
        known = saved_plans(loom.registry.all("kit", Kit).values(), loom.settings)
        if isinstance(plan, str) and plan in known:
            return known[plan].source, plan
        if isinstance(plan, str) and (not plan.strip() or "\n" in plan or "=" in plan):
            return plan, "plan"
        path = Path(plan)
        try:
            return text_of(path), path.stem
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            saved = did_you_mean(str(plan), known)
            raise Misuse(
                f"cannot read the plan {path}: {reason}; name a plan file or a saved plan ({saved}), or give its text"
            ) from error

    async def _begin_anew(
        self, job: Job, source: str, name: str, cap: int, approve: Approve | bool, at_cap: OnCap
    ) -> Run:
        """Begin a new run of an earlier one's job, which reuses every answer that still fits."""
        job = attrs.evolve(
            job,
            plan=plan_hash(source) if job.plan else "",
            cap=cap,
            refresh=False,
        )
        return await self._price_and_begin(job, source, name, approve, at_cap)

    async def _price_and_begin(self, job: Job, source: str, name: str, approve: Approve | bool, at_cap: OnCap) -> Run:
        room = attrs.evolve(room_for(self.loom, job, source), recorded={})
        priced = await self._priced(job, source, name, room)
        decision = await self._decide(job, priced, room, approve)
        job = attrs.evolve(job, facts={**job.facts, **priced.as_facts(), "decision": attrs.asdict(decision)})
        roles = require_roles(self.loom.settings, priced.rehearsal)
        return await self._begin(job, source, program=priced.program, roles=roles, on_cap=at_cap)

    async def _priced(self, job: Job, source: str, name: str, room: Room) -> PricedPlan:
        loom = self.loom
        vocabulary = build_vocabulary(loom.registry, loom.settings, job.kits)
        return await asyncio.to_thread(
            price_plan,
            source,
            vocabulary,
            registry=loom.registry,
            settings=loom.settings,
            works=job.works,
            room=room,
            args=job.args,
            name=name,
        )

    async def _decide(
        self, job: Job, priced: PricedPlan, room: Room, approve: Approve | bool, held: RunRow | None = None
    ) -> Decision:
        decision = decide(self.loom.registry, self.loom.settings, priced.rehearsal, room)
        if decision.verdict == "held" and (approve if isinstance(approve, bool) else approve(priced, decision)):
            decision = attrs.evolve(decision, verdict="approved", who="person")
        if decision.verdict == "approved":
            return decision
        reason = f"the plan is {decision.verdict}: {decision.reason}"
        if held is None:
            job = attrs.evolve(job, facts={**job.facts, "decision": attrs.asdict(decision)})
            await self.loom.keep_unrun(job, priced.source, decision.verdict, reason)
        if decision.verdict == "refused":
            raise PlanRefused(reason)
        raise PlanHeld(f"{reason}; approve it with `approve`, here or when the run is resumed")

    async def _begin(self, job: Job, source: str, *, program: Any, **options: Any) -> Run:
        """Drive a run in a task; return when it is under way, or raise why it cannot be."""
        control = RunControl()
        task = asyncio.ensure_future(self.loom.run(job, program, source, control=control, **options))
        self._going_on[task] = control
        task.add_done_callback(self._ended)
        begun = asyncio.ensure_future(control.begun.wait())
        try:
            await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            control.cancel()
            raise
        finally:
            begun.cancel()
            if control.begun.is_set():
                self._driven[control.run_id] = (control, task)
        if task.done():
            task.result()
        return Run(self, control.run_id)

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        del self._going_on[task]
        if not task.cancelled():
            task.exception()  # who began it may have gone

    # --- what is driven here

    def driven(self, run_id: str) -> tuple[RunControl, asyncio.Task[Outcome]] | None:
        """Return the hand on a run that was started here, and its task; ``None`` for any other."""
        return self._driven.get(run_id)

    def cancel_all(self) -> None:
        """Cancel all runs that were started here and go on."""
        for control in list(self._going_on.values()):
            if control.abort.reason is None:  # to cancel one twice would cut its calls off
                control.cancel()

    async def ended(self) -> None:
        """Wait until all runs that were started here have ended."""
        await asyncio.gather(*self._going_on, return_exceptions=True)
