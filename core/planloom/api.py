"""planloom from Python: the steps that the commands take, which take them here.

    async with planloom.open() as loom:
        run = await loom.start("jobs/review.plan", target="src", cap=20)
        async for event in run.events():
            print(event.type)
        print((await run).result)

A run that was started here belongs to this process: leaving the block waits for it, and an exception cancels it. Runs
of other processes can be listed, followed, cancelled and raised alike.

What only some of the steps need is imported by them: who lists runs waits for nothing that runs one.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ._driving import Driving
from ._errors import Misuse
from ._given_beginning import given_beginning
from ._given_plan import GivenPlan, Plan, plan_given
from ._given_values import given_args, given_count, given_credits
from ._named_runs import find_run
from ._opened_store import opened_store
from ._run_handle import Run
from .configuration import load_settings
from .control import RunControl
from .plugins import Registry, load_plugins
from .settings import Settings
from .stores import Store

if TYPE_CHECKING:
    from ._budget_line import OnCap
    from ._proposals import Approve, Proposal
    from .job import Job
    from .kits import Kit
    from .listeners import Listener
    from .loom import Loom
    from .planning import Planned
    from .rehearsal import Rehearsal
    from .replaying import Replayed

__all__ = ["Plan", "Planloom", "Run", "open", "open_with"]


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
    :param read_only: runs are only listed, followed and replayed, also from a store that cannot be written; what would
        write raises :class:`Misuse`.
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
    """Give planloom with these plugins and settings; see :func:`open`."""
    async with opened_store(registry, settings, read_only=read_only) as store:
        opened = Planloom(registry, settings, store, read_only=read_only)
        try:
            yield opened
        except BaseException:
            opened.driving.cancel_all()
            raise
        finally:
            await opened.close()


class Planloom:
    """Starts, lists and steers runs of one store. Made by :func:`open`.

    :ivar registry: what plugins brought. :ivar settings: what is configured. :ivar store: where answers and runs are.
    :ivar driving: the runs that were started here. :ivar read_only: whether it was opened to look only.
    """

    def __init__(self, registry: Registry, settings: Settings, store: Store, *, read_only: bool = False) -> None:
        self.registry = registry
        self.settings = settings
        self.store = store
        self.read_only = read_only
        self.driving = Driving()
        self._loom: Loom | None = None

    async def close(self) -> None:
        """Wait until all runs that were started here have ended, and let go of what drove them."""
        await self.driving.ended()
        if self._loom is not None:
            await self._loom.close()

    def check_writes(self, step: str) -> None:
        """Return when a step may write to the store.

        :raises Misuse: this was opened to look only.
        """
        if self.read_only:
            raise Misuse(f"`{step}` writes to the store, and this was opened with `read_only`; open it without that")

    @property
    def loom(self) -> Loom:
        """What drives the runs that are started here."""
        if self._loom is None:
            from .loom import Loom

            self._loom = Loom(self.registry, self.settings, self.store)
        return self._loom

    # --- what there is

    def run(self, run_id: str) -> Run:
        """Return a run by its id or by the beginning of its id alone, whoever drives it.

        :raises UnknownNameError: there is no such run.
        :raises Misuse: the ids of several begin so.
        """
        return Run(self, find_run(self.store, run_id).id)

    def runs(self, limit: int = 50) -> list[Run]:
        """Return the newest runs, newest first."""
        return [Run(self, row.id) for row in self.store.runs(limit)]

    # --- what is begun here, in one step

    async def start(
        self,
        plan: GivenPlan,
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
        control: RunControl | None = None,
        listeners: Iterable[Listener] = (),
    ) -> Run:
        """Check, rehearse and begin a plan; return its run when it is under way.

        It is :meth:`propose` and :meth:`begin`, where the parameters are explained and what is raised.
        """
        self.check_writes("start")
        heard = given_beginning(at_cap, approve, control, listeners)
        proposal = await self.propose(
            plan, kit=kit, target=target, args=args, cap=cap, title=title, repeat=repeat, refresh=refresh
        )
        return await self.begin(proposal, approve=approve, at_cap=at_cap, control=control, listeners=heard)

    async def resume(
        self,
        run_id: str,
        *,
        cap: float | None = None,
        workers: int | None = None,
        args: Mapping[str, Any] | None = None,
        plan: GivenPlan | None = None,
        as_new_run: bool = False,
        release_uncertain: bool = False,
        approve: Approve | bool = False,
        at_cap: OnCap = "stop",
        control: RunControl | None = None,
        listeners: Iterable[Listener] = (),
    ) -> Run:
        """Go on with a run that is not whole, and return it when it is under way; see :meth:`reopen`.

        :param as_new_run: make a new run of what is there now; see :meth:`renew`.
        :raises Misuse: somebody drives it, or nothing is missing; or a value that is given cannot be used.
        """
        self.check_writes("resume")
        heard = given_beginning(at_cap, approve, control, listeners)
        changed: dict[str, Any] = {"cap": cap, "workers": workers, "args": args, "plan": plan}
        if as_new_run:
            proposal: Proposal | None = await self.renew(run_id, **changed)
        else:
            proposal = await self.reopen(run_id, **changed, release_uncertain=release_uncertain)
        if proposal is None:
            whole = self.run(run_id).id
            raise Misuse(f"the run {whole} is whole and nothing is missing; `replay` gives its result again")
        return await self.begin(proposal, approve=approve, at_cap=at_cap, control=control, listeners=heard)

    async def replay(self, run_id: str) -> Replayed:
        """Play a run again from what is stored, asking nothing and writing nothing.

        :raises Misuse: it never ran. :raises PlanRefused: its plan fails the check now.
        """
        from .replaying import replay_run

        return await replay_run(self.loom, find_run(self.store, run_id))

    # --- the same in two: what a run would be, and that it begins

    async def propose(
        self,
        plan: GivenPlan,
        *,
        kit: str | None = None,
        target: str | os.PathLike[str] | None = None,
        args: Mapping[str, Any] | None = None,
        cap: float | None = None,
        title: str | None = None,
        repeat: int = 1,
        refresh: bool = False,
    ) -> Proposal:
        """Check and rehearse a plan, and hear the gate, with nothing asked, paid or stored.

        :param plan: its text, a file, a saved plan's name, or a :class:`Plan`.
        :param kit: a kit to have beside those whose words the plan uses. :param target: what the kits work on.
        :param args: its arguments, which are kept as JSON.
        :param cap: the budget in credits, the configured one when ``None``. :param title: what to call the run.
        :param repeat: the n-th repeat of the job draws answers of its own.
        :param refresh: ask the workers' questions again, also those that the ledger has answers to.
        :raises PlanRefused: the check found problems.
        :raises Misuse: there is no such plan, a kit lacks its target, or a target its kit; or a value that is given
            cannot be used.
        """
        from ._given_job import given_job
        from ._in_thread import in_thread

        given = plan_given(self.registry, self.settings, plan)
        wanted: dict[str, Any] = {"kit": kit, "target": target, "args": args, "cap": cap}
        wanted |= {"title": title, "repeat": repeat, "refresh": refresh}
        return await self.propose_job(await in_thread(given_job, self.registry, self.settings, given, **wanted), given)

    async def propose_job(self, job: Job, plan: Plan, *, planned: Planned | None = None) -> Proposal:
        """Do what :meth:`propose` does for a job that is made already.

        :param planned: how the lead came to the plan, where it wrote it: what that cost is paid from the same budget.
        :raises PlanRefused: the check found problems.
        """
        from ._proposals import propose

        if planned is None:
            return await propose(self.loom, job, plan)
        return await propose(self.loom, job, plan, books=planned.books, planned=planned.written.spent)

    async def reopen(
        self,
        run_id: str,
        *,
        cap: float | None = None,
        workers: int | None = None,
        args: Mapping[str, Any] | None = None,
        plan: GivenPlan | None = None,
        release_uncertain: bool = False,
    ) -> Proposal | None:
        """Return a run ready to go on, or ``None`` when nothing is missing; what is answered is not asked again.

        It is priced where nobody approved it yet. A new cap, and what is released, hold at once.

        :param cap: its budget from now on, in credits. :param workers: how many workers it may have from now on.
        :param args: arguments, and ``plan`` the plan, as they are now.
        :param release_uncertain: free what calls of unknown outcome keep charged, also where nothing else is missing.
        :raises JournalDiverged: it is not what its record says. :raises PlanRefused: its plan was refused.
        :raises Misuse: somebody drives it, or it cannot go on; or a value that is given cannot be used.
        """
        from ._going_on import propose_going_on

        self.check_writes("reopen")
        changed = self._changed(cap, workers, args)
        source = None if plan is None else plan_given(self.registry, self.settings, plan).source
        row = find_run(self.store, run_id)
        return await propose_going_on(self.loom, row, source=source, release_uncertain=release_uncertain, **changed)

    async def renew(
        self,
        run_id: str,
        *,
        cap: float | None = None,
        workers: int | None = None,
        args: Mapping[str, Any] | None = None,
        plan: GivenPlan | None = None,
    ) -> Proposal:
        """Return a new run of an earlier one's job as that is now, which reuses every answer that still fits.

        The parameters are those of :meth:`reopen`, where arguments and plan may be others than the earlier run's.

        :raises PlanRefused: the check found problems. :raises Misuse: a value that is given cannot be used.
        """
        from ._going_on import propose_anew

        changed = self._changed(cap, workers, args)
        given = None if plan is None else plan_given(self.registry, self.settings, plan)
        return await propose_anew(self.loom, find_run(self.store, run_id), plan=given, **changed)

    def _changed(self, cap: float | None, workers: int | None, args: Mapping[str, Any] | None) -> dict[str, Any]:
        return {
            "cap": None if cap is None else given_credits("cap", cap),
            "workers": None if workers is None else given_count("workers", workers),
            "args": None if args is None else given_args(args),
        }

    async def begin(
        self,
        proposal: Proposal,
        *,
        approve: Approve | bool = False,
        at_cap: OnCap = "stop",
        control: RunControl | None = None,
        listeners: Iterable[Listener] = (),
    ) -> Run:
        """Begin a run, or go on with it; return it when it is under way.

        :param approve: decides where the gate holds the plan; ``True`` approves.
        :param at_cap: ``stop`` there, or ``wait`` for a raise.
        :param control: a hand on the run from before it begins. :param listeners: hear its events as they happen.
        :raises PlanRefused: by the rehearsal or the gate. :raises PlanHeld: it needs approval and got none; either is
            stored, with the reason.
        :raises Misuse: another process drives it, or a wish can be granted to no run.
        """
        from ._proposals import approved, start_of

        self.check_writes("begin")
        heard = given_beginning(at_cap, approve, control, listeners)
        proposal = await approved(self.loom, proposal, approve)
        control, start = control or RunControl(), start_of(self.loom, proposal)
        driven = self.loom.run(**start, on_cap=at_cap, listeners=heard, control=control)
        return Run(self, await self.driving.begin(driven, control))

    async def keep(self, proposal: Proposal | Planned, reason: str) -> Run:
        """Store a run that is held or refused, or whose lead wrote no plan that will do, with the reason."""
        from ._proposals import Proposal, keep
        from .planning import keep_refused

        self.check_writes("keep")
        if isinstance(proposal, Proposal):
            return Run(self, await keep(self.loom, proposal, reason))
        return Run(self, await keep_refused(self.loom, proposal, reason))

    async def leave(self, proposal: Proposal) -> Run:
        """Store a run that may begin, for another process to drive it, as ``planloom resume`` does."""
        from ._proposals import leave

        self.check_writes("leave")
        return Run(self, await leave(self.loom, proposal))

    async def rehearse(
        self,
        plan: GivenPlan,
        *,
        kit: str | None = None,
        target: str | os.PathLike[str] | None = None,
        args: Mapping[str, Any] | None = None,
        cap: float | None = None,
        takes: int | None = None,
    ) -> Rehearsal:
        """Return what a plan would need, whatever the gate says of it; the parameters are those of :meth:`propose`.

        Where no model is configured it counts with the default prices.

        :param takes: how many rehearsals; by default twenty, and fewer for large plans.
        """
        from ._rehearsing import rehearse_given

        given = plan_given(self.registry, self.settings, plan)
        wanted = {"kit": kit, "target": target, "args": args, "cap": cap}
        return await rehearse_given(self.loom, given, takes, wanted)

    # --- jobs whose plan a lead writes

    def may_spend(self, job: Job) -> int:
        """Return what a job may spend in all, in micro-credits: its cap, or what the store's leaves for it."""
        from ._room import room_for

        return room_for(self.loom, job, "").budget

    async def write_plan(
        self,
        job: Job,
        kit: Kit,
        sheet: str,
        *,
        budget: int | None = None,
        anew: bool = False,
        control: RunControl | None = None,
    ) -> Planned:
        """Have the lead write the plan of a job, unless it has written one for this job and no higher budget.

        :param kit: whose prompt the lead gets, and ``sheet`` the facts.
        :param budget: what the sheet names, in micro-credits, where it is not the job's cap.
        :param anew: have another one written all the same. :param control: cancels it.
        :raises RunAborted: the lead cannot be asked, or it was cancelled. :raises ModelError: it gave no answer.
        """
        from .planning import plan_job

        self.check_writes("write_plan")
        named = job.cap if budget is None else budget
        return await plan_job(self.loom, job, kit, sheet, named, control or RunControl(), anew=anew)
