"""What a plan's words run against: one execution of a plan, with its workers, phases, counts and budget.

A word's call carries the :class:`RunHost`. A worker word makes a :class:`WorkerRequest` and hands it to
:meth:`RunHost.work`, which counts it, gives it a thread, has it performed and keeps what it left behind. Who
performs it is the only difference between a run and a rehearsal.

A run may start fifty thousand workers, so nothing is kept here for one that has ended: what belongs to a task stands
in the task's scope, what belongs to a group of tasks is let go with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeVar

from planlang import Call, PlanFailed

from ._blame import word_blamed
from ._errors import JournalDiverged, Misuse, Runaway, RunFailed
from ._groups import Group
from ._lacks import Lacks
from ._phases import NO_PHASE, Phase, Phases
from ._plan_mistakes import PlanMistake
from ._roster import Perform, Recall, Roster, Scope, count_in
from .money import credits_of

if TYPE_CHECKING:
    from ._recorder import Recorder
    from .plugins import Registry
    from .settings import Settings
    from .stores import ThreadTrace
    from .workers import WorkerRequest

__all__ = ["Perform", "Recall", "RunHost", "host_of"]

S = TypeVar("S")

_EVENT_TEXT_LENGTH = 500
# Keys of a task's scope: the phase it is in and the path of the task that entered it, the group it runs in, and the
# last place there that a journal entry was written for, with how many.
_PHASE = "phase"
_GROUP = "group"
_ENTRIES = "entries"


def host_of(call: Call) -> RunHost:
    """Return the run that a word was called in."""
    host = call.host
    assert isinstance(host, RunHost), "core and kit words run only inside a run"
    return host


class RunHost:
    """One execution of a plan.

    :param perform: how a worker's request is carried out.
    :param recall: gives the value that a worker came to at an earlier start, and the reply it rests on, where nothing
        need be asked or waited for; ``None`` sends to ``perform``.
    :param budget_left: what the plan may still spend, in micro-credits at full price; see :attr:`full_price`.
    :param states: each kit's state for this run, by kit name.
    :param journal: takes what words that are not pure returned, by place: ``{"word": "budget", "value": 12.5}``.
    :param recorded: what an earlier start of this run wrote there: the plan decides now as it did then.
    :param threads: the threads of an earlier start, by the address of their worker.
    :param newest_thread: the highest number of any thread of it.
    """

    def __init__(
        self,
        run_id: str,
        *,
        registry: Registry,
        settings: Settings,
        recorder: Recorder,
        perform: Perform,
        budget_left: Callable[[int], int],
        args: Mapping[str, Any],
        states: Mapping[str, object],
        journal: Callable[[str, Any], None],
        recorded: Mapping[str, Any] | None = None,
        threads: Mapping[str, ThreadTrace] | None = None,
        newest_thread: int = 0,
        recall: Recall = lambda request, former: None,
    ) -> None:
        self.run_id, self.registry, self.settings, self.args = run_id, registry, settings, args
        self.phases = Phases()
        self.lacks = Lacks()
        self.undecided: list[dict[str, Any]] = []
        self._recorder = recorder
        self._roster = Roster(
            run_id,
            settings,
            recorder,
            self.lacks,
            perform=perform,
            recall=recall,
            threads=threads,
            newest=newest_thread,
        )
        self._budget_left, self._states = budget_left, states
        self._journal, self._recorded = journal, recorded or {}
        self._saved_plans = 0
        # Of a saved plan inside this one: where it was called, and what its tasks inherit from there.
        self._prefix = ""
        self._outer: Mapping[str, object] = {}

    def state(self, kit: str, of: type[S]) -> S:
        """Return a kit's state for this run.

        :raises RunFailed: it was given nothing to work on.
        """
        state = self._states.get(kit)
        if state is None:
            cause = Misuse(
                f"the plan came to words of the kit {kit} and has nothing to work on; say what with --target PATH, or "
                "`target` from Python"
            )
            raise RunFailed(cause) from cause
        assert isinstance(state, of)
        return state

    # --- workers

    async def work(self, call: Call, request: WorkerRequest) -> Any:
        """Start one worker and return its checked value, or ``None`` when it failed or was dropped.

        :raises RunAborted: the run must end, or the plan asked for twice the workers that a run may have.
        """
        value = self.begin(call, request)
        return await value if type(value) is CoroutineType else value

    def begin(self, call: Call, request: WorkerRequest) -> Any:
        """Return what :meth:`work` would, at once where an earlier start of the run knows it, else as a coroutine."""
        scope = call.scope
        if request.phase is None:
            phase = self._phase(scope)
        else:
            self._open_phase(request.phase)
            phase = self.phases.get(request.phase, 0.0)
        return self._roster.begin(request, self._prefix + call.path, scope, phase, self._group(scope))

    # --- what the core's words do

    def phase(self, call: Call, title: str | None) -> None:
        """Open a phase for the calling task; ``None`` leaves the one it is in. The last task to leave one ends it."""
        task = self._prefix + call.path
        group = self._prefix + call.path.rpartition(".")[0] if call.path else self._prefix[:-1]
        former = call.scope.get(_PHASE)
        if isinstance(former, tuple) and former[1] == task:
            if former[0] == title:
                return
            if self.phases.leave(former[0], group):
                self._emptied(former[0], self._group(call.scope))
        if title is None:
            call.scope[_PHASE] = (NO_PHASE, "")
            return
        call.scope[_PHASE] = (title, task)
        self.phases.enter(title, group)
        self._open_phase(title)

    def log(self, message: str) -> None:
        """Say something in the run's event stream."""
        self._recorder.emit("run.log", {"message": message[:_EVENT_TEXT_LENGTH]}, whole={"message": message})

    def budget(self, call: Call) -> float:
        """Return what the plan may still spend at full price, in credits rounded to 0.01; recorded in the journal."""
        place = self.journal_place(call)
        value = self.recorded(place, "budget")
        if value is None:
            value = round(credits_of(max(0, self._budget_left(self._roster.full_price))), 2)
        self.record(place, "budget", value)
        return float(value)

    def journal_place(self, call: Call) -> str:
        """Return where the journal keeps what this call returns.

        A word that waits has an address of its own; others share that of their task and are counted there.
        """
        path = self._prefix + call.path
        if call.path and call.path.count(".") % 2 == 0:
            return path
        return f"{path}:{count_in(call.scope, _ENTRIES, path)}"

    def recorded(self, place: str, word: str) -> Any:
        """Return what the word returned there at an earlier start of this run, or ``None``.

        :raises JournalDiverged: another word was called there.
        """
        entry = self._recorded.get(place)
        if entry is None:
            return None
        if entry["word"] != word:
            raise JournalDiverged(place, f"{entry['word']}()", f"{word}()", run=self.run_id)
        return entry["value"]

    def record(self, place: str, word: str, value: Any) -> None:
        """Write to the journal; it is durable before the next question goes out."""
        self._journal(place, {"word": word, "value": value})

    def task_failed(self, call: Call, path: str, error: PlanFailed) -> None:
        """Note that a task which a call runs failed; its value is ``None``. A lost answer in it counts alone."""
        whose = word_blamed(self.registry, error)
        where = f", in {whose}" if whose else ""
        group = self._group(call.scope)
        if group is None or not group.lacks_answer(self._prefix + path):
            self._phase(call.scope).tasks_failed += 1
            self.lacks.add("task", self._prefix + path, f"{error.kind}: {error.detail}{where}")
        if group is not None:
            group.failed(self._prefix + path)
        self._recorder.emit(
            "run.log", {"message": f"task {self._prefix}{path} failed: {error}{where}"[:_EVENT_TEXT_LENGTH]}
        )

    def if_task_fails(self, call: Call, then: Callable[[], None]) -> None:
        """Have something done if the calling task fails, by which everything that it learned is lost to the plan."""
        group = self._group(call.scope)
        if group is not None:
            group.if_fails(self._prefix + call.path, then)

    def malformed(self, call: Call, place: str, reason: str) -> None:
        """Note that something a worker said could not be used."""
        self._recorder.emit("run.malformed", {"place": place, "reason": reason[:_EVENT_TEXT_LENGTH]})

    def left_undecided(self, call: Call, place: str, reason: str, about: Mapping[str, Any]) -> None:
        """Note a question that too many failed workers left open; it counts as a hole."""
        self._phase(call.scope).undecided += 1
        self.undecided.append({"place": place, "reason": reason, **about})
        self._recorder.emit("run.undecided", {"place": place, "reason": reason[:_EVENT_TEXT_LENGTH]})

    @contextmanager
    def group(self, call: Call, tasks: int = 0) -> Iterator[Group]:
        """Wait for a group of tasks; the time that finished workers wait for the slowest is counted as idle.

        :param tasks: how many, where the group hears of each that begins: the next may enter a phase that others left.
        """
        outer = self._group(call.scope)
        group = call.scope[_GROUP] = Group(self._prefix + call.path, tasks, outer)
        try:
            yield group
        finally:
            call.scope[_GROUP] = outer
            self._phase(call.scope).idle_s += group.idle_s(self._recorder.seconds())
            if outer is not None:
                group.pass_on(outer, call.scope)
            group.over()
            for title in {**group.emptied, **dict.fromkeys(self.phases.leave_all(group.path))}:
                self._emptied(title, outer)

    @contextmanager
    def saved_plan(self, call: Call, args: Mapping[str, Any]) -> Iterator[RunHost]:
        """Give the host of a saved plan that this call runs: the same run, with places of its own below this one.

        :raises RuntimeError: the calling plan is a saved one itself.
        :raises Runaway: the run has started as many as it may have workers.
        """
        if self._prefix:
            said = "a saved plan cannot run another one: plan() works one level deep; put its steps here"
            raise RuntimeError(said) from PlanMistake()
        self._saved_plans += 1
        if self._saved_plans > self.settings.workers:
            raise Runaway(
                f"the plan started more than {self.settings.workers} saved plans, the limit of workers a run; bound "
                "its loops, or raise `limits.workers` in the configuration"
            )
        with self.group(call):
            inner = copy(self)
            inner.args = args
            inner._prefix = f"{call.path}/"
            inner._outer = {key: call.scope[key] for key in (_PHASE, _GROUP) if key in call.scope}
            yield inner

    def saved_plan_failed(self, call: Call, name: str, error: PlanFailed) -> None:
        """Note, while it is run, that a saved plan failed; its value is ``None``. A lost answer in it counts alone."""
        group = self._group(call.scope)
        if group is None or not group.lacks_any:
            self._phase(call.scope).tasks_failed += 1
            self.lacks.add("saved plan", name, f"{error.kind}: {error.detail}")
        if group is not None:
            group.all_failed()
        said = f"the saved plan {name} failed at its line {error.line}: {error.kind}: {error.detail}"
        self._recorder.emit("run.log", {"message": said[:_EVENT_TEXT_LENGTH]})

    def close(self) -> None:
        """End the phases that are still open."""
        for phase in self.phases.opened():
            self._close_phase(phase.name)

    # --- what came of it

    @property
    def full_price(self) -> int:
        """What the answers so far cost at full price, in micro-credits."""
        return self._roster.full_price

    @property
    def holes(self) -> int:
        """Workers, tasks and questions that the outcome lacks."""
        return sum(phase.holes for phase in self.phases.all())

    @property
    def agents(self) -> int:
        """Workers that were started."""
        return sum(phase.started for phase in self.phases.all())

    # --- a task's phase and group

    def _phase(self, scope: Scope) -> Phase:
        inside = scope.get(_PHASE) or self._outer.get(_PHASE)
        name = inside[0] if isinstance(inside, tuple) else NO_PHASE
        return self.phases.find(name) or self.phases.get(name, self._recorder.seconds())

    def _group(self, scope: Scope) -> Group | None:
        group = scope.get(_GROUP) or self._outer.get(_GROUP)
        return group if isinstance(group, Group) else None

    def _open_phase(self, title: str) -> None:
        phase, opened = self.phases.open(title, self._recorder.seconds())
        if opened:
            self._recorder.emit("run.phase_started", {"phase": title, "index": phase.index})

    def _emptied(self, title: str, group: Group | None) -> None:
        """End a phase that its last task left, unless others that may come to it are to begin: who is played again has
        its answers at once, and is through all its phases before the next one begins."""
        if group is not None and group.outermost.all_to_begin:
            group.outermost.emptied[title] = None
        elif self.phases.is_empty(title):
            self._close_phase(title)

    def _close_phase(self, title: str) -> None:
        phase = self.phases.get(title, self._recorder.seconds())
        if phase.ended_s is not None:
            return
        phase.ended_s = self._recorder.seconds()
        seconds = round(phase.ended_s - phase.began_s, 3)
        idle = round(phase.idle_s, 3)
        self._recorder.emit(
            "run.phase_ended",
            {"phase": title, "agents": phase.started, **phase.came_to(), "seconds": seconds, "idle_seconds": idle},
        )
