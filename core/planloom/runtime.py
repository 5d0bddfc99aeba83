"""What a plan's words run against: one execution of a plan, with its workers, phases, counts and budget.

A word's call carries the :class:`RunHost`. A worker word makes a :class:`WorkerRequest` and hands it to
:meth:`RunHost.work`, which counts it, gives it a thread, has it performed and keeps what it left behind. Who
performs it is the only difference between a run and a rehearsal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from planlang import Call, PlanFailed

from ._errors import PlanloomError, RunAborted, Runaway, RunFailed
from ._phases import NO_PHASE, Phase, Phases
from .money import credits_of
from .stores import ThreadRow
from .workers import Asker, Performed, WorkerRequest

if TYPE_CHECKING:
    from ._recorder import Recorder
    from .plugins import Registry
    from .settings import Settings

__all__ = ["Perform", "RunHost", "host_of"]

Perform = Callable[[WorkerRequest, Asker], Awaitable[Performed]]
S = TypeVar("S")

_EVENT_TEXT_LENGTH = 500
_LABEL_LENGTH = 120
# Key of a task's scope: the phase it is in.
_PHASE = "phase"


def host_of(call: Call) -> RunHost:
    """Return the run that a word was called in."""
    host = call.host
    assert isinstance(host, RunHost), "core and kit words run only inside a run"
    return host


class RunHost:
    """One execution of a plan.

    :param perform: how a worker's request is carried out.
    :param budget_left: what the plan may still spend, in micro-credits at full price; see :attr:`full_price`.
    :param states: each kit's state for this run, by kit name.
    :param journal: takes what words that are not pure returned, by place.
    :param recorded: what an earlier start of this run wrote there: the plan decides now as it did then.
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
    ) -> None:
        self.run_id = run_id
        self.registry = registry
        self.settings = settings
        self.args = args
        self.phases = Phases()
        self.full_price = 0
        self.failures: Counter[str] = Counter()
        self._recorder = recorder
        self._perform = perform
        self._budget_left = budget_left
        self._states = states
        self._journal = journal
        self._recorded = recorded or {}
        self._journal_counts: dict[str, int] = {}
        self._workers = 0
        self._in_phase: dict[str, set[str]] = {}
        self._barriers: dict[str, dict[str, float]] = {}
        self._questions_seen: set[tuple[Any, ...]] = set()
        self.undecided: list[dict[str, Any]] = []

    def state(self, kit: str, of: type[S]) -> S:
        """Return a kit's state for this run."""
        state = self._states[kit]
        assert isinstance(state, of)
        return state

    # --- workers

    async def work(self, call: Call, request: WorkerRequest) -> Any:
        """Start one worker and return its checked value, or ``None`` when it failed or was dropped.

        :raises RunAborted: the run must end, or the plan asked for twice the workers that a run may have.
        """
        name = request.phase if request.phase is not None else str(call.scope.get(_PHASE, NO_PHASE))
        if request.phase is not None:
            self._open_phase(request.phase)
        phase = self.phases.get(name, self._recorder.seconds())
        self._workers += 1
        if self._workers > self.settings.workers:
            return self._drop(request, phase)
        thread = _Worker(self, request, phase, f"{self.run_id}/t{self._workers:03d}", call.path)
        return await thread.run(self._perform)

    def _drop(self, request: WorkerRequest, phase: Phase) -> None:
        limit = self.settings.workers
        phase.dropped += 1
        self._recorder.emit("run.dropped", {"label": request.label, "limit": limit})
        if self._workers > 2 * limit:
            raise Runaway(
                f"the plan asked for {self._workers} workers, twice the limit of {limit} a run; bound its loops, or "
                "raise `limits.workers` in the configuration"
            )

    # --- what the core's words do

    def phase(self, call: Call, title: str | None) -> None:
        """Open a phase for the calling task; ``None`` leaves the one it is in. The last task to leave one ends it."""
        former = call.scope.get(_PHASE)
        if former != title:
            self._leave_phase(str(former), call.path)
        if title is None:
            call.scope.pop(_PHASE, None)
            return
        call.scope[_PHASE] = title
        self._in_phase.setdefault(title, set()).add(call.path)
        self._open_phase(title)

    def _leave_phase(self, title: str, task: str) -> None:
        inside = self._in_phase.get(title, set())
        if task in inside:
            inside.remove(task)
            if not inside:
                self._close_phase(title)

    def log(self, message: str) -> None:
        """Say something in the run's event stream."""
        self._recorder.emit("run.log", {"message": message[:_EVENT_TEXT_LENGTH]}, whole={"message": message})

    def budget(self, call: Call) -> float:
        """Return what the plan may still spend at full price, in credits rounded to 0.01; recorded in the journal."""
        count = self._journal_counts.get(call.path, 0)
        self._journal_counts[call.path] = count + 1
        place = f"{call.path}:{count}"
        left = self._recorded.get(place)
        value = float(left) if left is not None else round(credits_of(max(0, self._budget_left(self.full_price))), 2)
        self._journal(place, value)
        return value

    def task_failed(self, call: Call, path: str, error: PlanFailed) -> None:
        """Note that a task of the plan failed; its value is ``None``."""
        name = str(call.scope.get(_PHASE, NO_PHASE))
        self.phases.get(name, self._recorder.seconds()).failed += 1
        self._recorder.emit("run.log", {"message": f"task {path} failed: {error}"[:_EVENT_TEXT_LENGTH]})

    def malformed(self, call: Call, place: str, reason: str) -> None:
        """Note that something a worker said could not be used."""
        self._recorder.emit("run.malformed", {"place": place, "reason": reason[:_EVENT_TEXT_LENGTH]})

    def left_undecided(self, call: Call, place: str, reason: str, about: Mapping[str, Any]) -> None:
        """Note a question that too many failed workers left open; it counts as a hole."""
        name = str(call.scope.get(_PHASE, NO_PHASE))
        self.phases.get(name, self._recorder.seconds()).undecided += 1
        self.undecided.append({"place": place, "reason": reason, **about})
        self._recorder.emit("run.undecided", {"place": place, "reason": reason[:_EVENT_TEXT_LENGTH]})

    @contextmanager
    def barrier(self, call: Call) -> Iterator[None]:
        """Wait for a group of tasks; the time that finished workers wait for the slowest is counted as idle."""
        ends = self._barriers[call.path] = {}
        try:
            yield
        finally:
            del self._barriers[call.path]
            now = self._recorder.seconds()
            name = str(call.scope.get(_PHASE, NO_PHASE))
            self.phases.get(name, now).idle_s += sum(now - ended for ended in ends.values())

    def _note_end(self, place: str) -> None:
        """Tell every open barrier above a worker's place when the last worker of that task ended."""
        parts = place.split(".")
        for depth in range(1, len(parts)):
            ends = self._barriers.get(".".join(parts[:depth]))
            if ends is not None:
                ends[parts[depth]] = self._recorder.seconds()

    def asked_before(self, request: WorkerRequest) -> bool:
        """Return whether this plan has asked this very question before, sample and all."""
        key = (request.word, *map(repr, request.identity), request.role, request.sample)
        if key in self._questions_seen:
            return True
        self._questions_seen.add(key)
        return False

    def close(self) -> None:
        """End the phases that are still open."""
        for phase in self.phases.opened():
            self._close_phase(phase.name)

    @property
    def holes(self) -> int:
        """Workers and questions that the outcome lacks."""
        return sum(phase.holes for phase in self.phases.all())

    @property
    def agents(self) -> int:
        """Workers that were started."""
        return sum(phase.started for phase in self.phases.all())

    def _open_phase(self, title: str) -> None:
        phase, opened = self.phases.open(title, self._recorder.seconds())
        if opened:
            self._recorder.emit("run.phase_started", {"phase": title, "index": phase.index})

    def _close_phase(self, title: str) -> None:
        phase = self.phases.get(title, self._recorder.seconds())
        if phase.ended_s is not None:
            return
        phase.ended_s = self._recorder.seconds()
        seconds = round(phase.ended_s - phase.began_s, 3)
        idle = round(phase.idle_s, 3)
        self._recorder.emit(
            "run.phase_ended",
            {"phase": title, "agents": phase.started, "seconds": seconds, "idle_seconds": idle},
        )


class _Worker:
    """One worker from its start to what it leaves behind."""

    def __init__(self, host: RunHost, request: WorkerRequest, phase: Phase, thread: str, place: str) -> None:
        self._host = host
        self._recorder = host._recorder
        self._request = request
        self._phase = phase
        self._label = (request.label or "worker")[:_LABEL_LENGTH]
        self._thread = thread
        self._place = place
        self._status = "waiting"
        self._began: float | None = None
        self._ended_at: float | None = None
        self._left = Performed(value=None)

    async def run(self, perform: Perform) -> Any:
        asker = Asker(run=self._host.run_id, thread=self._thread, started=self._started)
        try:
            performed = await perform(self._request, asker)
        except PlanloomError as error:
            self._stopped(error)
            if isinstance(error, RunAborted):
                raise
            raise RunFailed(error) from error
        except BaseException as error:
            self._stopped(error)
            raise
        self._ended(performed)
        return performed.value

    def _started(self) -> None:
        if self._status != "waiting":
            return
        self._phase.started += 1
        self._phase.running += 1
        self._status, self._began = "running", self._recorder.seconds()
        self._recorder.emit(
            "run.agent_started", {"thread": self._thread, "label": self._label, "phase": self._phase.name}
        )
        self._recorder.thread(self._thread, self._row)

    def _ended(self, performed: Performed) -> None:
        self._started()
        ok = performed.error is None
        phase, host = self._phase, self._host
        phase.running -= 1
        phase.done += ok
        phase.failed += not ok
        phase.calls += performed.calls
        phase.prompt_tokens += performed.prompt_tokens
        phase.completion_tokens += performed.completion_tokens
        phase.full_price += performed.full_price
        if performed.error is not None:
            host.failures[performed.error] += 1
        host.full_price += performed.full_price
        self._finish("done" if ok else "failed", performed)

    def _stopped(self, error: BaseException) -> None:
        if self._status == "running":
            self._phase.running -= 1
            self._finish("cancelled", Performed(value=None, error=str(error)[:300]))

    def _finish(self, status: str, performed: Performed) -> None:
        self._status, self._ended_at, self._left = status, self._recorder.seconds(), performed
        self._recorder.thread(self._thread, self._row)
        self._host._note_end(self._place)
        self._recorder.emit(
            "run.agent_ended",
            {
                "thread": self._thread,
                "label": self._label,
                "phase": self._phase.name,
                "ok": performed.error is None,
                "credits": credits_of(performed.cost),
                "seconds": round(self._ended_at - (self._began or 0.0), 3),
                "cached": performed.cached,
            },
        )

    def _row(self) -> ThreadRow:
        left = self._left
        return ThreadRow(
            id=self._thread,
            run=self._host.run_id,
            place=self._place,
            phase=self._phase.name,
            label=self._label,
            model=left.model,
            role=self._request.role,
            status=self._status,
            started=self._began,
            ended=self._ended_at,
            cost=left.cost,
            fingerprints=left.fingerprints,
            result=left.value,
            error=left.error,
            raw=left.raw if left.error else None,
        )
